/*
 * client/app-check: `idp check client`. It asks whether an app notices a response that is wrong.
 *
 * run.ts runs the cases. A case is a file in cases/, or a row in flaws/, where one function judges all rows. browser.ts says what a browser
 * does for a case: small-browser.ts does it without scripts, chromium.ts in Chromium, and progress.ts decides for both where a visit ends.
 *
 * attempt.ts is what a case works with. It reaches the faults and the ledger through control.ts, which the command line connects to a
 * server.
 */
import type { LookupFunction } from "node:net";
import type { Browser, Visit } from "./browser.ts";
import type { Control, Fault, Recorded } from "./control.ts";
import type { Verdicts } from "../verdicts/run.ts";

/** What a case works with: browsers, the app's addresses, the faults, and the requests that idp received since it began. */

/** The app under test. */
export interface App {
  readonly start: string;
  readonly signedIn: string;
  /** Null: a status of 2xx says that somebody is signed in. */
  readonly signedInText: string | null;
  readonly signOut: string | null;
  /** Milliseconds in which a logout at the provider must end the session. */
  readonly within: number;
  /** Resolves its names, and refuses addresses that may not be reached. */
  readonly lookup: LookupFunction;
}

/** `broken`: the app answers neither as it does to a user nor as it does to a stranger. */
export type AppStanding = "in" | "out" | "broken";

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

export interface Attempt {
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
  newBrowser(): Promise<Browser>;
  /** Opens `--start` and signs in. */
  signIn(browser: Browser, hold?: "hold"): Promise<Visit>;
  /** Whether somebody is signed in: asks `--signed-in`. */
  standing(browser: Browser): Promise<AppStanding>;
  /** What `--signed-in` shows now; empty if that is not a page. */
  shown(browser: Browser): Promise<string>;
  /** @returns the id */
  arm(fault: Fault): Promise<string>;
  /** The requests that idp received since the case began, or since a mark. */
  requests(mark?: string): Promise<readonly Recorded[]>;
  /** The id of the latest request to idp. */
  mark(): Promise<string | undefined>;
}

/** The request whose response this fault spoiled. */
export const spoiledBy = (records: readonly Recorded[], fault: string): Recorded | undefined =>
  records.find((record) => (record.fault ?? "").split("; ").some((one) => one.startsWith(`${fault}: `)));

/** How a visit ended, in words that follow "the app". */
export function ending({ end, steps }: Visit): string {
  switch (end.kind) {
    case "page": {
      const { pathname } = new URL(end.url);
      return `answered ${end.status} at ${pathname}`;
    }
    case "idp":
      return "sent the browser to sign in again";
    case "foreign": {
      const { origin, protocol } = new URL(end.url);
      return `sent the browser to ${origin === "null" ? protocol : origin}`;
    }
    case "held":
      return "was not shown the response";
    case "stuck": {
      const last = steps.at(-1);
      return `did not go on${last === undefined ? "" : ` after ${last.url.pathname}`}: ${end.why}`;
    }
  }
}

/** Why a sign-in never came to its response; null: it did. */
export function whyNotBegun(visit: Visit): string | null {
  if (visit.response !== null) return visit.end.kind === "stuck" ? `the app ${ending(visit)}` : null;
  if (visit.end.kind === "stuck") return visit.end.why;
  if (visit.request === null) {
    const isPage = visit.end.kind === "page" && visit.end.status < 400;
    return `--start never led to idp: the app ${ending(visit)}${isPage ? "; for a page that needs scripts, add --browser" : ""}`;
  }
  return `idp never sent the browser back: it ${ending(visit)}`;
}
