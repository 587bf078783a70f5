import { ending, whyNotBegun, type App, type AppStanding, type Attempt } from "./attempt.ts";
import type { Browser, Visit } from "./browser.ts";
import { noticed, notReached, type Finding } from "../verdicts/case.ts";

/** Whether somebody is signed in, by what `--signed-in` shows. */
export function appStanding(
  { end }: Visit,
  { signedIn, signedInText }: Pick<App, "signedIn" | "signedInText">,
  stranger: Visit | null,
): AppStanding {
  if (end.kind === "stuck") return "broken";
  if (end.kind !== "page") return "out";
  const { url, status, text } = end;
  const other = stranger?.end.kind === "page" ? stranger.end : null;
  if (status >= 500 && other?.status !== status) return "broken";
  if (status < 200 || status >= 300) return "out";
  // Where a stranger is sent too, the app asks to sign in.
  if (other !== null && url === other.url && url !== new URL(signedIn).href) return "out";
  return signedInText === null || text.includes(signedInText) ? "in" : "out";
}

/** Why a visit that should sign in did not, by its end and by `--signed-in`. @returns null: it did */
export function whyNotSignedIn(visit: Visit, standing: AppStanding): string | null {
  const why = whyNotBegun(visit);
  if (why !== null) return why;
  if (standing === "in") return null;
  return `nobody is signed in at --signed-in: the app ${ending(visit)}`;
}

/**
 * For a case that brings a response to the app which it refuses: `noticed` only where the app takes a right one that comes in the same way.
 * @param did what the app did with the wrong one
 */
export async function noticedIfDelivered(
  attempt: Pick<Attempt, "newBrowser" | "signIn" | "standing">,
  did: string,
): Promise<Finding> {
  const browser = await attempt.newBrowser();
  const begun = await attempt.signIn(browser, "hold");
  if (begun.response === null) return notReached(whyNotBegun(begun) ?? "the app did not begin to sign in");
  const visit = await browser.deliver(begun.response);
  const why = whyNotSignedIn(visit, await attempt.standing(browser));
  return why === null ? noticed(did) : notReached(`the app takes no right response that comes in this way: ${why}`);
}

/** `--signed-in` as a browser sees it that never signed in. @param remedy where a user sees the same @returns a finding if it says nothing */
export async function strangerAt(
  browser: Browser,
  app: Pick<App, "signedIn" | "signedInText">,
  remedy: string,
): Promise<Visit | Finding> {
  const stranger = await browser.look(app.signedIn);
  if (stranger.end.kind === "stuck") return notReached(`--signed-in: ${stranger.end.why}`);
  if (appStanding(stranger, app, null) !== "in") return stranger;
  return notReached(`--signed-in shows a browser that never signed in the same as a user: ${remedy}`);
}

/** The finding where `--signed-in` is broken. */
export const standingUnknown = notReached(
  "--signed-in answers 5xx, or not at all, so it is unknown whether a user is signed in",
);
