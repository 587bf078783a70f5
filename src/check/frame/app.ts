import type { LookupFunction } from "node:net";
import type { AuthorizationResponse, Browser, Visit } from "../../client/app/visit.ts";
import { onlyForm, visibleText } from "../../client/app/html.ts";
import { cutBetween, redacted } from "../../text/redacted.ts";
import type { Recorded } from "./idp.ts";
import { noticed, notReached, type Finding, isFinding } from "./verdict.ts";

/** An app that is checked, from outside: how a visit to it ended, and whether somebody is signed in there. */

/** The app under test. */
export interface App {
  readonly start: string;
  readonly signedIn: string;
  /** Null: a status of 2xx says that somebody is signed in. */
  readonly signedInText: string | null;
  readonly signOut: string | null;
  /** A page that shows who is signed in. Absent: `signedIn`. */
  readonly who?: string;
  /** Names of parameters of `start` that may say where to go, beside the usual ones. */
  readonly returnParams?: readonly string[];
  /** Milliseconds in which a logout at the provider must end the session. */
  readonly within: number;
  /** Resolves its names, and refuses addresses that may not be reached. */
  readonly lookup: LookupFunction;
}

/** `broken`: the app answers neither as it does to a user nor as it does to a stranger. */
export type AppStanding = "in" | "out" | "broken";

/** What brings a user to the app. */
export interface SignsIn {
  newBrowser(): Promise<Browser>;
  /** Opens `--start` and signs in. */
  signIn(browser: Browser, hold?: "hold"): Promise<Visit>;
  /** Whether somebody is signed in: asks `--signed-in`. */
  standing(browser: Browser): Promise<AppStanding>;
}

/** The request whose response this fault spoiled. */
export const spoiledBy = (records: readonly Recorded[], fault: string): Recorded | undefined =>
  records.find(({ faults }) => faults?.includes(fault) === true);

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

/** The same of one that signed nobody in. A 5xx refuses, too: it is what Express answers by default. */
export function refusal(visit: Visit): string {
  const { end } = visit;
  const isFailure = end.kind === "page" && end.status >= 500;
  return ending(visit) + (isFailure ? ", which refuses too; a 403 would say so" : "");
}

/** Characters of what an app wrote. */
const maxSaid = 120;

/**
 * What the app wrote on the page of its error, in words that follow its ending: `: "the code has expired"`; empty without one. Secrets are taken
 * out before it is cut: half of one would not look like any.
 */
export function wrote({ end }: Visit): string {
  if (end.kind !== "page" || end.status < 400) return "";
  const text = redacted(visibleText(end.text));
  if (text === "") return "";
  return `: ${JSON.stringify(cutBetween(text, maxSaid))}`;
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

/** Opens `--sign-out`. A page that asks whether to sign out, with nothing else to send, is answered, as that of Spring Security and of Django. Many apps take POST alone there. */
export async function signOutAt(browser: Browser, address: string): Promise<void> {
  const { end } = await browser.look(address);
  if (end.kind === "page" && [404, 405].includes(end.status)) {
    await browser.request({ method: "POST", url: address }, address);
    return;
  }
  const form = end.kind === "page" && end.status < 400 ? onlyForm(end.text, end.url) : null;
  if (form === null || end.kind !== "page") return;
  if (new URL(form.action).origin !== new URL(address).origin) return;
  await browser.request({ method: "POST", url: form.action, form: form.fields }, end.url);
}

type Places = Pick<App, "signedIn" | "signedInText">;

/** Whether somebody is signed in, by what `--signed-in` shows. @param stranger what a browser sees that never signed in */
export function appStanding({ end }: Visit, app: Places, stranger: Visit | null): AppStanding {
  if (end.kind === "stuck") return "broken";
  if (end.kind !== "page") return "out";
  const { url, status, text } = end;
  const other = stranger?.end.kind === "page" ? stranger.end : null;
  if (status >= 500 && other?.status !== status) return "broken";
  if (status < 200 || status >= 300) return "out";
  const shows = app.signedInText === null ? null : text.includes(app.signedInText);
  const isSentAway = other !== null && isElsewhere(other.url, app) && isSamePage(url, other.url, app);
  // An app may send everybody from /me to /me/: the text tells them apart, unless a stranger sees it there, too.
  if (isSentAway && (shows !== true || other.text.includes(app.signedInText ?? ""))) return "out";
  return shows === false ? "out" : "in";
}

/** Whether a visit ends at another address than `--signed-in`. A browser that never signed in and does so was asked to sign in. */
const isElsewhere = (url: string, { signedIn }: Places): boolean => url !== new URL(signedIn).href;

/** Whether both are the page that asks to sign in. Its query may be new each time (`state`), unless a page is named by its query alone. */
function isSamePage(url: string, other: string, { signedIn }: Places): boolean {
  if (url === other) return true;
  const place = (address: string): string => new URL(address).origin + new URL(address).pathname;
  return place(url) === place(other) && place(url) !== place(signedIn);
}

/** Why a visit that should sign in did not, by its end and by `--signed-in`. @returns null: it did */
export function whyNotSignedIn(visit: Visit, standing: AppStanding): string | null {
  const why = whyNotBegun(visit);
  if (why !== null) return why;
  if (standing === "in") return null;
  return `nobody is signed in at --signed-in: the app ${ending(visit)}${wrote(visit)}`;
}

/** A sign-in whose response is kept from the app. @returns a finding if none came */
export async function heldSignIn(
  attempt: Pick<SignsIn, "signIn">,
  browser: Browser,
): Promise<(Visit & { readonly response: AuthorizationResponse }) | Finding> {
  const begun = await attempt.signIn(browser, "hold");
  const { response } = begun;
  if (response === null) return notReached(whyNotBegun(begun) ?? "the app did not begin to sign in");
  return { ...begun, response };
}

/**
 * For a case that brings a response to the app which it refuses: `noticed` only where the app takes a right one that comes in the same way.
 * @param did what the app did with the wrong one
 */
export async function noticedIfDelivered(attempt: SignsIn, did: string): Promise<Finding> {
  const browser = await attempt.newBrowser();
  const begun = await heldSignIn(attempt, browser);
  if (isFinding(begun)) return begun;
  const visit = await browser.deliver(begun.response);
  const why = whyNotSignedIn(visit, await attempt.standing(browser));
  return why === null ? noticed(did) : notReached(`the app takes no right response that comes in this way: ${why}`);
}

/** `--signed-in` as a browser sees it that never signed in. @returns a finding if a user sees the same */
export async function strangerAt(browser: Browser, app: Places): Promise<Visit | Finding> {
  const stranger = await browser.look(app.signedIn);
  const { end } = stranger;
  if (end.kind === "stuck") return notReached(`--signed-in: ${end.why}`);
  if (end.kind === "page" && isElsewhere(end.url, app)) return stranger;
  if (appStanding(stranger, app, null) !== "in") return stranger;
  return notReached(
    "--signed-in shows a browser that never signed in the same as a user: give another address, or --signed-in-text",
  );
}

/** The finding where `--signed-in` is broken. */
export const standingUnknown = notReached(
  "--signed-in answers 5xx, or not at all, so it is unknown whether a user is signed in",
);
