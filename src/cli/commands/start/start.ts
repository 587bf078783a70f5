/*
 * cli/commands/start: `idp start`: the server, its first screen and its request log.
 */
import { defaultPort } from "../../../core/base/endpoints.ts";
import { idpOf } from "../../../idp-of-server.ts";
import type { IdpOptions } from "../../../index.ts";
import { startServer, type Server } from "../../../serve/server.ts";
import { explained } from "../../../serve/uncaught.ts";
import { readFixtures, findFixtures, type FoundFixtures, type NamedFixture } from "../../../serve/fixture-files.ts";
import { httpsOf, type ServedTls } from "./https.ts";
import type { Invocation } from "../../invocation.ts";
import { listenForKeys } from "./keyboard.ts";
import { endWithShellOfNpm, stopWithStdin } from "./parent-process.ts";
import { say } from "../../output/print.ts";
import { showProgress, type Progress } from "../../output/progress.ts";
import { announce, removeReadyFile } from "./ready.ts";
import { filesForStart } from "../../target/chosen-fixtures.ts";
import { leaveNotice } from "../../target/memory-servers.ts";
import { twoPlaces } from "../../target/store-flag.ts";
import { adminTokenOf } from "../../target/server-of-url.ts";
import { logRemark, requestLog } from "./request-log.ts";
import { fixturePaths, withStdin, withFixtures } from "../../flags/fixtures.ts";
import type { CommandLine } from "../../../core/base/hint.ts";
import { commandLineOfTest } from "../../../core/testing/ledger/advice.ts";
import { commandLine } from "../../output/command-line.ts";
import { moreHelp } from "../../output/help.ts";
import { settingsOf } from "../../flags/settings.ts";
import type { Declare } from "../../act.ts";
import { examples, type AnyCommand } from "../../commander.ts";
import { isServiceLink, takeVariables } from "../../flags/variables.ts";
import { withStartFlags, type StartFlags } from "./flags.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { codeOf } from "../../../files/durable-file.ts";
import { wordsWithoutPassword } from "../../../store/postgres/address.ts";
import { issuerOnPort } from "../../target/usual-port.ts";

/** The names of the issuers of `--issuers N`, for the workers of a test runner. */
const workers = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `w${at + 1}`);

/**
 * Makes the missing keys in the background, one issuer after the other, so that the first sign-in need not wait. If that fails, the request
 * that needs a key reports it.
 */
async function makeKeys({ issuer, issuers }: Server, count: number): Promise<void> {
  for (const { ctx } of [issuer, ...workers(count).flatMap((name) => issuers.find(name) ?? [])]) await ctx.keys.jwks();
}

function optionsOf(
  cli: Invocation,
  flags: StartFlags,
  { named, found }: { readonly named: readonly NamedFixture[]; readonly found: FoundFixtures },
  more: Pick<IdpOptions, "log" | "commandLine"> & { readonly progress: Progress; readonly tls: ServedTls | null },
): IdpOptions {
  const { port = defaultPort, host, issuer, allowHost, trustedProxy } = flags;
  const adminToken = adminTokenOf(cli.env);
  const { progress, tls, ...own } = more;
  let read: FoundFixtures | null = found;
  return {
    ...(flags.memory === true ? {} : cli.store === null ? { data: cli.data } : { store: cli.store }),
    port,
    ...(host === undefined ? {} : { host }),
    ...(issuer === undefined ? {} : { issuer }),
    issuers: workers(flags.issuers ?? 0),
    ...(allowHost === undefined ? {} : { allowHosts: allowHost }),
    ...(trustedProxy === undefined ? {} : { trustedProxies: trustedProxy }),
    ...(adminToken === null ? {} : { adminToken }),
    ...(tls === null ? {} : { tls: tls.tls }),
    ...(flags.templates === undefined ? {} : { templates: flags.templates }),
    ...(flags.backchannel === undefined ? {} : { backchannel: flags.backchannel }),
    ...(flags.dynamicRegistration === undefined ? {} : { dynamicRegistration: true }),
    // The start uses what was read; a reset reads the files again.
    fixtures: () => {
      const { sources } = read ?? findFixtures(named, process.cwd());
      read = null;
      return sources;
    },
    onProgress: progress.update,
    ...own,
    settings: settingsOf(flags),
  };
}

