import type { OAuthError } from "./errors.ts";

/** The answer of the authorization endpoint to the client, once client and redirect URI are settled. */

/** Where and how the client wants its answer. */
export interface ResponseTarget {
  readonly redirectUri: string;
  readonly state: string | null;
  readonly mode: "query";
}

/** A refusal that goes to the client by redirect: for everything that fails after client and redirect URI are proven. */
export class RedirectedError extends Error {
  override readonly name = "RedirectedError";
  readonly error: OAuthError;
  readonly target: ResponseTarget;
  constructor(error: OAuthError, target: ResponseTarget) {
    super(error.message, { cause: error });
    this.error = error;
    this.target = target;
  }
}

/** The address to send the browser to; the redirect URI itself stays as it was registered, to the letter. */
export function responseLocation(
  issuer: string,
  target: ResponseTarget,
  parameters: Readonly<Record<string, string>>,
): string {
  const query = new URLSearchParams(parameters);
  if (target.state !== null) query.set("state", target.state);
  // RFC 9207 2: the client can tell whose answer it is.
  query.set("iss", issuer);
  return `${target.redirectUri}${target.redirectUri.includes("?") ? "&" : "?"}${query.toString()}`;
}

/** The parameters of a refusal (RFC 6749 4.1.2.1). */
export const errorParameters = (error: OAuthError): Record<string, string> => ({
  error: error.code,
  // RFC 6749 4.1.2.1 allows printable ASCII without quote and backslash; a client that checks it must not choke on ours.
  error_description: error.message.replaceAll(/["\\]/g, "'").replaceAll(/[^\x20-\x7e]/g, "?"),
});
