import { setTimeout as delay } from "node:timers/promises";
import { baseOf } from "../core/base/endpoints.ts";
import { OperationError, RemoteError, type Problem } from "../core/base/errors.ts";
import { progressHeader, requestOf } from "../core/admin/operations/route.ts";
import type { Runner } from "../core/admin/operations/operation.ts";
import { operations, type OperationName } from "../core/admin/operations/routes.ts";
import type { OperationInput, OperationOutput } from "../core/admin/operations/table.ts";
import { isObject } from "../text/json.ts";
import { isLoopbackUrl } from "../net/address.ts";
import type { Hint } from "../core/base/hint.ts";

/** An operation on a running server, through its control API. */

export interface Server {
  /** Where it listens, or its issuer; everything is served below it. */
  readonly url: string;
  /** Null if it was not given. The server is called anyway, because the real problem may be that none runs. */
  readonly adminToken: string | null;
  /** The process that holds the data, if the server was found by the lock; `state`: whether it is a process of this machine. */
  readonly pid?: number;
  /** The certificate that it serves https with, if the server made it (`--https`). */
  readonly caFile?: string | undefined;
  readonly state?: "alive" | "elsewhere";
}

const tokenHint =
  "Give it with IDP_ADMIN_TOKEN or --admin-token-file FILE; lock.json in its data folder works too. For a server in memory, run this in the folder where it was started, or start it with IDP_ADMIN_TOKEN.";

/** How many milliseconds without an answer to wait before asking whether the server answers at all. */
const silence = 5000;

/** Operations that keep a healthy server busy, because they read all data. */
const slow: readonly OperationName[] = ["seed", "import", "reset"];
const healthTimeoutMs = (name: OperationName): number => (slow.includes(name) ? 60_000 : 5000);

/**
 * Waits for a call as long as the server answers anything at all: one that was stopped (Ctrl+Z) accepts connections but does not answer.
 * @throws {OperationError} no_server
 */
async function whileAnswering<T>(
  { url, pid, state }: Server,
  limit: number,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const { signal } = over;
  const falls = async (): Promise<never> => {
    do await delay(silence, null, { signal });
    while ((await answererAt(url, limit)) !== null);
    if (pid === undefined) throw unanswered(url);
    throw new OperationError("no_server", `pid ${pid} holds the data but does not answer (was it stopped?)`, {
      hint:
        state === "alive"
          ? { text: `End it with kill -9 ${pid}, or let it continue`, command: ["kill", "-CONT", String(pid)] }
          : `Check it where it runs: ${url}`,
    });
  };
  try {
    return await Promise.race([call(signal), falls()]);
  } finally {
    over.abort();
  }
}

/**
 * Calls an operation, and waits as long as it takes.
 * @param progress called with what the server says of it
 * @throws {RemoteError} for what the operation refuses, as it would on a folder
 * @throws {OperationError} no_server if nothing answers; usage if the admin token is wrong
 */
export async function callServer<N extends OperationName>(
  server: Server,
  name: N,
  input: OperationInput<N>,
  progress?: Runner["progress"],
): Promise<OperationOutput<N>> {
  const { url, adminToken } = server;
  const { path, ...request } = requestOf(operations[name], input);
  const address = `${baseOf(url)}/_idp/api${path}`;
  const { status, body } = await whileAnswering(server, healthTimeoutMs(name), (signal) =>
    send(url, address, { ...request, adminToken, signal, progress }),
  );
  if (status === 204) return null as OperationOutput<N>;
  if (status < 300 && body !== undefined) return body as OperationOutput<N>;
  if (status === 401 && adminToken === null && isErrorBody(body)) {
    throw new OperationError("usage", `the server at ${url} needs its admin token`, { hint: tokenHint });
  }
  throw refusalOf(url, status, body);
}

interface JsonResponse {
  readonly status: number;
  /** Undefined if it is not JSON. */
  readonly body: unknown;
}

