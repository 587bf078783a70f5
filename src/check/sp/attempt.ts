/*
 * check/sp: `idp check sp`. It asks whether a service provider of SAML refuses a response that is wrong.
 *
 * run.ts runs the cases. A case is a row in cases/flaws.ts, where one function judges all rows, or stands in another file of cases/. The browsers, where
 * a visit ends and whether somebody is signed in are those of check/frame and client/app. who.ts says who is signed in.
 *
 * attempt.ts is what a case works with. It reaches the faults and the ledger through control.ts, which the command line connects to a server.
 */
import type { LookupFunction } from "node:net";
import type { AppStanding } from "../frame/app.ts";
import type { Known as Seen } from "../client/attempt.ts";
import type { Browser, Visit } from "../../client/app/visit.ts";
import type { Listener } from "../frame/listener.ts";
import type { Fault, Recorded } from "../frame/idp.ts";
import type { Verdicts } from "../frame/run.ts";
import type { Probe } from "../frame/account/probe.ts";
import type { Asked, Person, Second, SpControl, Way } from "./control.ts";
import type { Shown } from "../frame/who.ts";

/** The app under test. */
export interface App {
  readonly start: string;
  readonly signedIn: string;
  /** Null: a status of 2xx says that somebody is signed in. */
  readonly signedInText: string | null;
  /** A page that shows who is signed in. */
  readonly who: string;
  /** The app must refuse a response that answers no request. */
  readonly noUnsolicited: boolean;
  /** Resolves its names, and refuses addresses that may not be reached. */
  readonly lookup: LookupFunction;
}

/** What the controls have shown: how this app behaves if all is well. */
export interface Known extends Pick<Seen, "last" | "stranger"> {
  /** How responses are made between the cases: the first way that the app takes. */
  way: Way;
  /** What `--who` shows does not tell the user and the attacker apart: why; null: it does. */
  whoUnknown: string | null;
  /** Whether the app takes a response that answers no request; null: nobody tried. */
  unsolicited: boolean | null;
  /** The address that the app asked for, although it was not registered; null: all were. */
  strangeAcs: string | null;
  /** Some requests of the app, to compare. */
  readonly samples: Asked[];
}

/** Who uses a browser. */
export interface Somebody {
  /** Absent: the user. */
  readonly person?: Pick<Person, "username">;
  /** The browser signs in at the app's other connection. */
  readonly at?: "second";
  /** Cancels at idp in place of signing in. */
  readonly cancels?: boolean;
}

export interface Attempt {
  readonly app: App;
  readonly control: SpControl;
  readonly known: Known;
  /** Of the cases that have run. */
  readonly verdicts: Verdicts;
  readonly wait: (milliseconds: number) => Promise<unknown>;
  /** Null: it is not known what the app shows to one account alone. */
  readonly probe: Probe | null;
  /** Null: the app has one connection. */
  readonly second: Second | null;
  /** Notes what stays in the app. @param key what it replaces */
  readonly leaves: (key: string, what: string) => void;
  /** Whether the app can reach the listeners of a case. */
  readonly isAtLoopback: boolean;
  /** An address of this machine, until the case ends. */
  listen(bytes: (url: string) => string, type: string): Promise<Listener>;
  newBrowser(somebody?: Somebody): Promise<Browser>;
  /** Opens `--start` and signs in. */
  signIn(browser: Browser, hold?: "hold"): Promise<Visit>;
  /** Whether somebody is signed in: asks `--signed-in`. */
  standing(browser: Browser): Promise<AppStanding>;
  /** Who is signed in: asks `--who`. */
  who(browser: Browser): Promise<Shown>;
  /** @returns the id */
  arm(fault: Fault): Promise<string>;
  /** Changes how responses are made, until the case ends. */
  setWay(way: Way): Promise<void>;
  /** The requests that idp received since the case began, or since a mark. */
  requests(mark?: string): Promise<readonly Recorded[]>;
  /** The id of the latest request to idp. */
  mark(): Promise<string | undefined>;
}
