/*
 * cli/commands/doctor: `idp doctor` finds what is wrong on this machine, with a fix for each finding.
 */
import { OperationError } from "../../../core/base/errors.ts";
import { commandOn } from "../../../core/base/hint.ts";
import { DataFileError } from "../../../store/store.ts";
import { commandLine } from "../../output/command-line.ts";
import { timeoutMs, warning, type Finding, ok, maxClockDifference, problem } from "./finding.ts";
import { folderFindings, nodeFinding, peekAt, fixtureFinding, unreadable } from "./folder.ts";
import { networkFindings, type ServedIssuer } from "./network.ts";
import { staleFile } from "../env/written.ts";
import { failureOf } from "../../failure.ts";
import type { Invocation } from "../../invocation.ts";
import { answer, type Outcome } from "../../output/print.ts";
import { issuerAt } from "../../../serve/remote.ts";
import type { Style } from "../../output/style.ts";
import { wrap } from "../../output/table.ts";
import { findServer, serverAddress, findTarget } from "../../target/target.ts";
import { count } from "../../output/words.ts";
import { examples } from "../../commander.ts";
import type { Declare } from "../../act.ts";

/** How many seconds the clock and that of a shared store may differ by for an instance to start. */
const maxSeconds = 5;

/** `idp doctor`: what on this machine prevents `idp` from working. It changes nothing. */
async function doctor(cli: Invocation): Promise<Outcome> {
  const found = await servedBy(cli);
  const checks: readonly Finding[] = [
    nodeFinding(),
    ...(cli.url === null ? await dataFindings(cli, found.answers !== null) : []),
    ...(await networkFindings(cli, found)),
    ...(await envFindings(found)),
    ...(await samlFindings(found)),
    ...(await certificateFindings(cli)),
  ];
  const having = (status: Finding["status"]): number => checks.filter((check) => check.status === status).length;
  const problems = having("problem");
  const warnings = having("warning");
  const sum = `${problems === 0 ? "no problem" : count(problems, "problem")}, ${count(warnings, "warning")}`;
  const document = { ok: problems === 0, problems, warnings, checks: checks.map((check) => printable(cli, check)) };
  return answer(document, (shown, style) => lines(cli, shown.checks, style), {
    ...(problems > 0
      ? { failure: failureOf(new OperationError("refused", `doctor found ${sum}`)) }
      : { notes: [`doctor found ${sum}.`] }),
  });
}

const dataFindings = async (cli: Invocation, answers: boolean): Promise<readonly Finding[]> =>
  cli.store === null ? folderFindings(cli, answers) : storeFindings({ ...cli, store: cli.store });

/** Service providers whose metadata or certificates have expired. */
async function samlFindings({ clients }: ServedIssuer): Promise<readonly Finding[]> {
  const providers = clients.filter(({ saml }) => saml !== undefined);
  if (providers.length === 0) return [];
  const { providerRemarks } = await import("../../../core/records/service-providers/remarks.ts");
  return providers.flatMap((client) =>
    providerRemarks(client, Date.now()).map((remark) =>
      warning("saml", remark, {
        text: "Get the newest metadata from the app, and see what is registered",
        command: commandOn(["idp", "clients", "show"], client.client_id),
      }),
    ),
  );
}

/** What the app in this folder is told, and is no longer true. Without a server, `idp env` says it of the fixtures. */
async function envFindings({ answers, clients }: ServedIssuer): Promise<readonly Finding[]> {
  const stale = answers === null || clients.length === 0 ? null : await staleFile(answers, clients);
  return stale === null ? [] : [warning("env-file", stale.detail, stale.fix)];
}

/** How a browser trusts the certificate of `start --https`: programs are told by variables, browsers have stores of their own. */
async function certificateFindings(cli: Invocation): Promise<readonly Finding[]> {
  const caFile = cli.url === null ? (await findServer(cli).catch(() => null))?.caFile : undefined;
  if (caFile === undefined) return [];
  const stores =
    "Firefox: Settings, Certificates, Import. macOS: open it in Keychain Access, and trust it for SSL. Windows: certutil -user -addstore Root FILE. Chrome on Linux: certutil -d sql:$HOME/.pki/nssdb -A -t P,, -n idp -i FILE";
  return [
    ok("certificate", `${caFile} is the certificate of --https. A browser trusts it once it is imported. ${stores}`),
  ];
}

/** A finding as it is shown, with the words and the command of its fix apart. */
function printable(cli: Invocation, { fix, ...what }: Finding) {
  const command = fix?.command === undefined ? null : commandLine(cli)(fix.command);
  return { ...what, fix: fix === null || fix.text === "" ? null : fix.text, command };
}