/** The named fixtures, else those of the working folder, else those that the data were made from, else the demo. */
async function fixturesToStartWith(cli: Invocation, flags: StartFlags, words: readonly string[]) {
  const naming = ["idp", ...wordsWithoutPassword(words), "--fixtures"];
  const named = await withStdin(cli, fixturePaths(cli, flags));
  const found = await readFixtures(named, process.cwd(), naming);
  const isDemo = found.names.length === 0 && flags.memory !== true;
  const files = isDemo ? await filesForStart(cli) : null;
  if (files === null) return { named, found };
  say(cli, `The data were made from ${files.join(", ")}, so the demo is not added to them.`);
  return { named: files, found: await readFixtures(files, process.cwd(), naming) };
}

/**
 * `idp start`: runs until SIGINT, SIGTERM or `idp stop`. Then open requests are answered and everything is on disk.
 * @param typed the words after `idp`
 */
async function start(cli: Invocation, flags: StartFlags, typed: readonly string[]): Promise<null> {
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  // Set first, because a signal while the server starts must end it too. A second one changes nothing.
  cli.takeSignals(() => {
    stop();
  });
  if (flags.memory === true && cli.store !== null) throw twoPlaces("--store and --memory");
  endWithShellOfNpm(cli, stop);
  const { IDP_PORT: port = "" } = cli.env;
  if (isServiceLink("IDP_PORT", port)) say(cli, `IDP_PORT is ignored, because it is not a port: ${port}`);
  if (flags.untilStdinCloses === true) stopWithStdin(cli, fixturePaths(cli, flags), stop);
  const { readyFile } = flags;
  if (readyFile !== undefined) await removeReadyFile(readyFile);
  const { named, found: fixtures } = await fixturesToStartWith(cli, flags, typed);
  const progress = showProgress(cli, "Loading fixtures");
  let serving = false;
  const log = (note: string): void => {
    if (serving) logRemark(cli, note);
    else say(cli, note);
  };
  let issuer: string | null = null;
  // A command finds this server by its data folder, or, if it is in memory or on a shared store, by its address.
  const line: CommandLine = (words, of, writing) => {
    // A test that holds its standard input prints what was refused after it has ended.
    if (flags.untilStdinCloses === true) return commandLineOfTest(words, of, writing);
    const here = issuer === null ? [] : ["--url", issuer];
    // Who reads a page or a log may know neither the database nor its password.
    const target = flags.memory === true || cli.store !== null ? here : cli.target;
    return commandLine({ env: cli.env, target })(withOwnFlags(words, typed), of, writing);
  };
  const tls = await httpsOf(cli, flags, flags.memory === true ? null : cli.data);
  const options = optionsOf(cli, flags, { named, found: fixtures }, { progress, log, tls, commandLine: line });
  // Loads zod only where it is needed.
  const tokens =
    flags.controlTokens === undefined
      ? null
      : await (await import("./control-tokens.ts")).controlTokens(flags.controlTokens, adminTokenOf(cli.env), log);
  const caFile = tls?.caFile ?? undefined;
  const onRequest = cli.quiet && !cli.json ? undefined : requestLog(cli);
  const more = { caFile, onRequest, ...(tokens !== null && { controlTokens: tokens.list }) };
  const server = await withFixtures(fixtures.sources, () => explained(() => startServer(options, more)))
    .catch(async (error: unknown) => {
      tls?.remove();
      throw (await portTaken(error, typed)) ?? error;
    })
    .finally(progress.end);
  const idp = idpOf(server);
  issuer = idp.issuer;
  // A test that holds its standard input needs no command to find it.
  const removeNotice =
    flags.memory === true && flags.untilStdinCloses !== true ? leaveNotice(cli, server, caFile) : null;
  let stopKeys: ReturnType<typeof listenForKeys> = null;
  try {
    await announce(cli, flags, { server, fixtures, line, caFile, isFound: removeNotice !== null, words: typed });
    serving = true;
    makeKeys(server, flags.issuers ?? 0).catch(() => undefined);
    // A person at a terminal changes fixtures; a pipeline does not.
    const watches = flags.watch ?? (cli.interactive && cli.stdout.isTTY);
    const watching = watches
      ? (await import("./watch.ts")).watch(cli, server, log, {
          named,
          found: fixtures,
          asked: flags.watch === true,
          templates: flags.templates,
        })
      : null;
    stopKeys = listenForKeys(cli, idp, stop);
    await Promise.race([stopped, idp.closed]);
    await watching?.close();
  } finally {
    stopKeys?.();
    tokens?.close();
    removeNotice?.();
    tls?.remove();
    if (readyFile !== undefined) await removeReadyFile(readyFile);
    await idp.close();
  }
  return null;
}