/** Uses `node:http`, because `fetch` takes 50 ms to load in each command. */
async function send(
  url: string,
  address: string,
  {
    method,
    adminToken,
    body,
    timeout,
    signal,
    progress,
  }: {
    readonly method: string;
    /** Null for what everybody may ask. */
    readonly adminToken: string | null;
    readonly body?: string;
    readonly timeout?: number;
    /** Ends the request. */
    readonly signal?: AbortSignal;
    readonly progress?: Runner["progress"];
  },
): Promise<JsonResponse> {
  const { request } = address.startsWith("https:") ? await import("node:https") : await import("node:http");
  const headers = {
    ...(adminToken !== null && { Authorization: `Bearer ${adminToken}` }),
    "Content-Type": "application/json",
    ...(progress !== undefined && { [progressHeader]: "wanted" }),
  };
  return new Promise((resolve, reject) => {
    const tls = { rejectUnauthorized: !isLoopbackUrl(address) };
    const limits = { ...(timeout !== undefined && { timeout }), ...(signal !== undefined && { signal }) };
    const options = { method, headers, agent: false, ...tls, ...limits };
    const sent = request(address, options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", fail);
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, body: parsed(Buffer.concat(chunks).toString("utf8")) });
      });
    });
    function fail(cause: Error): void {
      reject(unanswered(url, cause));
    }
    sent.on("information", ({ headers: said }) => {
      const [done, total] = String(said[progressHeader]).split("/").map(Number);
      if (done !== undefined && total !== undefined) progress?.(done, total);
    });
    sent.on("timeout", () => sent.destroy(new Error("no answer in time")));
    sent.on("error", fail);
    sent.end(body);
  });
}

const unanswered = (url: string, cause?: Error): OperationError =>
  new OperationError("no_server", `nothing answers at ${url}`, {
    hint: {
      text: "Without --url and IDP_URL a command works on the data folder. To start a server",
      command: ["idp", "start"],
    },
    cause,
  });

/** What answers at an address: an idp with this issuer, or something else; null if nothing does. @param timeout milliseconds */
export async function answererAt(url: string, timeout: number): Promise<{ readonly issuer: string | null } | null> {
  const health = `${baseOf(url)}/_idp/health`;
  const found = await send(url, health, { method: "GET", adminToken: null, timeout }).catch(() => null);
  if (found === null) return null;
  const { status, issuer } = Object(found.body) as Readonly<Record<string, unknown>>;
  return { issuer: status === "ok" && typeof issuer === "string" ? issuer : null };
}

/** The issuer of the idp that answers at an address; null if none does. @param timeout milliseconds */
export const issuerAt = async (url: string, timeout: number): Promise<string | null> =>
  (await answererAt(url, timeout))?.issuer ?? null;

/** Whether the one-time key can still be used in the address that a file leads to. Asking does not use it up. */
export async function isKeyUnused(url: string): Promise<boolean> {
  const found = await send(url, url, { method: "HEAD", adminToken: null, timeout: 5000 }).catch(() => null);
  return found?.status === 200;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface ErrorBody {
  readonly error: string;
  readonly error_description: string;
  readonly hint?: string;
  /** The parts of the hint, if it has a command. */
  readonly next?: unknown;
  readonly problems?: unknown;
  /** Whether the address is that of an issuer that the server does not have. */
  readonly unknown_issuer?: unknown;
}

const isProblem = (value: unknown): value is Problem =>
  isObject(value) && typeof value["path"] === "string" && typeof value["message"] === "string";

const problemsIn = ({ problems }: ErrorBody): readonly Problem[] =>
  Array.isArray(problems) ? problems.filter(isProblem) : [];

const isHint = (value: unknown): value is Hint =>
  isObject(value) && typeof value["text"] === "string" && isWords(value["command"]);

const isWords = (value: unknown): boolean => Array.isArray(value) && value.every((word) => typeof word === "string");

const hintIn = ({ hint, next }: ErrorBody): Hint | null =>
  isHint(next) ? next : hint === undefined ? null : { text: hint };

const isErrorBody = (body: unknown): body is ErrorBody =>
  typeof body === "object" &&
  body !== null &&
  "error" in body &&
  typeof body.error === "string" &&
  "error_description" in body &&
  typeof body.error_description === "string";

function refusalOf(url: string, status: number, body: unknown): Error {
  if (!isErrorBody(body)) {
    return new OperationError("no_server", `what answers at ${url} is not idp (status ${status})`, {
      hint: "Is the address right? It is the issuer that idp start prints.",
    });
  }
  if (status === 401) {
    return new OperationError("usage", body.error_description, { hint: tokenHint });
  }
  const { error_description: description, unknown_issuer: lost } = body;
  const list = ["idp", "issuers", "list", "--url", url.replace(/\/i\/[^/]*\/*$/, "")];
  const hint = hintIn(body) ?? (lost !== true ? null : { text: "To list the issuers", command: list });
  // A problem without a path only repeats the description.
  const isNews = ({ path, message }: Problem): boolean => path !== "" || message !== description;
  return new RemoteError(body.error, description, hint, problemsIn(body).filter(isNews));
}
