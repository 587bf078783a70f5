import { baseOf } from "../../core/base/endpoints.ts";
import { OperationError } from "../../core/base/errors.ts";
import { readNamedFile } from "../input/read.ts";
import type { Invocation } from "../invocation.ts";
import { isWebUrl } from "../../text/url.ts";
import { readLock } from "../../store/json/lock.ts";
import { memoryServersHere } from "./memory-servers.ts";
import type { Server } from "../../serve/remote.ts";

/** The server that `--url` names, and its admin token. */

/** `--url` or IDP_URL, which must be an address. @throws {OperationError} usage */
export function checkUrl({ url, env }: Pick<Invocation, "env"> & { readonly url: string }): string {
  if (isWebUrl(url)) return url;
  const name = env.IDP_URL === url ? "IDP_URL" : "--url";
  throw new OperationError("usage", `${name} takes an address such as http://localhost:4370; this is "${url}"`);
}

/** The server of `--url`, with the admin token from a file or the environment. @throws {OperationError} usage */
export function serverOfUrl(cli: Invocation, url: string): Server {
  const { adminTokenFile, env } = cli;
  const given = adminTokenFile === null ? adminTokenOf(env) : readTokenFile(adminTokenFile);
  const address = checkUrl({ url, env });
  const own = serverOfFolder(cli, address);
  return { url: address, adminToken: given ?? own?.adminToken ?? null, caFile: own?.caFile };
}

/** The server of the data folder, or one in memory that was started here, which has this very address, or this one is below it. */
function serverOfFolder(
  { data, store, env }: Invocation,
  url: string,
): { readonly adminToken: string | null; readonly caFile?: string | undefined } | undefined {
  const lock = store === null ? readLock(data) : null;
  const isServer = lock?.state === "alive" && lock.kind === "server";
  const asked = baseOf(url);
  return [...(isServer ? [lock] : []), ...memoryServersHere(env)].find(
    (one) => one.url !== null && (asked === baseOf(one.url) || asked.startsWith(`${baseOf(one.url)}/i/`)),
  );
}

/** IDP_ADMIN_TOKEN without the line break at the end of files and CI secrets; null if it is not set. @throws {OperationError} usage */
export function adminTokenOf({ IDP_ADMIN_TOKEN: token = "" }: NodeJS.ProcessEnv): string | null {
  const trimmed = token.trim();
  return trimmed === "" ? null : sendable(trimmed, "IDP_ADMIN_TOKEN");
}

/** Refuses characters that Node.js does not send in a header (RFC 9110 5.5). @throws {OperationError} usage */
function sendable(token: string, from: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new OperationError("usage", `${from} has a character that an Authorization header cannot carry`, {
    hint: "Letters, digits and - . _ ~ + / only, as the server was given it or as the lock.json of its data folder has it",
  });
}

function readTokenFile(file: string): string {
  const text = readNamedFile(file, { code: "usage", what: `--admin-token-file ${file}` })
    .toString()
    .trim();
  // A lock file is accepted in place of the bare token.
  const token = text.startsWith("{") ? (/"adminToken"\s*:\s*"([^"]+)"/.exec(text)?.[1] ?? "") : text;
  if (token === "") throw new OperationError("usage", `--admin-token-file ${file} holds no token`);
  return sendable(token, `--admin-token-file ${file}`);
}
