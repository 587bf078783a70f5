import { spawn } from "node:child_process";
import { constants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { OperationError, problemText } from "../../../core/base/errors.ts";
import { commandLineOfTest } from "../../../core/testing/ledger/advice.ts";
import { unknownHere } from "../../../core/base/nearest.ts";
import { findFixtures } from "../../../serve/fixture-files.ts";
import { createIdp, type FaultInput, type Idp } from "../../../index.ts";
import { likelyClient, ownEnvOf, samlClientAmong, samlVariables, valuesOf } from "../env/app-client.ts";
import { variablesOf, withVariables } from "../env/app-variables.ts";
import { extraCaFile, httpsOf, type ServedTls } from "../start/https.ts";
import { browserPrefix } from "../env/frameworks.ts";
import { failureOf, type Failure } from "../../failure.ts";
import type { Invocation } from "../../invocation.ts";
import { foreignCommand, whyNotRun, type TypedCommand } from "../../input/foreign-command.ts";
import { endWithShellOfNpm } from "../start/parent-process.ts";
import { moreHelp } from "../../output/help.ts";
import { printFailure, say } from "../../output/print.ts";
import { fixturePaths, withStdin, withFixtures } from "../../flags/fixtures.ts";
import { count } from "../../output/words.ts";
import { collectEvidence, type Evidence } from "./evidence.ts";
import { startWorkload, withWorkloadFlags, type Identity } from "./workload.ts";
import { collect } from "../../flags/flag-values.ts";
import { fixturesOption, settingsOf, withSettings } from "../../flags/settings.ts";
import type { Declare } from "../../act.ts";
import { examples, type Command, type FlagsOf } from "../../commander.ts";

const withExecFlags = (command: Command) =>
  withWorkloadFlags(
    withSettings(
      withVariables(
        command
          .option(...fixturesOption)
          .option("--fault <json>", "make a response wrong, as with idp faults add; repeatable", collect)
          .option(
            "--https",
            "serve https with a certificate of its own, which OIDC_CA_FILE and NODE_EXTRA_CA_CERTS name",
          )
          .option("--log <file>", "write every request into a file, a line of JSON each"),
      ),
    ),
  );
type ExecFlags = FlagsOf<typeof withExecFlags>;

/** The exit codes if the command cannot be run, beside `execFailure` of failure.ts. */
const notExecutable = 126;
const notFound = 127;

/** How long to wait for open requests, in milliseconds. The data is gone anyway. */
const closingTimeoutMs = 300;

/** How a child ended: its exit code, or 128 and the number of the signal that ended it. */
const codeOf = (code: number | null, signal: NodeJS.Signals | null): number =>
  code ?? 128 + (signal === null ? 0 : constants.signals[signal]);

/** The command after `--`. @throws {OperationError} usage */
function commandOf(typed: TypedCommand) {
  const { command, stray } = foreignCommand(typed);
  const [program, ...args] = command;
  if (stray.length > 0 || program === undefined || program === "") {
    const example = typed.before.some((word) => word !== "") ? typed.before : ["npm", "test"];
    throw new OperationError("usage", "the command must follow --", {
      hint: { text: "Put -- before it", command: ["idp", "exec", "--", ...example] },
    });
  }
  return { program, args };
}

const clientNamed = (idp: Idp, client_id: string, known: readonly string[]) =>
  idp.call("clients.show", { client_id, secrets: true }).catch((error: unknown) => {
    throw unknownHere(error, client_id, { title: "Clients", known });
  });

/** The environment of the child, in which our variables replace others. */
export async function environmentOf(
  cli: Invocation,
  idp: Idp,
  flags: Pick<ExecFlags, "client" | "prefix" | "name">,
): Promise<NodeJS.ProcessEnv> {
  const clients = await idp.call("clients.list", { secrets: true });
  const client =
    flags.client === undefined
      ? likelyClient(clients)
      : await clientNamed(
          idp,
          flags.client,
          clients.map(({ client_id }) => client_id),
        );
  const values = valuesOf(await idp.call("status", {}), client);
  // The code of idp init for a browser reads the names that its framework lets through.
  const prefix = flags.prefix === undefined && flags.name === undefined ? browserPrefix(process.cwd(), client) : null;
  const variables = new Map([
    ...variablesOf(values, flags),
    ...(prefix === null ? [] : variablesOf(values, { prefix })),
    ...(await samlVariables(samlClientAmong(clients, client), () => idp.call("saml.show", {}))),
    ["IDP_URL", idp.issuer] as const,
    ["IDP_ADMIN_TOKEN", idp.adminToken] as const,
    ...ownEnvOf(client, (name) => cli.env[name] !== undefined),
  ]);
  const kept = Object.entries(forChildren(cli.env)).filter(([name]) => !variables.has(name));
  return Object.fromEntries([...kept, ...[...variables].filter(([, value]) => value !== null)]) as NodeJS.ProcessEnv;
}

/** What reaches another server: its tokens, and the database with its password. */
const ofOtherServers = ["IDP_CONTROL_TOKENS", "IDP_STORE", "IDP_ADMIN_TOKEN"];

/** The environment that a program under test may have. */
export const forChildren = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !ofOtherServers.includes(name)));

/**
 * Runs the child to its end, with our standard streams. A terminal sends Ctrl+C to both processes, so the child gets it from there, and
 * decides. Other signals are passed on.
 */
