import type { RequestRecord } from "../../../core/testing/ledger/request-json.ts";
import { baseOf } from "../../../core/base/endpoints.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { isLoopbackUrl } from "../../../net/address.ts";
import type { Invocation } from "../../invocation.ts";
import { printableJson } from "../../output/escape.ts";
import { requestLines } from "../start/request-log.ts";
import type { Server } from "../../../serve/remote.ts";
import { findTarget, startHint } from "../../target/target.ts";
import { filterOf, type FilterFlags } from "../../flags/request-filter.ts";

/** `idp requests follow`: prints new requests until a signal, or until the server stops. */
export async function followRequests(cli: Invocation, flags: FilterFlags): Promise<null> {
  const target = await findTarget(cli);
  // Refuses an invalid filter at once.
  await target.call("requests.list", filterOf(flags));
  const { server } = target;
  if (server === null) {
    throw new OperationError("no_server", "this needs a running server", { hint: await startHint(cli) });
  }
  const over = new AbortController();
  cli.takeSignals(() => {
    over.abort();
  });
  for await (const record of recordsOf(server, flags, cli.json, over.signal))
    cli.stdout.write(`${lineOf(cli, record)}\n`);
  return null;
}

function lineOf(cli: Invocation, record: RequestRecord): string {
  if (cli.json) return printableJson(record, 0);
  const id = `${record.id.padEnd(5)} `;
  // The status already says these two.
  const outcome = ["answered", "refused"].includes(record.outcome) ? null : record.outcome;
  const logged = { ...record, outcome, compared: null, hasCommand: record.next?.command !== undefined };
  const lines = requestLines(logged, cli.out, cli.width - id.length).split("\n");
  return lines.map((line, index) => (index === 0 ? id : " ".repeat(id.length)) + line).join("\n");
}

/** The events of the stream. @throws {OperationError} no_server */
async function* recordsOf(
  server: Server,
  flags: FilterFlags,
  isJson: boolean,
  signal: AbortSignal,
): AsyncGenerator<RequestRecord> {
  const given = Object.entries(filterOf(flags)).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  if (!isJson) query.set("parts", "true");
  const address = `${baseOf(server.url)}/_idp/api/requests/stream?${query.toString()}`;
  let text = "";
  try {
    for await (const chunk of await open(server, address, signal)) {
      text += chunk;
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data !== undefined) yield JSON.parse(data) as RequestRecord;
      }
    }
  } catch (cause) {
    if (signal.aborted) return;
    throw new OperationError("no_server", `the connection to ${server.url} broke off`, { cause });
  }
}

async function open({ adminToken }: Server, address: string, signal: AbortSignal) {
  const { request } = address.startsWith("https:") ? await import("node:https") : await import("node:http");
  const headers = { Authorization: `Bearer ${adminToken ?? ""}` };
  const tls = { rejectUnauthorized: !isLoopbackUrl(address) };
  return new Promise<AsyncIterable<string>>((resolve, reject) => {
    request(address, { headers, signal, agent: false, ...tls }, (response) => {
      response.setEncoding("utf8");
      resolve(response);
    })
      .on("error", reject)
      .end();
  });
}
