import type { Context } from "../context.ts";
import type { MessageMode } from "../base/layout/presets.ts";
import { inQuotes, type OAuthError } from "../base/errors.ts";

/** The answer of the authorization endpoint to the client, once client and redirect URI are settled. */

/** Where and how the client wants the response. */
export interface ResponseTarget {
  /** The issuer that received the request. */
  readonly issuer: string;
  readonly redirectUri: string;
  /** The pattern of the client that let it in; null: it is registered itself. */
  readonly pattern: string | null;
  readonly state: string | null;
  readonly mode: ResponseMode;
}

/**
 * How the response travels: in the address (OAuth 2.0 Multiple Response Types 2.1), or in a form that the browser posts (OAuth 2.0 Form Post
 * Response Mode 2).
 */
const responseModes = ["query", "fragment", "form_post"] as const;
export type ResponseMode = (typeof responseModes)[number] | MessageMode["mode"];

/** The response modes of an issuer. */
export const responseModesOf = ({ layout: { messages } }: Pick<Context, "layout">): readonly ResponseMode[] =>
  messages === undefined ? responseModes : [...responseModes, messages.mode];

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

/** The response: where it goes and what it says. */
export interface AuthorizationResponse {
  readonly target: ResponseTarget;
  /** Names and values. */
  readonly parameters: readonly (readonly [string, string])[];
}

/** Completes a response: adds `state` as it was sent, and `iss`, which tells the client who responded (RFC 9207 2). */
export const answerClient = (
  target: ResponseTarget,
  parameters: Readonly<Record<string, string>>,
): AuthorizationResponse => ({
  target,
  parameters: Object.entries({
    ...parameters,
    ...(target.state === null ? {} : { state: target.state }),
    iss: target.issuer,
  }),
});

/** The address that carries a response. The redirect URI stays exactly as it was registered; it never has a fragment. */
export function responseLocation({ target: { redirectUri, mode }, parameters }: AuthorizationResponse): string {
  const separator = mode === "fragment" ? "#" : redirectUri.includes("?") ? "&" : "?";
  return (
    redirectUri +
    separator +
    new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value])).toString()
  );
}

/** The parameters of a refusal (RFC 6749 4.1.2.1). */
export const errorParameters = ({ code, message }: Pick<OAuthError, "code" | "message">): Record<string, string> => ({
  error: code,
  error_description: inQuotes(message),
});
