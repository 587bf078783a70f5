import type { Refusal } from "../../base/errors.ts";
import type { Outcome } from "./outcome.ts";

/**
 * A request as `http` saw it, and as the ledger keeps it. `recording.ts` converts one into the other; `request-json.ts` writes what is kept as
 * the JSON that others read.
 */

/** What the log line of a request says. */
export interface KeptEvent {
  /** Unique in the process: `r17`. Null: the ledger does not hold the request, such as a call of the control API. */
  readonly id: string | null;
  /** ISO 8601. */
  readonly time: string;
  /** The name of the route: "token", "login"; "none" for an unknown path. */
  readonly endpoint: string;
  readonly method: string;
  /** The path without the query, which may hold codes and tokens. */
  readonly path: string;
  /** 0: the connection was closed before the response. */
  readonly status: number;
  /** Milliseconds until the response was sent. */
  readonly ms: number;
  readonly client: string | null;
  /** Username. */
  readonly user: string | null;
  /** Null: the status says it all. */
  readonly outcome: Outcome | null;
  /** Null: it was not refused. */
  readonly refusal: Refusal | null;
  /** The fault that spoiled the response. */
  readonly fault: string | null;
  /** The ids of the faults that it took; absent: none. */
  readonly faults?: readonly string[];
  /** How far the clock was moved, in seconds; null: not at all. */
  readonly clock: number | null;
  /** The name of the token that a request to the control API had; absent: it is no such request. */
  readonly by?: string;
  /** Where it came from, as the limits count it; absent: from this machine. */
  readonly address?: string;
}

/** A request and its outcome. It holds no usable secret. */
export interface KeptRequest extends Omit<KeptEvent, "id" | "by" | "address"> {
  readonly id: string;
  /** All requests of one sign-in have the same flow. Null: the request belongs to none. */
  readonly flow: string | null;
  readonly grant_type: string | null;
  /** What was granted, else what was asked for. */
  readonly scope: string | null;
  /** The parameters of query and body, and the headers `authorization` and `dpop`; see `redact-record.ts`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Where a redirect led, or the JSON of the response; null for a page. */
  readonly response: Readonly<Record<string, unknown>> | null;
  /** The metadata document of the client, without secrets; null: the request used none. */
  readonly metadata_document: unknown;
}

/** What a route reports about a request. */
export interface RequestNotes {
  /** The grant type of a request that names none. */
  grantType?: string;
  client?: string | null;
  user?: string | null;
  outcome?: Outcome;
  /** Absent: the request was not refused. */
  refusal?: Refusal;
  /** Who sent it to the control API, or the form of the inspector. */
  by?: string;
  /** Where it came from, as the limits count it; absent: from this machine. */
  address?: string;
  /** The flow that the request belongs to, where its error page names it; absent: the ledger finds it. */
  flow?: string;
  /** Which texts of a refused request are registered, and may be shown. */
  registered?: ReadonlySet<string>;
  /** The answer is no refusal, but nothing of the request was compared with what is registered. */
  unchecked?: true;
  /** The metadata document that the request used, or was refused for; without secrets. */
  document?: unknown;
  /** The messages of SAML that were sent or received, by the names of their parameters: the XML in parts, of which secrets are apart. */
  saml?: Readonly<Record<string, readonly (string | { readonly secret: string })[]>>;
  /** The faults that the request took, each with its id and what it did. */
  fault?: string;
  /** Their ids. */
  faults?: readonly string[];
  /** Where the response redirects (or posts a form) to, or the text of its JSON. Absent: a page. */
  answer?: RecordedResponse;
}

type RecordedResponse =
  | { readonly location: string; readonly parameters?: readonly (readonly [name: string, value: string])[] }
  | { readonly json: string };

/** A request as it was sent, and its outcome. */
export interface Exchange {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** How far the clock was moved, in seconds; null: not at all. */
  readonly clock: number | null;
  readonly endpoint: string;
  readonly method: string;
  readonly path: string;
  /** Path and query. */
  readonly url: string;
  readonly body: unknown;
  readonly authorization: string | undefined;
  readonly dpop: string | undefined;
  /** 0: the connection was closed before the response. */
  readonly status: number;
  /** Whether the whole response was sent. */
  readonly isSent: boolean;
  readonly ms: number;
  readonly notes: RequestNotes;
}

/** Receives the log line of a request, and what makes its record; null: the ledger does not hold it. */
export type OnRequest = (event: KeptEvent, read: () => KeptRequest | null) => void;

/** The record of the requests that an issuer received. A request becomes a record, without its secrets, when somebody reads it. */
export interface Ledger {
  /** Takes a request as it came. */
  add(exchange: Exchange, onRequest?: OnRequest): void;
  /** Resolves when all that other processes wrote before the call can be read here. What is below says what was known then. @throws {StorageError} */
  refresh(): Promise<void>;
  /** Resolves when every request that was answered before the call can be read here, whichever process answered it. @throws {StorageError} */
  settle(): Promise<void>;
  /** How many requests it holds. */
  size(): number;
  /** How many requests are missing, because they could not be written. */
  lost(): number;
  /** The oldest first. */
  list(): readonly KeptRequest[];
  find(id: string): KeptRequest | undefined;
  /** The place of a request among all others; null: the text is not an id. */
  placeOf(id: string): number | null;
  /** The flow of a request that is being refused, for its error page; null: it belongs to none. The caller notes it. */
  flowOf(request: Pick<Exchange, "endpoint" | "url" | "body">): string | null;
  /** The name that a flow has now. @param name any that it had */
  flowNamed(name: string): string;
  /** @throws {StorageError} */
  clear(): Promise<void>;
  /** Remembers what an operator did, for the inspector. */
  act(act: Omit<Act, "after">): void;
  /** The oldest first. */
  acts(): readonly Act[];
  /** Whether requests to an endpoint were dropped for lack of room, after this place. */
  hasDropped(endpoint: string | null, after: number): boolean;
  /** Calls the listener for each new request. Refresh it before. @returns a function that ends this */
  subscribe(listener: (record: KeptRequest) => void): () => void;
  /** Whether a value is the one that was recorded. */
  readonly isSame: (wanted: string, recorded: unknown) => boolean;
  /** The value of a parameter in words: a fingerprint, where it may be a secret. */
  readonly shown: (name: string, value: string) => string;
  /** Ends every wait for requests. */
  close(): void;
  /** Aborted when the ledger closes. */
  readonly closing: AbortSignal;
  /** Hands on what is left, before the process stops. Never rejects. */
  end(): Promise<void>;
}

/** What an operator did to the server. */
export interface Act {
  /** Milliseconds since 1970, as in the requests. */
  readonly time: number;
  /** The words of the command. */
  readonly command: readonly string[];
  /** The name of their token; null: a command on the folder, or the library. */
  readonly by: string | null;
  /** The place of the last request before it: a moved clock puts times in another order. */
  readonly after: number;
}

/** How many an issuer keeps. */
export const maxActs = 200;

/** The id of a request: `r17`; of an instance on a shared store, `b-41`. */
export const idForm = /^(?:r|[a-z]{1,8}-)\d{1,15}$/;
