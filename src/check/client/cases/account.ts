import { ending, spoiledBy, whyNotBegun, whyNotSignedIn } from "../../frame/app.ts";
import type { Recognized } from "../../frame/account/probe.ts";
import { accountOf, judgeIntruder, leave, recognizes } from "../../frame/account/recognize.ts";
import { notReached, notRequired, unnoticed, works, type Case, type Finding } from "../../frame/verdict.ts";
import type { Attempt, Claims, Recognizing } from "../attempt.ts";
import { randomWord } from "../../../serve/random.ts";
import { claimsIn, nested, pick, places, type Place } from "./seen.ts";

/** Whether a valid sign-in opens the right account: the one of its issuer and sub (OpenID Connect Core 5.7), and not somebody else's. */

/** The claims of one kind, by the names that answers of idp have for them. */
const members = {
  email: ["email"],
  username: ["preferred_username", "username"],
  name: ["name", "displayName", "given_name", "family_name"],
};
type Kind = keyof typeof members;

/** What it is called in a sentence. */
const words: Readonly<Record<Kind, string>> = { email: "e-mail", username: "username", name: "name" };

/** Those of the body's `user`, where UserInfo has one. @param own what it calls whoever signs in */
function below(claims: Claims, change: (inside: Claims) => Claims, own: Claims): Claims {
  const changed = change(nested(claims));
  return Object.keys(changed).length === 0 ? {} : { user: { ...nested(claims), ...own, ...changed } };
}

/** Puts claims into the answers to one user. @returns the ids of the faults */
async function give(
  attempt: Attempt,
  user: string,
  claimsAt: (place: Place) => Claims,
  where?: "second",
): Promise<readonly string[]> {
  const ids: string[] = [];
  const { client } = (where === "second" ? attempt.second?.control : null) ?? attempt.control;
  for (const endpoint of places) {
    const claims = claimsAt(endpoint);
    if (Object.keys(claims).length === 0) continue;
    ids.push(await attempt.arm({ endpoint, client, user, claims, always: true }, where));
  }
  return ids;
}

const isGiven = async (attempt: Attempt, faults: readonly string[], where?: "second"): Promise<boolean> => {
  const records = await attempt.requests(undefined, where);
  return faults.some((fault) => spoiledBy(records, fault) !== undefined);
};

/** The controls: whether the account can be recognized at all. They run once, before the first case. */
async function recognizing(attempt: Attempt): Promise<Recognizing | string> {
  const { known, probe } = attempt;
  if (typeof known.recognizing === "string" && probe === null)
    return "the account cannot be recognized: add --mark URL, or --account URL with --account-id";
  known.recognizing ??= await controls(attempt);
  return known.recognizing;
}

async function controls(attempt: Attempt): Promise<Recognizing | string> {
  const { control, otherUser } = attempt;
  let seen: Recognizing["seen"] = { token: {}, userinfo: {} };
  const claims = async (): Promise<readonly unknown[]> => {
    seen = claimsIn(await attempt.requests());
    return [seen.token, seen.userinfo, nested(seen.userinfo)].flatMap((one) => Object.values(one));
  };
  const probe = await recognizes(attempt, control.user, claims, async () => {
    const username = otherUser ?? (await control.addUser());
    return { username, browser: await attempt.newBrowser({ username }), isNew: otherUser === null };
  });
  return typeof probe === "string" ? probe : { probe, seen };
}

/** The claim by which an app trusts the user's own e-mail, where idp says that it is not verified. Some apps find accounts only by a verified one. */
function trusted(claims: Claims): Claims {
  const said = claims["email_verified"];
  if ("email" in claims && said === false) return { email_verified: true };
  return "email" in claims && said === "false" ? { email_verified: "true" } : {};
}

/** Lets the user sign in with a verified e-mail, without a change of the user. */
const trustEmail = (attempt: Attempt, { seen }: Recognizing) =>
  give(attempt, attempt.control.user, (place) => trusted(seen[place]));

