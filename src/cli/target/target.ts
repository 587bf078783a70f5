/*
 * cli/target: what a command works on. target.ts chooses, serve/remote.ts calls a running server, folder.ts runs the operation on the data
 * folder or on a shared store, which store-flag.ts checks.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { OperationError, RemoteError } from "../../core/base/errors.ts";
import type { Route } from "../../core/admin/operations/route.ts";
import type { Runner } from "../../core/admin/operations/operation.ts";
import { operations, type OperationName } from "../../core/admin/operations/routes.ts";
import type { OperationInput, OperationOutput } from "../../core/admin/operations/table.ts";
import { folderOf } from "../../store/json/issuer-stores.ts";
import { readLock } from "../../store/json/lock.ts";
import { LockedError } from "../../store/store.ts";
import type { Invocation } from "../invocation.ts";
import { unknownIssuer } from "../../core/records/issuers/issuer.ts";
import { belowUrl } from "./issuer-flag.ts";
import { issuerOnPort, usualPort } from "./usual-port.ts";
import { callServer, type Server } from "../../serve/remote.ts";
import { memoryServersHere, type MemoryServer } from "./memory-servers.ts";
import { checkUrl, serverOfUrl } from "./server-of-url.ts";
import type { Hint } from "../../core/base/hint.ts";

/**
 * What a command works on: `--url`, else the server that holds the lock of the data folder, else the one in memory that was started in this
 * folder (memory-servers.ts), else the folder itself. With
 * `--store`: the shared store, beside the instances that run on it.
 */
export interface Target {
  /** Null for the data itself: a folder without a server, or a shared store. */
  readonly server: Server | null;
  /** Where a change was made, in words for stderr. */
  readonly where: string;
  /** Runs an operation. The result is the same on a server and on a folder. */
  call<N extends OperationName>(
    name: N,
    input: OperationInput<N>,
    progress?: Runner["progress"],
  ): Promise<OperationOutput<N>>;
}

/** The command that starts a server on this data. */
export const startCommand = ["idp", "start"];

/** What names a server: the variable, where the `--url` of a command is something else. */
export type ServerWord = "--url " | "IDP_URL=";

/**
 * How to reach a server on the usual port that uses other data or memory, if none runs on this data. Null if there is none, or if `--url`
 * named a server.
 */
export async function hintElsewhere(
  { env, url }: Pick<Invocation, "env" | "url">,
  word: ServerWord = "--url ",
): Promise<string | null> {
  const port = url === null ? usualPort(env) : null;
  const issuer = port === null ? null : await issuerOnPort(port);
  if (issuer === null) return null;
  return [
    `Another one runs at ${issuer}, on other data or in memory`,
    "On other data: --data DIR, or type this in its folder",
    `In memory: ${word}${issuer}, with the IDP_ADMIN_TOKEN it was started with`,
  ].join("\n");
}

/**
 * The next step if no server is found. If one runs elsewhere, starting another would be refused, and is not what the person wants.
 * @param more another way, as a sentence before it
 */
export const startHint = async (
  cli: Pick<Invocation, "env" | "url">,
  more = "",
  word: ServerWord = "--url ",
): Promise<string | Hint> =>
  (await hintElsewhere(cli, word)) ?? { text: `${more}To start a server`, command: startCommand };

/**
 * The error that no server was found. A shared store does not know where its instances listen.
 * @param none the beginning of the sentence, up to "runs on"
 * @param more another way, as a sentence
 */
export async function noServer(cli: Invocation, none = "no server", more = ""): Promise<OperationError> {
  if (cli.store === null) {
    return new OperationError("no_server", `${none} runs on ${cli.data}`, { hint: await startHint(cli, more) });
  }
  return new OperationError("no_server", `this needs one of the servers on ${cli.place}, and none was named`, {
    hint: `${more}Name one with --url URL, and its admin token with IDP_ADMIN_TOKEN.`,
  });
}

/** The error that no data was ever stored here. */
const noData = async (cli: Invocation): Promise<OperationError> =>
  new OperationError("not_found", `there is no data in ${cli.place} yet`, {
    hint: await startHint(cli, cli.store === null ? "For other data, add --data DIR. " : ""),
  });

/** Where the server is, or will be: `--url`, else what the lock of the data folder says; null until it does. @throws {OperationError} usage */
export function serverAddress(cli: Pick<Invocation, "url" | "data" | "store" | "issuer" | "env">): string | null {
  const { url, store, issuer, env } = cli;
  if (url !== null) return checkUrl({ url, env });
  if (store !== null) return null;
  const lock = readLock(cli.data);
  const address = lock === null || lock.state === "dead" || lock.kind !== "server" ? null : lock.url;
  const found = address ?? memoryServerHere(env, null)?.url ?? null;
  return found === null ? null : belowUrl(found, issuer);
}

/** How long to wait for a server that is starting, in milliseconds. */
const startingTimeoutMs = 10_000;

/** A server that was found by its lock. */
type FoundServer = Server & { readonly pid: number; readonly startedAt: string };

/**
 * The running server of the data folder, else the one in memory that was started here, by their locks; null if none runs.
 * @throws {OperationError} conflict, if there are several; no_server, if one does not get ready
 */
