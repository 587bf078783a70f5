import type { Exchange, RequestEvent, RequestRecord } from "./record.ts";

/** Receives the log line of a request, and what makes its record; null: the ledger does not hold it. */
export type OnRequest = (event: RequestEvent, read: () => RequestRecord | null) => void;

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
  list(): readonly RequestRecord[];
  find(id: string): RequestRecord | undefined;
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
  subscribe(listener: (record: RequestRecord) => void): () => void;
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
  readonly command: string;
  /** The name of their token; null: a command on the folder, or the library. */
  readonly by: string | null;
  /** The place of the last request before it: a moved clock puts times in another order. */
  readonly after: number;
}

/** How many an issuer keeps. */
export const maxActs = 200;

/** The id of a request: `r17`; of an instance on a shared store, `b-41`. */
export const idForm = /^(?:r|[a-z]{1,8}-)\d{1,15}$/;
