/** What a check asks of the server, whatever it checks. */

/** A fault, as `POST faults` takes it. */
export type Fault = Readonly<Record<string, unknown>> & { readonly endpoint: string };

/** The members of a record of the ledger that are used here. */
export interface Recorded {
  readonly id: string;
  readonly time: string;
  readonly endpoint: string;
  readonly method: string;
  readonly status: number;
  readonly client: string | null;
  readonly grant_type: string | null;
  readonly error: string | null;
  readonly fault: string | null;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly response: Readonly<Record<string, unknown>> | null;
}