export async function findServer(cli: Invocation, word: ServerWord = "--url "): Promise<FoundServer | null> {
  if (cli.store !== null) return null;
  const locked = await serverOfData(cli);
  const inMemory = memoryServerHere(cli.env, locked, word);
  if (inMemory === null) return locked;
  return { ...inMemory, url: belowUrl(inMemory.url, cli.issuer), state: "alive" };
}

/**
 * The server in memory that was started in this folder; null without one.
 * @param other the server of the data folder
 * @throws {OperationError} conflict if there is more than one server that could be meant
 */
function memoryServerHere(
  env: NodeJS.ProcessEnv,
  other: Server | null,
  word: ServerWord = "--url ",
): MemoryServer | null {
  const found = memoryServersHere(env);
  const [only, ...more] = found;
  if (only === undefined) return null;
  if (other === null && more.length === 0) return only;
  const all = [...(other === null ? [] : [other]), ...found].map(({ url }) => url);
  throw new OperationError("conflict", `several servers run here: ${all.join(", ")}`, {
    hint: `Name one: ${word}${all[0] ?? ""}`,
  });
}

/** The server that holds the lock of the data folder. Waits for one that is starting. */
async function serverOfData(cli: Invocation): Promise<FoundServer | null> {
  for (let waited = 0; ; waited += 20) {
    const lock = readLock(cli.data);
    if (lock === null || lock.state === "dead" || lock.kind !== "server") return null;
    if (lock.url !== null && lock.adminToken !== null)
      return { ...lock, url: belowUrl(lock.url, cli.issuer), adminToken: lock.adminToken, state: lock.state };
    if (waited >= startingTimeoutMs) {
      throw new OperationError(
        "no_server",
        `the idp of process ${lock.pid} has been starting since ${lock.startedAt}`,
        {
          hint: "Wait for it, or end that process.",
        },
      );
    }
    await delay(20);
  }
}

const onServer = (server: Server): Target => ({
  server,
  where: `via the running server ${server.url}`,
  call: (name, input, progress) => callServer(server, name, input, progress),
});

/**
 * Finds what a command works on.
 * @param issuer the issuer of tokens that are issued on a folder; absent for the one that it was last served under
 * @throws {OperationError} not_found if there is no data
 */
export async function findTarget(cli: Invocation, issuer?: string): Promise<Target> {
  if (cli.url !== null) return onServer(serverOfUrl(cli, cli.url));
  const server = await findServer(cli);
  if (server === null) return onData(cli, issuer);
  const target = onServer(server);
  return {
    ...target,
    call: (name, input, progress) =>
      target.call(name, input, progress).catch(async (error: unknown) => {
        await requireIssuer(cli, error);
        throw server.state === "elsewhere" && isUnanswered(error) ? heldByAnotherMachine(cli, server) : error;
      }),
  };
}

/** Says which issuers a running server has, where a command names another one. @throws {OperationError} not_found */
async function requireIssuer(cli: Invocation, error: unknown): Promise<void> {
  const { issuer: name } = cli;
  if (name === null || !(error instanceof RemoteError) || error.code !== "not_found") return;
  // Whoever may not see them gets the refusal as it is.
  const issuers = await (await findTarget({ ...cli, issuer: null })).call("issuers.list", {}).catch(() => null);
  const names = issuers?.map((one) => one.name) ?? [name];
  if (!names.includes(name)) throw unknownIssuer(name, names);
}

const isUnanswered = (error: unknown): boolean => error instanceof OperationError && error.code === "no_server";

/** The error for a lock of a machine or container that is gone or cannot be reached, so that this machine cannot see what holds the data. */
const heldByAnotherMachine = ({ data }: Invocation, { url, pid }: FoundServer): OperationError =>
  new OperationError(
    "no_server",
    `an idp of another machine or container holds the data (pid ${pid}), and nothing answers at ${url}`,
    {
      hint: { text: "If it no longer runs, remove its lock", command: ["rm", join(data, "lock.json")] },
    },
  );

function onData(cli: Invocation, issuer: string | undefined): Target {
  const { store, place } = cli;
  const isMissing = (): boolean => store === null && !existsSync(join(cli.data, "data.json"));
  return {
    server: null,
    where: `in ${store === null ? join(folderOf(cli.data, cli.issuer), "data.json") : place}`,
    async call<N extends OperationName>(
      name: N,
      input: OperationInput<N>,
      progress?: Runner["progress"],
    ): Promise<OperationOutput<N>> {
      const operation: Route = operations[name];
      if (operation.needsServer === true || (operation.needsServer !== false && store === null)) {
        throw await noServer(cli, "this needs a running server, and none");
      }
      if (!operation.createsData && isMissing()) throw await noData(cli);
      const of = name.startsWith("issuers.") ? null : cli.issuer;
      const { runOnData } = await import("./folder.ts");
      try {
        return await runOnData(cli, name, input, { of, issuer, progress });
      } catch (error) {
        // A server took the lock after it was looked at.
        const server = error instanceof LockedError ? await findServer(cli) : null;
        if (server === null) throw error;
        return callServer(server, name, input, progress);
      }
    },
  };
}
