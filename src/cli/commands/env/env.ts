/*
 * cli/commands/env: `idp env` prints what an app must know, as variables or as the configuration of its library (libraries/).
 */
import type { ClientView } from "../../../core/records/clients/admin.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { appsAmong, likelyClient, namedIn, ownEnvOf, samlClientAmong, samlVariables, valuesOf } from "./app-client.ts";
import { commandOn, type Hint } from "../../../core/base/hint.ts";
import { variablesOf, type AppValues, type NameFlags, withVariables } from "./app-variables.ts";
import { clientOr, confirmed, notConfirmed } from "../../input/ask.ts";
import { browserPrefix } from "./frameworks.ts";
import { readTextFile, setIn, withoutBlock, writeBlock } from "./file.ts";
import type { ServedStatus } from "./libraries/form.ts";
import { formatted, type Variables } from "./format.ts";
import { namesIn, prefixIn } from "./written.ts";
import type { Invocation } from "../../invocation.ts";
import { answer, type Outcome } from "../../output/print.ts";
import { answererAt } from "../../../serve/remote.ts";
import { findTarget, startCommand, type Target } from "../../target/target.ts";
import { count } from "../../output/words.ts";
import { formats, libraries, type Format, type Library } from "./choices.ts";
import type { Declare } from "../../act.ts";
import { examples, type Command, type FlagsOf, Option } from "../../commander.ts";

const withEnvFlags = (command: Command) =>
  withVariables(command)
    .addOption(new Option("--format <format>", "the output format (default: dotenv)").choices(formats))
    .option("--write <file>", 'write to a file; only the lines between "# idp begin" and "# idp end" change')
    .addOption(new Option("--for <library>", "print the configuration of a library instead").choices(libraries));
type EnvFlags = FlagsOf<typeof withEnvFlags>;

/** Ignores fixtures with a mistake, which `idp start` and `idp seed` report. */
async function namedHere(cli: Invocation): Promise<(client: ClientView) => boolean> {
  const { fixturesOf } = await import("../../flags/fixtures.ts");
  try {
    return namedIn(fixturesOf(cli, {}));
  } catch {
    return () => false;
  }
}

/** The client of the app: named, or asked for if there are several and a person can be asked. With `--for`, one that the library can use. */
async function clientOf(cli: Invocation, target: Target, { client: named, for: library }: EnvFlags) {
  const all = await target.call("clients.list", {});
  const usable = library === undefined ? all : all.filter((await import("./libraries.ts")).canUse(library));
  const clients = usable.length > 0 ? usable : all;
  const likely = likelyClient(clients, await namedHere(cli));
  if (likely === undefined) {
    throw new OperationError("not_found", "no clients yet", {
      hint: {
        text: "Add one",
        command: ["idp", "clients", "add", "shop", "--redirect-uri", "http://localhost:3000/callback"],
      },
    });
  }
  const isClear = named === undefined && (!cli.interactive || !cli.stdout.isTTY || appsAmong(clients).length === 1);
  const client_id = isClear ? likely.client_id : await clientOr(cli, target, named);
  const client = await target.call("clients.show", { client_id });
  // Only an admin may read a secret, or the token of the app's SCIM server.
  const hasSecret = !client.public || client["scim"] !== undefined;
  return hasSecret ? target.call("clients.show", { client_id, secrets: true }) : client;
}

/** Refuses flags that contradict each other. @throws {OperationError} usage */
function checkFlags({ prefix, name, format, write, for: library }: EnvFlags): void {
  if (library !== undefined) {
    const given = { prefix, name, format, write };
    const other = Object.entries(given).find(([, value]) => value !== undefined)?.[0];
    if (other !== undefined) {
      throw new OperationError("usage", `--for ${library} prints that library's own names: it takes no --${other}`);
    }
  }
  if (write !== undefined && format !== undefined && format !== "dotenv" && format !== "shell") {
    throw new OperationError("usage", `--write marks its lines with comments, but --format ${format} has no comments`, {
      hint: { text: "Write it to a file yourself", command: ["idp", "env", "--format", format] },
    });
  }
}

/** The server, the data, or before the first start the fixtures. */
async function targetOf(cli: Invocation): Promise<{ readonly target: Target; readonly notes: readonly string[] }> {
  const target = await findTarget(cli);
  const { isBeforeStart, targetBeforeStart } = await import("../../target/before-start.ts");
  if (!isBeforeStart(cli, target)) return { target, notes: [] };
  const fixtures = await targetBeforeStart(cli);
  return { target: fixtures, notes: [fixtures.note] };
}

