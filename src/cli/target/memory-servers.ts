/**
 * How commands find a server in memory (`start --memory`): it has no data folder, so it has a notice in a folder of this user. Unlike the lock of
 * a data folder, a notice keeps nobody out.
 */
import { randomBytes } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
  type Stats,
} from "node:fs";
import { hostname, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { codeOf } from "../../files/durable-file.ts";
import type { Server } from "../../serve/server.ts";
import type { Invocation } from "../invocation.ts";
import { say } from "../output/print.ts";
import { stateOf, thisProcess, type ProcessIdentity } from "../../files/process.ts";

/** What the notice of a server in memory says. */
export interface MemoryServer extends ProcessIdentity {
  /** Where it was started. */
  readonly folder: string;
  readonly url: string;
  readonly adminToken: string;
  /** The certificate that it serves https with (`--https`). */
  readonly caFile?: string;
}

/** Where the notices are: a folder that is removed when the user logs out, else one in the temporary folder, where others may write too. */
function placeOf({ XDG_RUNTIME_DIR: runtime = "" }: NodeJS.ProcessEnv): string {
  if (runtime !== "") return join(runtime, "dev-idp");
  return join(tmpdir(), `dev-idp-${process.getuid?.() ?? userInfo().username}`);
}

/** Why others may have changed or read a file or folder; null: it is this user's alone. */
function openness({ uid, mode }: Stats): string | null {
  if (process.getuid === undefined) return null;
  if (uid !== process.getuid()) return "it is another user's";
  return (mode & 0o077) === 0 ? null : "others may open it: chmod 700";
}

/** Why nothing may be written to, or believed of, a folder; null: it is this user's alone. */
function problemOf(place: string): string | null {
  const stat = lstatSync(place, { throwIfNoEntry: false });
  if (stat === undefined) return "it is not there";
  if (stat.isSymbolicLink()) return "it is a link";
  if (!stat.isDirectory()) return "it is not a folder";
  return openness(stat);
}

/** The folder as every process names it. */
const here = (): string => realpathSync(process.cwd());

/** @returns null: it is gone, or no notice of ours */
function read(file: string): MemoryServer | null {
  try {
    const stat = lstatSync(file);
    // Another user may have put it there while the folder was open.
    if (!stat.isFile() || openness(stat) !== null) return null;
    const { folder, url, adminToken, ...process } = JSON.parse(readFileSync(file, "utf8")) as MemoryServer;
    const isNotice = [folder, url, adminToken, process.host].every((one) => typeof one === "string");
    return isNotice && typeof process.pid === "number" ? { folder, url, adminToken, ...process } : null;
  } catch {
    return null;
  }
}

function noticesIn(place: string): readonly (readonly [file: string, server: MemoryServer])[] {
  if (problemOf(place) !== null) return [];
  return readdirSync(place)
    .filter((name) => name.endsWith(".json"))
    .map((name) => join(place, name))
    .flatMap((file) => {
      const server = read(file);
      return server === null ? [] : [[file, server] as const];
    });
}

/** The servers in memory that were started in this folder and still run. */
export const memoryServersHere = (env: NodeJS.ProcessEnv): readonly MemoryServer[] =>
  noticesIn(placeOf(env))
    .map(([, server]) => server)
    .filter((server) => server.folder === here() && stateOf(server) === "alive");

/** Lets commands in this folder find a server in memory, or says why they cannot. @returns a function that ends that; null: they cannot */
export function leaveNotice(
  cli: Invocation,
  { localUrl: url, adminToken }: Pick<Server, "localUrl" | "adminToken">,
  caFile?: string,
): (() => void) | null {
  const { env } = cli;
  const unannounced = (problem: string): null => {
    say(cli, `Commands find this server by --url and IDP_ADMIN_TOKEN only: ${problem}`);
    return null;
  };
  const place = placeOf(env);
  try {
    mkdirSync(place, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") return unannounced(`${place} cannot be made (${codeOf(error)})`);
  }
  const problem = problemOf(place);
  if (problem !== null) return unannounced(`${place}: ${problem}`);
  // Those of processes that were killed.
  for (const [file, one] of noticesIn(place))
    if (one.host === hostname() && stateOf(one) !== "alive") rmSync(file, { force: true });
  const file = join(place, `${process.pid}-${randomBytes(6).toString("hex")}.json`);
  try {
    writeFileSync(file, `${JSON.stringify({ ...thisProcess(), folder: here(), url, adminToken, caFile })}\n`, {
      ...{ mode: 0o600, flag: "wx" },
    });
  } catch (error) {
    return unannounced(`${file} cannot be written (${codeOf(error)})`);
  }
  return () => rmSync(file, { force: true });
}
