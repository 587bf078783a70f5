/** Statements to the database: bounded in time, on whatever connection works, with errors that never show the password. */
import { Pool } from "pg";
import { StorageError } from "../store.ts";
import { withoutPassword } from "./address.ts";

/** The most connections of one process. */
const maxConnections = 10;

/** Milliseconds to get a connection, and for the answer to a statement. Twice both is more than {@link timeoutMs}, which ends either. */
const connectWithin = 1500;
const answerWithin = 1500;

/** Milliseconds for a statement with all its attempts: a request that meets a hanging database is answered within 5 s. */
export const timeoutMs = 4000;

/** Milliseconds for a statement about many records at once. */
const longAnswerWithin = 15_000;

interface QueryResult {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** The first attempt broke off, so it may have been carried out as well. */
  readonly repeated: boolean;
}

export interface Database {
  /** The URL without the password. */
  readonly location: string;
  /** Runs a statement that may be repeated. @throws {StorageError} */
  query(text: string, values: readonly unknown[]): Promise<QueryResult>;
  /** Runs statements on one connection, in a transaction. @throws {StorageError} */
  transaction<T>(begin: string, work: (query: Query) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export type Query = (text: string, values?: readonly unknown[]) => Promise<QueryResult["rows"]>;

/** The code of an error that the database itself reports (SQLSTATE), where it means that the statement had no effect. */
function codeOfRefusal(error: unknown): string | null {
  if (!(error instanceof Error && "code" in error && typeof error.code === "string" && "severity" in error))
    return null;
  // These are about the connection, the login, or a server that stops or starts.
  return /^(08|28|3D|57P|53300)/.test(error.code) ? null : error.code;
}

const messageOf = (error: unknown): string => {
  // One error for each address of a host name.
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(", ");
  const message = error instanceof Error ? error.message : String(error);
  return message.includes("client password must be a string") ? "it asks for a password, and there is none" : message;
};

/** The refusal of a request that the database would have to answer. */
export const away = (cause: unknown): StorageError =>
  new StorageError(`the database does not answer: ${messageOf(cause)}`, { cause, away: true });

/** Waits for the work, but no longer. @param failure what it then ends with */
export async function within<T>(ms: number, work: Promise<T>, failure: (error: Error) => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(failure(new Error("no answer in time"))), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** How the connections of instances are named, one name for each, so that they can be counted. */
export const nameOfServers = "idp server ";

/** @param name of its connections, of up to 63 bytes @param log receives notes: the database does not answer, it answers again */
export function openDatabase(url: string, log: (note: string) => void, name = "idp command"): Database {
  const location = withoutPassword(url);
  const pool = new Pool({
    connectionString: url,
    // Reads share one question, and changes of an issuer one append: an issuer needs two, and a snapshot a third.
    max: maxConnections,
    // A server stays visible to the others.
    min: name.startsWith(nameOfServers) ? 1 : 0,
    application_name: name,
    connectionTimeoutMillis: connectWithin,
    query_timeout: answerWithin,
    keepAlive: true,
    idleTimeoutMillis: 30_000,
  });
  // A connection that breaks also emits an error, which would end the process. The next statement makes another connection, and one that was
  // running rejects. The pool listens only to connections that nobody uses; a transaction has one for itself.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  let isAway = false;

  function note(error?: unknown): void {
    if (isAway === (error !== undefined)) return;
    isAway = !isAway;
    log(isAway ? `${location} does not answer: ${messageOf(error)}` : `${location} answers again`);
  }

  function failure(error: unknown): StorageError {
    if (codeOfRefusal(error) !== null) return new StorageError(`${location}: ${messageOf(error)}`, { cause: error });
    note(error);
    return away(error);
  }

  /** Large values take longer to send. */
  const timeFor = (values: readonly unknown[]): number =>
    answerWithin +
    values.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), 0) / 1000;

  async function twice(text: string, values: readonly unknown[]): Promise<QueryResult> {
    const statement = { text, values: [...values], query_timeout: timeFor(values) };
    for (let repeated = false; ; repeated = true) {
      try {
        const { rows } = await pool.query<Record<string, unknown>>(statement);
        note();
        return { rows, repeated };
      } catch (error) {
        if (repeated || codeOfRefusal(error) !== null) throw failure(error);
      }
    }
  }

  async function transaction<T>(begin: string, work: (query: Query) => Promise<T>): Promise<T> {
    const client = await pool.connect().catch((error: unknown) => {
      throw failure(error);
    });
    const query: Query = async (text, values = []) => {
      const statement = { text, values: [...values], query_timeout: longAnswerWithin };
      const { rows } = await client.query<Record<string, unknown>>(statement).catch((error: unknown) => {
        throw failure(error);
      });
      return rows;
    };
    try {
      await query(begin);
      const result = await work(query);
      await query("commit");
      note();
      client.release();
      return result;
    } catch (error) {
      // The connection ends, and with it the transaction.
      client.release(true);
      throw error;
    }
  }

  return {
    location,
    query: (text, values) => within(timeoutMs - answerWithin + timeFor(values), twice(text, values), failure),
    transaction,
    close: () => pool.end(),
  };
}