/** `idp env`: what an app needs to know, as variables or as a library's configuration. */
async function env(cli: Invocation, flags: EnvFlags): Promise<Outcome> {
  checkFlags(flags);
  const { target, notes: ofTarget } = await targetOf(cli);
  const served = await target.call("status", {});
  const { issuer } = served;
  const client = await clientOf(cli, target, flags);
  const placeNotes = [...ofTarget, ...(await otherServerNotes(cli, target, issuer))];
  if (flags.for !== undefined) return configuration(served, client, flags.for, placeNotes);
  const all = valuesOf(served, client);
  const caFile = target.server?.caFile;
  const text = flags.write === undefined ? null : await readTextFile(flags.write);
  const set = setIn(withoutBlock(text ?? ""));
  const names = namesFor(flags, text, client);
  const values = names.name?.discovery === undefined ? { ...all, discovery: null } : all;
  const variables = [
    ...[...variablesOf(values, names)].flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
    ...(await ofSaml(target, client, ofTarget.length > 0)),
    // What the app has already wins: in its environment, or elsewhere in the file.
    ...ownEnvOf(client, (name) => cli.env[name] !== undefined || set(name)),
    ...(caFile === undefined ? [] : [["OIDC_CA_FILE", caFile] as const]),
  ];
  const format = flags.format ?? "dotenv";
  const notes = [
    ...placeNotes,
    ...(values.redirect_uri === null && client.redirect_uris.length > 0
      ? [`${client.client_id} may return to any port (${client.redirect_uris.join(" ")}): the app chooses one.`]
      : []),
    ...(format === "dotenv" ? expansionNotes(variables, values) : []),
    ...(caFile === undefined
      ? []
      : [
          `Node.js reads trusted certificates from its environment only: start the app with NODE_EXTRA_CA_CERTS=${caFile}`,
        ]),
  ];
  if (flags.write !== undefined) return written(cli, flags.write, variables, format, notes);
  return answer(
    Object.fromEntries(variables),
    // A pipe gets the exact values. On a terminal no character may act upon it.
    (shown) => formatted(cli.stdout.isTTY ? Object.entries(shown) : variables, format),
    { notes },
  );
}

/** The variables of a service provider. Before the first start there is no certificate: it is made with the data. */
async function ofSaml(target: Target, chosen: ClientView, isBeforeStart: boolean) {
  const client = samlClientAmong(await target.call("clients.list", {}), chosen);
  const variables = await samlVariables(client, () => target.call("saml.show", {}));
  return variables.filter(([name]) => !isBeforeStart || !name.startsWith("SAML_IDP_CERT"));
}

/** The names that were asked for, before those that the file has, or in a new block those that the code in this folder can read. */
function namesFor({ prefix, name = {}, write }: EnvFlags, text: string | null, client: ClientView): NameFlags {
  if (prefix !== undefined) return { prefix, name };
  const before = namesIn(
    text ?? "",
    ownEnvOf(client, () => false).map(([one]) => one),
  );
  if (before.issuer !== undefined) return { prefix: prefixIn(before.issuer), name: { ...before, ...name } };
  const usual = write === undefined || Object.keys(name).length > 0 ? null : browserPrefix(process.cwd(), client);
  return usual === null ? { name } : { prefix: usual };
}

/** How long to wait for an answer, in milliseconds. */
const timeoutMs = 1000;

/** Warns if the server at the issuer does not have this data, because the app would sign in there. */
async function otherServerNotes(cli: Invocation, target: Target, issuer: string): Promise<readonly (string | Hint)[]> {
  // An instance of the shared store answers there, or the load balancer.
  if (target.server === null && cli.store !== null) return [];
  const there = await answererAt(issuer, timeoutMs);
  if (there === null) return [];
  const where = `Another server answers at ${issuer}`;
  if (target.server === null) {
    return [
      `${where}: it does not have the data in ${cli.data}.`,
      { text: "Start one that does", command: [...startCommand, "--port", "auto"] },
    ];
  }
  // A proxy in front of our server may not pass on the health check.
  if (there.issuer === null || there.issuer === issuer) return [];
  return [`${where}: its issuer is ${there.issuer}. The server of this data listens at ${target.server.url}.`];
}

/**
 * Next.js and Vite expand variables in the values of a .env file, whatever the quotes; `node --env-file` and dotenv do not. No spelling of
 * a $ suits both.
 */
function expansionNotes(variables: Variables, { client_id, client_secret }: AppValues): readonly (string | Hint)[] {
  const names = variables.filter(([, value]) => value.includes("$")).map(([name]) => name);
  if (names.length === 0) return [];
  return [
    `${names.join(" and ")} ${names.length === 1 ? "contains" : "contain"} $. Next.js and Vite expand it in a .env file; node --env-file does not.`,
    "For Next.js and Vite, write \\$ for each $ in the file, or use a value without $.",
    ...(client_id !== null && client_secret?.includes("$") === true
      ? [{ text: "A new secret without $", command: commandOn(["idp", "clients", "rotate-secret"], client_id) }]
      : []),
  ];
}

async function configuration(
  served: ServedStatus,
  client: ClientView,
  library: Library,
  placeNotes: readonly (string | Hint)[],
): Promise<Outcome> {
  const { configurationOf } = await import("./libraries.ts");
  const { text, notes } = configurationOf(library, served, client, process.cwd());
  return answer({ library, client_id: client.client_id, text }, () => text, { notes: [...placeNotes, ...notes] });
}

async function written(
  cli: Invocation,
  file: string,
  variables: Variables,
  format: Format,
  notes: readonly (string | Hint)[],
): Promise<Outcome> {
  const block = formatted(variables, format);
  const before = await readTextFile(file);
  if (before === null && !(await confirmed(cli, `Create ${file}?`))) throw notConfirmed("nothing was written");
  const changed = await writeBlock(file, before, block);
  const names = variables.map(([name]) => name);
  return answer(
    { file, changed, variables: names },
    (shown) =>
      changed ? `Wrote ${count(shown.variables.length, "variable")} into ${shown.file}` : `Up to date: ${shown.file}`,
    { notes },
  );
}

/** Declares `idp env`. */
export const declareEnv: Declare = (command, { act }) => {
  withEnvFlags(command)
    .addHelpText(
      "after",
      examples(
        "idp env --write .env.local",
        "idp env --client demo-spa --prefix VITE_ --name issuer=VITE_OIDC_AUTHORITY",
        'eval "$(idp env --format shell)"',
        'idp env --format github >> "$GITHUB_ENV"',
        "idp env --for spring",
      ),
    )
    .action(act(env));
};
