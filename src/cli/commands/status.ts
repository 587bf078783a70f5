import { resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { OperationError } from "../../core/base/errors.ts";
import { duration } from "../../text/time.ts";
import type { OperationOutput } from "../../core/admin/operations/table.ts";
import { clockInWords } from "../../core/base/clock.ts";
import { failureOf } from "../failure.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { findTarget, startCommand, startHint, type Target } from "../target/target.ts";
import { cells } from "../output/table.ts";
import { count } from "../output/words.ts";
import { examples } from "../commander.ts";
import type { Declare } from "../act.ts";

/** `idp status`: whether a server runs, and what data there is. Without a server the answer is "stopped" with exit code 5. */
async function status(cli: Invocation): Promise<Outcome> {
  const target = await findTarget(cli);
  if (target.server === null && cli.store !== null) return ofStore(cli, cli.store, target);
  if (target.server === null) return stopped(cli, await target.call("status", {}).catch(noData));
  const { server, ...found } = await target.call("status", {});
  return answer({ running: true, ...found, ...server }, (shown, style) =>
    fitted(cli.width, [
      style.green("running"),
      shown.issuer,
      `pid ${shown.pid}`,
      `up ${duration((cli.now() - Date.parse(shown.startedAt ?? "")) / 1000)}`,
      ...counts(shown),
      ...(shown.clock === undefined ? [] : [style.yellow(`clock ${clockInWords(shown.clock)}`)]),
    ]),
  );
}

/** Parts of a line, with what does not fit below the first one: "running" or "stopped", which are equally long. */
export function fitted(width: number, parts: readonly string[]): string {
  const [gap, below] = ["   ", " ".repeat("running".length)];
  const lines: string[] = [];
  for (const part of parts) {
    const line = [...lines.slice(-1), part].join(gap);
    const fits = lines.length === 0 || cells(stripVTControlCharacters(line)) <= width;
    if (fits) lines.splice(-1, 1, line);
    else lines.push(below + gap + part);
  }
  return lines.join("\n");
}

type Counts = Readonly<Record<"users" | "clients" | "grants" | "faults" | "snapshots" | "requests", number>>;

const counts = (found: Counts): readonly string[] => [
  count(found.users, "user"),
  count(found.clients, "client"),
  count(found.grants, "grant"),
  ...(found.snapshots > 0 ? [count(found.snapshots, "snapshot")] : []),
  ...(found.requests > 0 ? [`${count(found.requests, "request")} in the ledger`] : []),
  ...(found.faults > 0 ? [`${count(found.faults, "fault")} active`] : []),
];

function noData(error: unknown): null {
  if (error instanceof OperationError && error.code === "not_found") return null;
  throw error;
}

/** The status of a shared store, which knows how many instances are connected to it, but not where they listen. */
async function ofStore(cli: Invocation, address: string, target: Target): Promise<Outcome> {
  const { inspectStore } = await import("../../store/postgres/schema.ts");
  const store = await inspectStore(address, cli.now);
  const found = store.schema === null ? null : await target.call("status", {}).catch(noData);
  const { server: _, ...what } = found ?? { server: null, data: cli.place };
  const running = store.instances > 0;
  const hint = { text: "To start a server", command: startCommand };
  return answer(
    { running, ...what, store },
    (shown, style) =>
      fitted(cli.width, [
        running ? style.green("running") : style.yellow("stopped"),
        `${shown.data} (PostgreSQL ${shown.store.version})`,
        count(shown.store.instances, "instance"),
        ...(found === null ? ["no data yet"] : counts(found)),
        ...(found?.clock === undefined ? [] : [style.yellow(`clock ${clockInWords(found.clock)}`)]),
      ]),
    running
      ? {}
      : { failure: failureOf(new OperationError("no_server", `no instance runs on ${cli.place}`, { hint })) },
  );
}

async function stopped(cli: Invocation, found: OperationOutput<"status"> | null): Promise<Outcome> {
  const { server: _, ...what } = found ?? { server: null, data: resolve(cli.data, "data.json") };
  const hint = await startHint(cli);
  return answer(
    { running: false, ...what },
    (shown, style) =>
      fitted(cli.width, [
        style.yellow("stopped"),
        ...(found === null ? [cli.data, "no data yet"] : [shown.data, ...counts(found)]),
      ]),
    {
      failure: failureOf(new OperationError("no_server", `no server runs on ${cli.data}`, { hint })),
    },
  );
}

/** Declares `idp status`. */
export const declareStatus: Declare = (command, { act }) => {
  command.addHelpText("after", examples("idp status", "idp status --json")).action(act(status));
};
