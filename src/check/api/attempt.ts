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
import type { ApiControl } from "./control.ts";
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
}

/** What is sent in place of the usual request. */
export interface Change {
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
  /** A good access token, or a changed one: the fields of `POST token/issue`. */
  token(change?: Readonly<Record<string, unknown>>): Promise<string>;
  /** @param token null: no credentials */
  send(token: string | null, change?: Change): Promise<Reply>;
  /** A proof for a request with this token. */
  prove(token: string): string;
  /** A document of the API, at an address that may be asked. */
  read(url: string): Promise<Reply>;
  /** Lets endpoints of idp answer 503, and starts the API again. */
  takeDown(endpoints: readonly string[]): Promise<void>;
}
