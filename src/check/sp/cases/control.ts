import { whyNotBegun, strangerAt, whyNotSignedIn } from "../../frame/app.ts";
import type { Browser } from "../../../client/app/visit.ts";
import { notReached, works, type Case, type Finding } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import { signChoices, type Way } from "../messages.ts";

/** Ordinary sign-ins: of the user, and of the attacker, whose own signature carries the forged responses. */

const signInRule = "SAML Profiles 4.1.4.3";

export const control: Case<Attempt> = {
  name: "control",
  mustNot: "an ordinary sign-in fails",
  should: "sign the user in",
  paragraph: signInRule,
  fix: "give --start the address behind your Sign in button, and --signed-in one that only users may see",
  async run(attempt) {
    const { app, known } = attempt;
    const isFirst = known.stranger === null;
    const stranger = known.stranger ?? (await strangerAt(await attempt.newBrowser(), app));
    if ("verdict" in stranger) return stranger;
    known.stranger = stranger;
    const browser = await (isFirst ? signInFirst(attempt) : signIn(attempt));
    if ("verdict" in browser) return browser;
    if (isFirst && !(await attempt.who(browser)).user) {
      known.whoUnknown = `--who shows neither NameID, e-mail nor name of ${attempt.control.user.username}: give a page that does`;
    }
    return works(`signed the user in${isFirst ? inWords(known.way) : ""}`);
  },
};

/** What of a response is signed. */
const inWords = ({ sign, encrypt }: Way): string =>
  ` (signed: ${sign === "both" ? "response and assertion" : sign}${encrypt === false ? "" : "; encrypted"})`;

/** A browser that is signed in. @returns a finding if nobody is */
async function signIn(attempt: Attempt): Promise<Browser | Finding> {
  const browser = await attempt.newBrowser();
  const visit = await attempt.signIn(browser);
  const why = whyNotSignedIn(visit, await attempt.standing(browser));
  return why === null ? browser : notReached(why);
}

/** The same, and finds what the app takes: libraries differ in what has to be signed. */
async function signInFirst(attempt: Attempt): Promise<Browser | Finding> {
  const { control, known } = attempt;
  if (!control.isOwn) return signIn(attempt);
  const ways = [...new Set([false, control.way.encrypt])].flatMap((encrypt) =>
    signChoices.map((sign): Way => ({ sign, encrypt })),
  );
  let first: string | null = null;
  for (const way of ways) {
    await attempt.setWay(way);
    known.way = way;
    const browser = await attempt.newBrowser();
    const visit = await attempt.signIn(browser);
    const notBegun = whyNotBegun(visit);
    if (notBegun !== null) return (await registerAcs(attempt)) ? signInFirst(attempt) : notReached(notBegun);
    const why = whyNotSignedIn(visit, await attempt.standing(browser));
    if (why === null) return browser;
    first ??= why;
  }
  return notReached(`${first ?? ""}, whether the assertion, the response or both are signed`);
}

/** Registers the address that the app asks for, so that its other cases can run. `request-acs` reports it. @returns whether there was one */
async function registerAcs(attempt: Attempt): Promise<boolean> {
  const { control, known } = attempt;
  const asked = control.asked(await attempt.requests()).at(-1);
  if (asked === undefined || asked.issuer !== control.client || asked.acs === null) return false;
  if (control.acs().some(({ url }) => url === asked.acs)) return false;
  await control.addAcs(asked.acs);
  known.strangeAcs = asked.acs;
  return true;
}

export const controlAttacker: Case<Attempt> = {
  name: "control-attacker",
  mustNot: "an ordinary sign-in of another user fails",
  should: "sign that user in, too",
  paragraph: signInRule,
  fix: "let the app admit the user, or name one whom it admits with --attacker",
  async run(attempt) {
    const { control, known } = attempt;
    const { username } = control.attacker;
    const browser = await attempt.newBrowser({ person: control.attacker });
    const visit = await attempt.signIn(browser);
    const why = whyNotSignedIn(visit, await attempt.standing(browser));
    if (why !== null)
      return notReached(`${why}; where only known users may sign in, name a second one of them with --attacker`);
    const shown = await attempt.who(browser);
    if (known.whoUnknown === null && (shown.user || !shown.attacker)) {
      known.whoUnknown = shown.user
        ? `--who shows ${control.user.username} where ${username} is signed in: give a page that shows only who is signed in`
        : `--who shows neither NameID, e-mail nor name of ${username}: give a page that does`;
    }
    return works(`signed ${username} in`);
  },
};