/** Recognizes the user's account as it is now. @returns a finding where that is not possible */
const account = (attempt: Attempt, { probe }: Recognizing): Promise<Recognized | Finding> =>
  accountOf(attempt, probe, attempt.control.user);

interface Taken {
  readonly kind: Kind;
  /** Beside the user's own claims of this kind. */
  readonly with?: Claims;
  /** "another person with the user's e-mail" */
  readonly who: (user: string) => string;
}

const texts = {
  should: "open an account of its own, or ask: an account is the issuer and sub",
  paragraph: "OpenID Connect Core 5.7, ASVS 5.0 10.5.2",
  fix: "find users by (iss, sub), never by email or username; link accounts only while both are signed in",
};

const taken = (name: string, mustNot: string, { kind, with: more = {}, who }: Taken): Case<Attempt> => ({
  ...{ name, mustNot, ...texts },
  async run(attempt) {
    const known = await recognizing(attempt);
    if (typeof known === "string") return notReached(known);
    const claimsAt = (place: Place, names: Claims): Claims => {
      const own = {
        ...pick(known.seen[place], members[kind]),
        ...below(known.seen[place], (inside) => pick(inside, members[kind]), names),
      };
      return Object.keys(own).length === 0 ? {} : { ...own, ...more };
    };
    if (places.every((place) => Object.keys(claimsAt(place, {})).length === 0)) return without(kind);
    if (kind === "email") await trustEmail(attempt, known);
    const wanted = await account(attempt, known);
    if ("verdict" in wanted) return wanted;
    const username = await attempt.control.addUser();
    const names = await attempt.control.namesOf(username);
    const faults = await give(attempt, username, (place) => claimsAt(place, names));
    const browser = await attempt.newBrowser({ username });
    const visit = await attempt.signIn(browser);
    if (!(await isGiven(attempt, faults))) {
      return notReached(whyNotBegun(visit) ?? `no answer to the app had the ${words[kind]} of somebody else`);
    }
    const intruder = { username, who: who(attempt.control.user) };
    return judgeIntruder(attempt, known.probe, wanted, { browser, visit }, intruder);
  },
});

const without = (kind: Kind): Finding =>
  notReached(`no answer to the app has the user's ${words[kind]}, so no account is found by it`);

const emailTaken = taken("account.email-taken", "another person with the user's e-mail gets the user's account", {
  kind: "email",
  with: { email_verified: true },
  who: (user) => `another person with ${user}'s e-mail`,
});

const emailUnverified = taken(
  "account.email-unverified",
  "another person who only claims the user's e-mail gets the user's account",
  {
    kind: "email",
    with: { email_verified: false },
    who: (user) => `another person, with ${user}'s e-mail unverified,`,
  },
);

const usernameTaken = taken(
  "account.username-taken",
  "another person with the user's username gets the user's account",
  { kind: "username", who: (user) => `another person with ${user}'s username` },
);

const nameTaken = taken("account.name-taken", "another person with the user's name gets the user's account", {
  kind: "name",
  who: (user) => `another person with ${user}'s name`,
});

/** Claims that say who somebody is. */
const ofPerson = ["sub", "email", "email_verified", ...members.username, ...members.name];

