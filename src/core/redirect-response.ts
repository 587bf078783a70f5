import { inQuotes, type OAuthError } from "./errors.ts";

/** The answer of the authorization endpoint to the client, once client and redirect URI are settled. */

/** Where and how the client wants its answer. */
export interface ResponseTarget {
  readonly redirectUri: string;
  readonly state: string | null;
  readonly mode: ResponseMode;
}

/** How the answer travels: in the address, or in a form that the browser posts (OAuth 2.0 Form Post Response Mode 2). */
export const responseModes = ["query", "form_post"] as const;
export type ResponseMode = (typeof responseModes)[number];

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

/** The answer: where it goes and what it says. */
export interface AuthorizationResponse {
  readonly target: ResponseTarget;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Completes an answer: `state` as it was sent, and `iss`, by which the client can tell whose answer it is (RFC 9207 2). */
export const answerClient = (
  issuer: string,
  target: ResponseTarget,
  parameters: Readonly<Record<string, string>>,
): AuthorizationResponse => ({
  target,
  parameters: { ...parameters, ...(target.state === null ? {} : { state: target.state }), iss: issuer },
});

/** The address that carries an answer; the redirect URI itself stays as it was registered, to the letter. */
export function responseLocation({ target, parameters }: AuthorizationResponse): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) query.append(name, value);
  return `${target.redirectUri}${target.redirectUri.includes("?") ? "&" : "?"}${query.toString()}`;
}

/** The parameters of a refusal (RFC 6749 4.1.2.1). */
export const errorParameters = (error: OAuthError): Record<string, string> => ({
  error: error.code,
  error_description: inQuotes(error.message),
});
