/*
 * check/api: `idp check api`. It asks whether an API refuses the requests that it must refuse.
 *
 * run.ts runs the cases. A case is a row in cases/refusals.ts, where one function judges all rows, or a file in cases/. forge.ts bends a good
 * token, dpop.ts makes proofs, judge.ts reads the answer of the API.
 *
 * attempt.ts is what a case works with. It reaches tokens, faults and the ledger through control.ts, which the command line connects to a
 * server.
 */
import type { Verdicts } from "../frame/run.ts";
import type { Reply } from "../../client/http.ts";
import type { Listener } from "../frame/listener.ts";
import type { ApiControl, Owner } from "./control.ts";
import type { ProofKey, ProofParts } from "./dpop.ts";

/** The API under test. */
export interface Api {
  readonly url: string;
  readonly method: string;
  /** A scope that the API asks for; null: none is named. */
  readonly needsScope: string | null;
  /** Tokens are bound to a key, and sent with proofs (RFC 9449). */
  readonly dpop: boolean;
  /** It is an MCP server, which gets an `initialize`. */
  readonly mcp: boolean;
  /** An address of what belongs to a user, with `{user}` for its owner; null: none is named. */
  readonly ownedUrl: string | null;
  readonly ownedBy: "sub" | "username" | "email";
  /** The `acr` that the API asks for; null: none. */
  readonly needsAcr: string | null;
  /** Seconds that a sign-in may be ago; null: as long as it likes. */
  readonly maxAge: number | null;
  /** Only tokens of users may be let in. */
  readonly usersOnly: boolean;
}

/** What is sent in place of the usual request. */
export interface Change {
  /** In place of the address of the API. */
  readonly url?: string;
  /** In place of `Bearer` or `DPoP`. */
  readonly scheme?: string;
  /** Members of the DPoP proof that are to be otherwise; null: no proof. */
  readonly proof?: ProofParts | null;
  /** The token of the proof; absent: the one that is sent, wherever that is. */
  readonly proofOf?: string;
  /** Makes the proof in place of the key to which the token is bound. */
  readonly key?: ProofKey;
  /** A proof that was made before. */
  readonly sameProof?: string;
  /** A form, which is posted. */
  readonly form?: URLSearchParams;
  /** Parameters of the address. */
  readonly query?: Readonly<Record<string, string>>;
}

export interface Attempt {
  readonly api: Api;
  readonly control: ApiControl;
  /** The key to which tokens are bound. */
  readonly key: ProofKey;
  /** Why the API does not answer since it was started again for this case; null: it does, or was not started again. */
  readonly startFailure: string | null;
  /** Of the cases before this one. */
  readonly verdicts: Verdicts;
  readonly wait: (milliseconds: number) => Promise<unknown>;
  /** Whether the API can reach the listeners of a case. */
  readonly isAtLoopback: boolean;
  /** A good access token, or a changed one: the fields of `POST token/issue`. */
  token(change?: Readonly<Record<string, unknown>>): Promise<string>;
  /** A good token of a client that speaks for itself. @param asUser its `sub` is a user's */
  serviceToken(asUser: boolean): Promise<string>;
  /** The address of what belongs to a user. */
  owned(owner: Owner): string;
  /** `aud` of good tokens. */
  audience(): Promise<unknown>;
  /** An address of this machine, until the case ends. */
  listen(bytes: (url: string) => string): Promise<Listener>;
  /** @param token null: no credentials */
  send(token: string | null, change?: Change): Promise<Reply>;
  /** A proof for a request with this token. */
  prove(token: string): string;
  /** A document of the API, at an address that may be asked. */
  read(url: string): Promise<Reply>;
  /** Lets endpoints of idp answer 503, and starts the API again. */
  takeDown(endpoints: readonly string[]): Promise<void>;
}