function runChild(cli: Invocation, program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(program, args, { stdio: "inherit", env });
  const onTerminal = cli.stdin.isTTY || cli.stdout.isTTY || cli.stderr.isTTY;
  cli.takeSignals((signal) => {
    if (!(signal === "SIGINT" && onTerminal)) child.kill(signal);
  });
  endWithShellOfNpm(cli, () => child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.on("exit", (code, signal) => {
      resolve(codeOf(code, signal));
    });
    child.on("error", reject);
  });
}

/** The refusal of a command that could not be run. */
function spawnFailure(program: string, error: NodeJS.ErrnoException): Failure {
  const { isMissing, message, hint } = whyNotRun(program, error, ["idp", "exec"]);
  return { code: "refused", problems: [], message, hint, exit: isMissing ? notFound : notExecutable };
}

/** @throws {OperationError} usage if it is not JSON, or no fault */
async function addFault(idp: Idp, text: string): Promise<void> {
  const example = { text: "For example", command: ["--fault", '{"endpoint":"token","status":503}'] };
  try {
    await idp.faults.add(Object(JSON.parse(text)) as FaultInput);
  } catch (error) {
    const problems = error instanceof OperationError ? error.problems : [];
    if (problems.length === 0 && !(error instanceof SyntaxError)) throw error;
    const what = problems.length === 0 ? "--fault is not JSON" : `--fault: ${problems.map(problemText).join("; ")}`;
    throw new OperationError("usage", what, { hint: example, cause: error });
  }
}

/** By these the child trusts the certificate of `--https`; programs on Node.js do so without a change. */
async function caVariables({ env }: Invocation, tls: ServedTls | null): Promise<Readonly<Record<string, string>>> {
  if (tls === null || tls.caFile === null) return {};
  return {
    OIDC_CA_FILE: tls.caFile,
    NODE_EXTRA_CA_CERTS: await extraCaFile(tls.caFile, env["NODE_EXTRA_CA_CERTS"]),
  };
}

/** Starts the server. If the environment of the child cannot be made, it is closed again. */
async function startServer(
  cli: Invocation,
  flags: ExecFlags,
): Promise<{
  idp: Idp;
  env: NodeJS.ProcessEnv;
  identity: Identity | null;
  evidence: Evidence;
  removeTls: () => void;
}> {
  const { sources } = findFixtures(await withStdin(cli, fixturePaths(cli, flags)), process.cwd());
  const settings = settingsOf(flags);
  const evidence = await collectEvidence(flags.log);
  const tls = await httpsOf(cli, flags, null);
  const idp = await withFixtures(sources, () =>
    createIdp({
      ...{ port: 0, fixtures: sources, settings, ...(tls !== null && { tls: tls.tls }) },
      ...{ log: (note) => say(cli, note), commandLine: commandLineOfTest, onRequest: evidence.take },
    }),
  );
  try {
    for (const fault of flags.fault ?? []) await addFault(idp, fault);
    const env = { ...(await environmentOf(cli, idp, flags)), ...(await caVariables(cli, tls)) };
    const { users, clients } = await idp.call("status", {});
    // The last one, so that nothing of it is left behind by an error of the others.
    const identity = await startWorkload(idp, flags);
    say(cli, `idp: ${idp.issuer} in memory, ${count(users, "user")}, ${count(clients, "client")}`);
    const removeTls = (): void => tls?.remove();
    return { idp, env: { ...env, ...identity?.variables }, identity, evidence, removeTls };
  } catch (error) {
    await idp.close();
    tls?.remove();
    throw error;
  }
}

/** `idp exec`: runs a command with its own server in memory. */
async function exec(cli: Invocation, typed: TypedCommand, flags: ExecFlags): Promise<number> {
  const { program, args } = commandOf(typed);
  let interrupted = 0;
  cli.takeSignals((signal) => {
    interrupted = codeOf(null, signal);
  });
  const { idp, env, identity, evidence, removeTls } = await startServer(cli, flags);
  try {
    if (interrupted > 0) return interrupted;
    const code = await runChild(cli, program, args, env);
    // The command has ended: its exit code counts, also where its log could not be written.
    await evidence.leave(cli, code).catch((error: unknown) => printFailure(cli, failureOf(error), null));
    say(cli, `idp: stopped. ${program} ended with ${code}.`);
    return code;
  } catch (error) {
    const failure = spawnFailure(program, error as NodeJS.ErrnoException);
    printFailure(cli, failure, null);
    return failure.exit;
  } finally {
    await identity?.close();
    await Promise.race([idp.close(), delay(closingTimeoutMs, null, { ref: false })]);
    removeTls();
  }
}

/** Declares `idp exec`. The command of the child is after -- in the words that were typed. */
export const declareExec: Declare = (command, { act, words }) => {
  withExecFlags(command)
    .usage("[options] -- <command...>")
    .argument("[command...]")
    .addHelpText("after", ({ command: exec }) => {
      const more = moreHelp(exec, words).trimEnd();
      return more === "" ? "" : `\n${more}`;
    })
    .addHelpText(
      "after",
      `
The command's environment has OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET,
OIDC_REDIRECT_URI and OIDC_DISCOVERY_URL; and IDP_URL and IDP_ADMIN_TOKEN, so
that commands such as idp users suspend bob reach this server. Exit codes of
exec itself: 125 if it fails before the command runs (wrong flags too), 126 if
the command cannot be run, 127 if it is not found.`,
    )
    .addHelpText(
      "after",
      examples(
        "idp exec -- npm test",
        "idp exec --client demo-spa --prefix VITE_ --consent skip -- npx playwright test",
        "idp exec --as github-actions --claim repository=acme/shop -- npm run deploy",
      ),
    )
    .action(act((cli, before: readonly string[], flags: ExecFlags) => exec(cli, { before, words }, flags)));
};