const otherIssuer: Case<Attempt> = {
  name: "account.other-issuer",
  mustNot: "the same sub and e-mail at another issuer gets the user's account",
  ...texts,
  async run(attempt) {
    const { second } = attempt;
    if (second === null) return notReached("the app has one connection: name another one with --second-start URL");
    const known = await recognizing(attempt);
    if (typeof known === "string") return notReached(known);
    await trustEmail(attempt, known);
    const wanted = await account(attempt, known);
    if ("verdict" in wanted) return wanted;
    const username = await second.control.addUser();
    const seen = { ...known.seen.userinfo, ...known.seen.token };
    const who = { ...pick(seen, ofPerson), ...trusted(seen) };
    const faults = await give(
      attempt,
      username,
      (place) => ({ ...who, ...below(known.seen[place], (inside) => inside, {}) }),
      "second",
    );
    const browser = await attempt.newBrowser({ username, at: "second" });
    const visit = await browser.signIn(second.start);
    if (visit.request === null) {
      return notReached(`--second-start does not lead to ${second.control.issuer}: the app ${ending(visit)}`);
    }
    if (!(await isGiven(attempt, faults, "second"))) {
      return notReached(whyNotBegun(visit) ?? "the app got no answer of the second issuer");
    }
    const named = `somebody with ${attempt.control.user}'s sub and e-mail at another issuer`;
    return judgeIntruder(attempt, known.probe, wanted, { browser, visit }, { username, who: named });
  },
};

/** Another e-mail of the same domain, and another username. */
function moved(claims: Claims, random: string): Claims {
  const email = typeof claims["email"] === "string" ? claims["email"].replace(/^[^@]*/, `idp-check-${random}`) : null;
  const names = Object.keys(pick(claims, members.username)).map((name) => [name, `idp-check-${random}`]);
  return { ...Object.fromEntries(names), ...(email !== null && { email }) } as Claims;
}

const emailChanged: Case<Attempt> = {
  name: "account.email-changed",
  mustNot: "a user whose e-mail and username changed loses the account",
  should: "open the same account: an account is the issuer and sub",
  paragraph: "OpenID Connect Core 5.7, ASVS 5.0 10.5.2",
  fix: "find users by (iss, sub): the e-mail and the username may change",
  async run(attempt) {
    const { control, random } = attempt;
    const known = await recognizing(attempt);
    if (typeof known === "string") return notReached(known);
    const word = randomWord(random);
    const claimsAt = (place: Place): Claims => ({
      ...moved(known.seen[place], word),
      ...below(known.seen[place], (inside) => moved(inside, word), {}),
      ...trusted(known.seen[place]),
    });
    if (places.every((place) => Object.keys(claimsAt(place)).length === 0)) return without("email");
    await trustEmail(attempt, known);
    const wanted = await account(attempt, known);
    if ("verdict" in wanted) return wanted;
    await control.removeFaults();
    const faults = await give(attempt, control.user, claimsAt);
    const after = await openedBy(attempt, known, wanted);
    if (!(await isGiven(attempt, faults))) return notReached("the app got no answer with the other e-mail");
    await control.removeFaults();
    if ("verdict" in after) return after;
    if (!after.isSame) leave(attempt, `${control.user} under another e-mail`);
    await trustEmail(attempt, known);
    const back = await openedBy(attempt, known, wanted);
    if (!after.isSame) return unnoticed(`opened a new account for ${control.user} with another e-mail and username`);
    if ("verdict" in back) return back;
    return back.isSame
      ? works("opened the same account with another e-mail and username, and with the old ones again")
      : unnoticed(`opened another account once ${control.user} had the old e-mail and username again`);
  },
};

/** Signs the user in. @returns whether it is the same account; a finding where nobody is signed in */
async function openedBy(
  attempt: Attempt,
  { probe }: Recognizing,
  wanted: Recognized,
): Promise<{ readonly isSame: boolean } | Finding> {
  const browser = await attempt.newBrowser();
  const visit = await attempt.signIn(browser);
  const why = whyNotSignedIn(visit, await attempt.standing(browser));
  if (why === null) return { isSame: await probe.isSame(browser, wanted) };
  return whyNotBegun(visit) === null
    ? notRequired(`${ending(visit)}: refused the user with another e-mail`, "OpenID Connect Core 5.7")
    : notReached(why);
}

export const accountCases: readonly Case<Attempt>[] = [
  ...[emailTaken, emailUnverified, usernameTaken, nameTaken, otherIssuer],
  // Last, since the app may keep the other e-mail.
  emailChanged,
];
