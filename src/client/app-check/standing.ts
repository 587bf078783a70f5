import { ending, whyNotBegun, type App, type Standing } from "./attempt.ts";
import type { Visit } from "./browser.ts";

/** Whether somebody is signed in. */

/** Whether somebody is signed in, by what `--signed-in` shows. */
export function standingOf({ end }: Visit, { signedIn, signedInText }: App, stranger: Visit | null): Standing {
  if (end.kind === "stuck") return "broken";
  if (end.kind !== "page") return "out";
  const { url, status, text } = end;
  const other = stranger?.end.kind === "page" ? stranger.end : null;
  if (status >= 500 && other?.status !== status) return "broken";
  if (status < 200 || status >= 300) return "out";
  // Where a stranger is sent to as well, a page of the app asks to sign in.
  if (other !== null && url === other.url && url !== new URL(signedIn).href) return "out";
  return signedInText === null || text.includes(signedInText) ? "in" : "out";
}

/** What a visit and a look at `--signed-in` say together, where the app was to sign in. @returns null: it did */
export function whyNotSignedIn(visit: Visit, standing: Standing): string | null {
  const why = whyNotBegun(visit);
  if (why !== null) return why;
  if (standing === "in") return null;
  return `nobody is signed in at --signed-in: the app ${ending(visit)}`;
}
