/** A request, or what an operator did, as a process hands it on. */
export interface LogEntry {
  /** Unique in the log: an entry that is appended again is there once. */
  readonly id: string;
  /** The time by the clock of the log, in milliseconds since 1970. */
  readonly at: number;
  /** The endpoint of the request; null: it is what an operator did. */
  readonly endpoint: string | null;
  /** JSON. */
  readonly content: string;
}

/** When something happened, by the clock of the log. Nobody has that clock at hand, so its time is known within bounds. */
export interface Moment {
  /** Probably. It is the order of entries. */
  readonly at: number;
  /** Certainly not before: what may have been before a clear is not counted after it. */
  readonly earliest: number;
}

/** What a process had no room for. */
interface LostEntries {
  /** How many requests could not be written in time. */
  readonly count: number;
  /** When the last request to each endpoint was dropped. */
  readonly dropped: Readonly<Record<string, Moment>>;
}

/** What a process missed. */
export interface LogPart {
  readonly entries: readonly LogEntry[];
  /** The number of the last of these entries. */
  readonly place: number;
  /** Whether these are all. If not, the next part begins after `place`. */
  readonly isAll: boolean;
  /** What the clock of the log showed meanwhile. */
  readonly now: number;
  /** No entry up to this time counts, also one that arrives later. */
  readonly cleared: number;
  /** How many requests could not be written, since then. */
  readonly lost: number;
  /** When the last request to each endpoint was dropped for lack of room. */
  readonly dropped: Readonly<Record<string, number>>;
}

/**
 * The requests that several processes got for one issuer, in the order in which they arrived. Only a store that processes share has it. Nothing
 * here is lasting data: no request waits for it.
 */
export interface RequestLog {
  /** @param lost what the caller had no room for since the last call @throws {StorageError} */
  append(entries: readonly (LogEntry & Moment)[], lost: LostEntries): Promise<void>;
  /** @param place 0: from the beginning @throws {StorageError} */
  since(place: number): Promise<LogPart>;
  /** Drops the oldest requests. @param size how many stay @throws {StorageError} */
  trim(size: number): Promise<void>;
  /** Drops all entries until now. @returns the time, by the clock of the log @throws {StorageError} */
  clear(): Promise<number>;
}
