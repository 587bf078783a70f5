/*
 * check/client: `idp check client`. It asks whether an app notices a response that is wrong. run.ts runs the cases: each is in cases/, or a row in
 * flaws/, where one function judges all rows. attempt.ts is what a case works with.
 */
import type { Probe } from "../frame/account/probe.ts";
import type { App, SignsIn } from "../frame/app.ts";
import type { Browser, Visit } from "../../client/app/visit.ts";
import type { Fault, Recorded } from "../frame/idp.ts";
import type { Control } from "./control.ts";
import type { Verdicts } from "../frame/run.ts";
import { notReached, type Finding } from "../frame/verdict.ts";

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
  /** Absent: nobody tried. A text: why no account can be recognized. */
  recognizing?: Recognizing | string;
  /** How the app refreshes: whether it reads the ID token, and the seconds that an access token has to live. A text: it does not. */
  refreshing?: { readonly reads: boolean; readonly life: number | null } | string;
  /** What its pages showed. */
  readonly texts: Set<string>;
}

export type Claims = Readonly<Record<string, unknown>>;

/** How an account is recognized, once that was seen to work. */
export interface Recognizing {
  readonly probe: Probe;
  /** The user's claims, as the app got them in the ID token and from UserInfo. */
  readonly seen: { readonly token: Claims; readonly userinfo: Claims };
}

/** Another connection of the app, to another issuer. */
export interface Second {
  readonly start: string;
  readonly control: Control;
}

/** Who uses a browser, and at which of the app's connections. */
export interface Somebody {
  /** Absent: the user. */
  readonly username?: string;
  readonly at?: "second";
}

export interface Attempt extends SignsIn {
  readonly app: App;
  readonly control: Control;
  readonly known: Known;
  /** Of the cases that have run. */
  readonly verdicts: Verdicts;
  /** The app can be started again. */
  readonly canRestart: boolean;
  /** Null: it is not known what the app shows to one account alone. */
  readonly probe: Probe | null;
  /** The other user whom the app admits; null: one is added. */
  readonly otherUser: string | null;
  readonly second: Second | null;
  /** Notes what stays in the app. @param key what it replaces */
  readonly leaves: (key: string, what: string) => void;
  /** Why the app does not answer since it was started again for this case; null: it does, or was not started again. */
  readonly startFailure: string | null;
  readonly now: () => number;
  readonly wait: (milliseconds: number) => Promise<unknown>;
  readonly random: (bytes: number) => string;
  /** What `--signed-in` shows now; empty if that is not a page. */
  shown(browser: Browser): Promise<string>;
  newBrowser(somebody?: Somebody): Promise<Browser>;
  /** Adds a fault for the app's client. @returns the id */
  arm(fault: Fault, at?: "second"): Promise<string>;
  /** The requests that idp received since the case began, or since a mark. */
  requests(mark?: string, at?: "second"): Promise<readonly Recorded[]>;
  /** The id of the latest request to idp. */
  mark(): Promise<string | undefined>;
}

/** What an issuer with the endpoints of GitHub does not have, so that no app can be asked about it. Null: this one has it. */
export const withoutOpenId = ({ control }: Pick<Attempt, "control">): Finding | null =>
  new URL(control.issuer).pathname.endsWith("/login/oauth")
    ? notReached("GitHub is OAuth 2.0 without OpenID Connect: there is no ID token, no key and no discovery")
    : null;
