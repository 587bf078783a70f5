import { ending, refusal, spoiledBy, whyNotBegun, standingUnknown, heldSignIn } from "../frame/app.ts";
import type { AuthorizationResponse, Browser, Visit } from "../../client/app/visit.ts";
import { noticed, notReached, unnoticed, type Finding, isFinding } from "../frame/verdict.ts";
import type { Attempt } from "./attempt.ts";
import type { Person } from "./messages.ts";

/** What an app did with a response that is wrong. */

/** The response that a sign-in ends with, kept from the app. @returns a finding if none came */
export async function heldIn(attempt: Attempt, browser: Browser): Promise<AuthorizationResponse | Finding> {
  const begun = await heldSignIn(attempt, browser);
  return isFinding(begun) ? begun : begun.response;
}

/** @returns what must not be: somebody is signed in; null: nobody is; or a finding that says nothing */
export async function signedInBy(attempt: Attempt, browser: Browser, visit: Visit): Promise<"in" | Finding | null> {
  if (visit.end.kind === "stuck") return notReached(`the app ${ending(visit)}`);
  const standing = await attempt.standing(browser);
  if (standing === "broken") return standingUnknown;
  return standing === "in" ? "in" : null;
}

/** The name of whoever is signed in, in words that follow "signed in". */
export async function nameOf(attempt: Attempt, browser: Browser): Promise<string> {
  const { known, control } = attempt;
  if (known.whoUnknown !== null) return "somebody";
  const shown = await attempt.who(browser);
  if (shown.user === shown.attacker) return "somebody";
  return shown.user ? control.user.username : control.attacker.username;
}

interface Spoiled {
  readonly flaw: string;
  /** Whose sign-in it is. */
  readonly signer: Person;
  /** Whose identity it carries. */
  readonly forges?: Person;
}

/** Signs in with a response that has a flaw. @returns a finding if the app never got it */
export async function spoiledVisit(
  attempt: Attempt,
  { flaw, signer, forges }: Spoiled,
): Promise<{ readonly browser: Browser; readonly visit: Visit } | Finding> {
  const fault = await attempt.arm({
    ...{ endpoint: "saml_sso", flaw, client: attempt.control.client, user: signer.username },
    ...(forges !== undefined && { forge: forges.username }),
  });
  const browser = await attempt.newBrowser({ person: signer });
  const visit = await attempt.signIn(browser);
  if (spoiledBy(await attempt.requests(), fault) !== undefined) return { browser, visit };
  return notReached(whyNotBegun(visit) ?? "no response to the app had the flaw");
}

/** Somebody else's identity beside the signature of the attacker: who is signed in decides. */
export async function judgeForged(attempt: Attempt, browser: Browser, visit: Visit): Promise<Finding> {
  const { control } = attempt;
  const found = await signedInBy(attempt, browser, visit);
  if (found === null) return noticed(refusal(visit));
  if (found !== "in") return found;
  const shown = await attempt.who(browser);
  if (shown.user) return unnoticed(`signed in ${control.user.username}, whom the signature does not cover`);
  if (shown.attacker) return noticed("signed in the user whom the signature covers");
  return notReached("somebody is signed in, and --who shows neither of the two users");
}