/** A command that starts this server again with other flags keeps those that it has now, but for a text with passwords in place of a file. */
function withOwnFlags(words: readonly string[], typed: readonly string[]): readonly string[] {
  const [, name, ...more] = words;
  if (name !== "start" || typed.some((word) => word.includes("{"))) return words;
  return ["idp", ...wordsWithoutPassword(typed), ...more];
}

/** The command as it was typed, but on a free port, because other data or fixtures would make it another server. */
function onFreePort(words: readonly string[]): readonly string[] {
  const kept = words.filter(
    (word, at) => word !== "--port" && words[at - 1] !== "--port" && !word.startsWith("--port="),
  );
  return ["idp", ...wordsWithoutPassword(kept), "--port", "auto"];
}

/** The refusal of a port that another idp uses, which it names; null if the error is something else. */
async function portTaken(error: unknown, words: readonly string[]): Promise<OperationError | null> {
  const { message, cause } = error instanceof OperationError ? error : { message: "", cause: undefined };
  if (codeOf(cause) !== "EADDRINUSE") return null;
  const { port } = cause as NodeJS.ErrnoException & { readonly port: number };
  const issuer = await issuerOnPort(port);
  const andIssuer = words.some((word) => /^--issuer(=|$)/.test(word)) ? "" : " (the issuer changes with it)";
  return issuer === null
    ? new OperationError("conflict", message, {
        hint: { text: `Use another port${andIssuer}`, command: onFreePort(words) },
        cause,
      })
    : new OperationError("conflict", `port ${port} is in use by another idp: ${issuer}`, {
        hint: { text: `Use that one, or another port for this one${andIssuer}`, command: onFreePort(words) },
        cause,
      });
}

/** @throws {OperationError} usage for flags that name a server, because this makes one; their variables are for the other commands */
function refuseIgnored({ parent }: AnyCommand): void {
  for (const [name, flag] of [
    ["url", "--url"],
    ["adminTokenFile", "--admin-token-file"],
  ] as const) {
    if (parent?.getOptionValueSource(name) !== "cli") continue;
    throw new OperationError("usage", `${flag} is for a server that runs, and idp start begins one`, {
      hint:
        name === "url"
          ? "For the address that it is known by: --issuer URL"
          : "For its admin token, set IDP_ADMIN_TOKEN to the token",
    });
  }
}

/** Declares `idp start`. */
export const declareStart: Declare = (command, { act, words, env }) => {
  withStartFlags(command)
    .hook("preAction", (command) => {
      refuseIgnored(command);
      takeVariables(command, env);
    })
    .addHelpText(
      "after",
      ({ command: start }) =>
        `\n${moreHelp(start, words)}Variables for the flags: IDP_PORT=4400 IDP_MEMORY=true IDP_ALLOW_HOST=a.test`,
    )
    .addHelpText(
      "after",
      examples(
        "idp start",
        "idp start --port auto --memory --fixtures test/fixtures.yaml",
        "idp export --as fixtures | idp start --memory --port auto --fixtures -",
      ),
    )
    .action(act((cli, flags: StartFlags) => start(cli, flags, words)));
};