const marks = { ok: "✓", warning: "!", problem: "✗" } as const;

function lines(cli: Invocation, checks: readonly ReturnType<typeof printable>[], style: Style): string {
  const { width } = cli;
  const paint = { ok: style.green, warning: style.yellow, problem: style.red } as const;
  const column = Math.max(...checks.map(({ name }) => name.length));
  const indent = " ".repeat(column + 4);
  return checks
    .map(({ name, status, detail, fix, command }) => {
      const head = `${paint[status](marks[status])} ${style.bold(name.padEnd(column))}  `;
      const below = fix === null ? [] : [wrap(command === null ? fix : `${fix}:`, width, indent)];
      // A command stays on one line, so that it can be pasted.
      if (command !== null) below.push(indent + command);
      return [head + wrap(detail, width, indent).trimStart(), ...below].join("\n");
    })
    .join("\n");
}

/** What the running server serves, else what the data was last served as. */
async function servedBy(cli: Invocation): Promise<ServedIssuer> {
  const address = addressIn(cli);
  if (address !== null) {
    const answers = await issuerAt(address, timeoutMs);
    // Without the admin token a server does not list its clients.
    const clients = answers === null ? [] : await clientsOf(cli).catch(() => []);
    return { address, answers, issuer: null, clients };
  }
  const nothing: ServedIssuer = { address: null, answers: null, issuer: null, clients: [] };
  if (cli.store !== null) {
    const target = await findTarget(cli);
    const found = await target.call("status", {}).catch(() => null);
    if (found === null) return nothing;
    return { ...nothing, issuer: found.issuer, clients: await target.call("clients.list", {}) };
  }
  const data = await peekAt(cli).catch(() => null);
  if (data === null) return nothing;
  return data.read((tx) => {
    const issuer = tx.get("meta", "issuer")?.value;
    return { ...nothing, issuer: typeof issuer === "string" ? issuer : null, clients: [...tx.all("clients")] };
  });
}

function addressIn(cli: Invocation): string | null {
  try {
    return serverAddress(cli);
  } catch (error) {
    // The finding on the lock reports an invalid lock file.
    if (error instanceof DataFileError) return null;
    throw error;
  }
}

async function clientsOf(cli: Invocation): Promise<ServedIssuer["clients"]> {
  const target = await findTarget(cli);
  // Secrets are for admins.
  return target.call("clients.list", { secrets: true }).catch(() => target.call("clients.list", {}));
}

/** What doctor looks at in a shared store: whether it answers, what is in it, its clock, and who is connected. */
async function storeFindings(cli: Invocation & { readonly store: string }): Promise<readonly Finding[]> {
  return [
    ...(await databaseFindings(cli).catch((error: unknown) => [unreadable("store")(error)])),
    await fixtureFinding(cli, false),
  ];
}

async function databaseFindings(cli: Invocation & { readonly store: string }): Promise<readonly Finding[]> {
  const { inspectStore } = await import("../../../store/postgres/schema.ts");
  const { version, schema, ahead, instances } = await inspectStore(cli.store, cli.now);
  const server = `${cli.place}, PostgreSQL ${version}`;
  return [
    schema === null
      ? ok("store", `${server}, no tables yet: the first start makes them`)
      : await contentFinding(cli, `${server}, schema ${schema}`).catch(unreadable("store")),
    clockFinding(ahead),
    ok("instances", `${count(instances, "instance")} connected`),
  ];
}

/** Reads the records of the store. Opening it fails if its schema is too new, and `doctor` reports that. */
async function contentFinding(cli: Invocation, store: string): Promise<Finding> {
  const target = await findTarget(cli);
  const { users, clients } = await target.call("status", {});
  return ok("store", [store, count(users, "user"), count(clients, "client")].join(", "));
}

function clockFinding(ahead: number): Finding {
  const seconds = Math.round(Math.abs(ahead));
  if (seconds <= maxClockDifference) return ok("clock", "agrees with the database's");
  const detail = `${seconds} s ${ahead > 0 ? "behind" : "ahead of"} the database's`;
  const fix = `Set the clock of this machine: with a difference of more than ${maxSeconds} seconds no instance starts.`;
  return seconds > maxSeconds ? problem("clock", detail, fix) : warning("clock", detail, fix);
}

/** Declares `idp doctor`. */
export const declareDoctor: Declare = (command, { act }) => {
  command
    .addHelpText("after", examples("idp doctor", "idp doctor --json | jq '.checks[] | select(.status != \"ok\")'"))
    .action(act(doctor));
};
