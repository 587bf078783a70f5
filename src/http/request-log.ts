import type { Mismatch } from "../core/errors.ts";

/** What the server says about one request once it is answered: the first screen's log, and a line of `idp start --json`. */
export interface RequestEvent {
  /** ISO 8601. */
  readonly time: string;
  readonly method: string;
  /** The name of the route: "token", "login", "api"; "none" for a path at which there is nothing. */
  readonly endpoint: string;
  /** Without the query: that may hold codes and tokens. */
  readonly path: string;
  readonly status: number;
  /** Milliseconds until the answer was handed over. */
  readonly ms: number;
  readonly client: string | null;
  /** Username. */
  readonly user: string | null;
  /** What happened, in a few words: "login page", "authorization_code, PKCE ok". */
  readonly note: string | null;
  /** The reason of a refusal: a code and a sentence, "invalid_grant: the code was already used". */
  readonly error: string | null;
  /** If a value is not a registered one: what was sent, and what is registered. */
  readonly mismatch: Mismatch | null;
  /** The command or setting that fixes it. */
  readonly fix: string | null;
}
