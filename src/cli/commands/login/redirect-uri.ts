import { callbackPath } from "../../../client/callback-listener.ts";
import { OperationError } from "../../../core/errors.ts";
import { hasOpenPort, matchRedirectUri } from "../../../core/clients/redirect-uri.ts";
import { commandOn } from "../../../core/hint.ts";
import type { LoginPlace } from "./place.ts";

/** Which redirect URI a login uses. */

const loopback = (port: number | "*"): string => `http://127.0.0.1:${port}${callbackPath}`;

/** The port for clients that have to register one. */
const namedPort = 8400;

/**
 * The port of 127.0.0.1 to listen on; 0 for a free one.
 * @param wanted the value of `--redirect-port`
 * @throws {OperationError} refused if the client does not allow it, with the command that allows it
 */
export function portFor({ client, registered }: LoginPlace, wanted: number | undefined): number {
  if (registered === null) return wanted ?? 0;
  const { redirectUris, isPublic } = registered;
  // If a confidential client has an open port, the server allowed it at registration.
  const ports = isPublic || redirectUris.some(hasOpenPort) ? "open" : "none";
  const allows = (port: number): boolean => redirectUris.some((uri) => matchRedirectUri(uri, loopback(port), ports));
  if (wanted !== undefined && allows(wanted)) return wanted;
  if (wanted === undefined) {
    if (ports === "open" && allows(namedPort) && allows(namedPort + 1)) return 0;
    const named = redirectUris
      .map((uri) => Number(/^http:\/\/127\.0\.0\.1:(\d+)\/callback$/.exec(uri)?.[1]))
      .find(allows);
    if (named !== undefined) return named;
  }
  // RFC 8252 7.3: an open port is for native apps, which are public clients (8.4).
  const missing = loopback(wanted ?? (isPublic ? "*" : namedPort));
  throw new OperationError("refused", `client "${client.id}" does not allow the redirect URI ${missing}`, {
    hint: {
      text: "Allow it",
      command: commandOn(["idp", "clients", "edit"], client.id, ["--add-redirect-uri", missing]),
    },
  });
}

/**
 * The redirect URI if no browser returns to it: any registered one, because nothing has to listen there.
 * @throws {OperationError} refused if there is none
 */
export function redirectUriWithoutBrowser({ client, registered }: LoginPlace, wanted: number | undefined): string {
  const port = String(wanted ?? namedPort);
  if (registered === null) return loopback(Number(port));
  const [first] = registered.redirectUris;
  if (first === undefined) {
    throw new OperationError("refused", `client "${client.id}" has no redirect URI, so no user can sign in to it`, {
      hint: { text: "For itself", command: ["idp", "login", "--client", client.id, "--flow", "client-credentials"] },
    });
  }
  return hasOpenPort(first) ? first.replace(":*", `:${port}`) : first;
}
