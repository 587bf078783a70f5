import { join, resolve } from "node:path";
import { lstat, readFile, unlink } from "node:fs/promises";
import { stateOfProcess } from "../../../files/process.ts";
import { baseOf } from "../../../core/base/endpoints.ts";
import type { CommandLine } from "../../../core/base/hint.ts";
import { version } from "../../../files/package.ts";
import type { FoundFixtures } from "../../../serve/fixture-files.ts";
import type { Server } from "../../../serve/server.ts";
import type { Invocation } from "../../invocation.ts";
import { escapeDeep, printableJson } from "../../output/escape.ts";
import { wordsWithoutPassword } from "../../../store/postgres/address.ts";
import { say } from "../../output/print.ts";
import { openBrowser } from "../../output/open-browser.ts";
import { firstScreen } from "./first-screen.ts";
import type { StartFlags } from "./flags.ts";
import { sayStale, screenOf } from "./screen-content.ts";
import { cannotBeWritten, followOwnLinks, putFile } from "../../output/put-file.ts";

/** How `idp start` says that the server is ready: on the first screen, in a line for scripts, and in a file. */

/** The file of `--ready-file`. It exists from the moment the server is ready until the server has ended. */
interface Ready {
  readonly event: "ready";
  readonly pid: number;
}

/** @throws {OperationError} usage if it cannot be written */
async function writeReadyFile(file: string, ready: Ready): Promise<void> {
  try {
    // Readable for everybody, because it has no secret.
    await putFile(file, `${JSON.stringify(ready)}\n`, 0o644);
  } catch (error) {
    throw cannotBeWritten(`--ready-file ${file}`, error);
  }
}

/**
 * Removes the file of this server, or of one that was killed: a script that waits for the file must not find that of the last server. The
 * file of a running server stays, and so does any other file.
 */
export async function removeReadyFile(file: string): Promise<void> {
  try {
    const target = await followOwnLinks(file);
    if (!(await lstat(target)).isFile()) return;
    const { event, pid = 0 } = JSON.parse(await readFile(target, "utf8")) as Partial<Ready>;
    if (event === "ready" && (pid === process.pid || stateOfProcess(pid, null) === "dead")) await unlink(target);
  } catch {
    // There is no file, or it is not a file of a server.
  }
}

/**
 * In a GitHub codespace the browser reaches a port at another address. `idp` never takes its issuer from its surroundings, so this only says
 * what to type. @param words the words after `idp`
 */
function sayCodespace(cli: Invocation, flags: StartFlags, port: number, words: readonly string[]): void {
  const { CODESPACE_NAME: name, GITHUB_CODESPACES_PORT_FORWARDING_DOMAIN: domain = "app.github.dev" } = cli.env;
  if (name === undefined || name === "" || flags.issuer !== undefined) return;
  const asked = flags.port === 0 ? ["--port", String(port)] : [];
  const address = ["--issuer", `https://${name}-${port}.${domain === "" ? "app.github.dev" : domain}`];
  say(cli, {
    text: "The browser reaches this codespace at another address. To start idp for it",
    command: ["idp", ...wordsWithoutPassword(words), ...asked, ...address, "--backchannel", "dynamic"],
  });
}

/** Says that the server is ready, and opens the browser for `--open`. @throws {OperationError} usage if the file cannot be written */
export async function announce(
  cli: Invocation,
  flags: StartFlags,
  {
    server,
    fixtures,
    line,
    caFile,
    isFound,
    words,
  }: {
    readonly server: Server;
    readonly fixtures: FoundFixtures;
    readonly line: CommandLine;
    readonly caFile: string | undefined;
    /** Whether commands in this folder find the server in memory. */
    readonly isFound: boolean;
    /** The words after `idp`. */
    readonly words: readonly string[];
  },
): Promise<void> {
  const { port } = server;
  const { issuer } = server.issuer.ctx;
  const place = flags.memory === true ? null : cli.store === null ? join(cli.data, "data.json") : cli.place;
  const data = place === null || cli.store !== null ? place : resolve(place);
  const ready = { event: "ready" as const, issuer, port, pid: process.pid, data, version, ca_file: caFile };
  if (flags.readyFile !== undefined) await writeReadyFile(flags.readyFile, ready);
  sayCodespace(cli, flags, port, words);
  if (cli.json) cli.stdout.write(`${printableJson(ready, 0)}\n`);
  else {
    if (!cli.quiet) {
      const forPerson = cli.interactive && cli.stdout.isTTY;
      const screen = await screenOf(server, fixtures, place, { forPerson, isFound, line });
      cli.stdout.write(`${firstScreen(escapeDeep({ ...screen, caFile }), cli.out, line)}
`);
    }
    await sayStale(cli, server);
    // A script waits for this line.
    if (!cli.stdout.isTTY) cli.stdout.write(`idp ready ${issuer} pid ${process.pid}\n`);
  }
  if (flags.open === true) {
    const url = `${baseOf(issuer)}/`;
    await openBrowser(cli, url, `No browser could be opened. Open it yourself: ${url}`);
  }
}
