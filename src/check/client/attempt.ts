/*
 * check/client: `idp check client`. It asks whether an app notices a response that is wrong. run.ts runs the cases: each is in cases/, or a row in
 * flaws/, where one function judges all rows. attempt.ts is what a case works with.
 */
import type { App, SignsIn } from "../frame/app.ts";
import type { Browser, Visit } from "../../client/app/visit.ts";
import type { Fault, Recorded } from "../frame/idp.ts";
import type { Control } from "./control.ts";
import type { Verdicts } from "../frame/run.ts";

/** What a case works with: browsers, the app's addresses, the faults, and the requests that idp received since it began. */

/** A parameter as it was sent, or the fingerprint of a pushed one. */
export interface Value {
  readonly text: string;
  readonly isFingerprint: boolean;
}

/** The parameters of an authorization request. */
export type Asked = ReadonlyMap<string, Value>;

/** What the controls have shown: how this app behaves if all is well. */
export interface Known {
  /** The latest request of the ledger that was seen. */
  last: string | undefined;
  /** `--signed-in` as a browser sees it that never signed in. */
  stranger: Visit | null;
  /** Complete sign-ins. */
  readonly signIns: Visit[];
  /** What `--signed-in` showed to the user at first. */
  shown: string;
  /** Some authorization requests, to compare. */
  readonly samples: Asked[];
  /** Every address of the app that a browser opened. */
  readonly addresses: URL[];
}

export interface Attempt extends SignsIn {
  readonly app: App;
  readonly control: Control;
  readonly known: Known;
  /** Of the cases that have run. */
  readonly verdicts: Verdicts;
  /** The app can be started again. */
  readonly canRestart: boolean;
  /** Why the app does not answer since it was started again for this case; null: it does, or was not started again. */
  readonly startFailure: string | null;
  readonly now: () => number;
  readonly wait: (milliseconds: number) => Promise<unknown>;
  readonly random: (bytes: number) => string;
  /** What `--signed-in` shows now; empty if that is not a page. */
  shown(browser: Browser): Promise<string>;
  /** @returns the id */
  arm(fault: Fault): Promise<string>;
  /** The requests that idp received since the case began, or since a mark. */
  requests(mark?: string): Promise<readonly Recorded[]>;
  /** The id of the latest request to idp. */
  mark(): Promise<string | undefined>;
}
