import {
  noticed,
  notReached,
  notRequired,
  unnoticed,
  works,
  type Case,
  type Finding,
  isFinding,
} from "../../frame/verdict.ts";
import { send } from "../../../client/http.ts";
import { Problem } from "../../../client/check.ts";
import type { Attempt } from "../attempt.ts";
import type { Browser } from "../../../client/app/visit.ts";
import type { Recorded } from "../../frame/idp.ts";
import type { LogoutClaims, SignedInSession } from "../logout-token.ts";
import { standingUnknown, whyNotSignedIn } from "../../frame/app.ts";

/** Back-channel logout: only for a client with `backchannel_logout_uri`. All spoiled logout tokens are judged here. */

/** Milliseconds between two looks at `--signed-in`. */
const pause = 100;

/** Whether the user is signed out within the time of the check. */
async function isSignedOut(attempt: Attempt, browser: Browser): Promise<boolean | null> {
  const until = attempt.now() + attempt.app.within;
  for (;;) {
    const standing = await attempt.standing(browser);
    if (standing === "broken") return null;
    if (standing === "out") return true;
    if (attempt.now() >= until) return false;
    await attempt.wait(pause);
  }
}

/** A browser that is signed in, and its session as its own ID token names it: other browsers may be signed in as the same user. */
interface SignedIn {
  readonly browser: Browser;
  readonly session: SignedInSession;
}

/** Signs in. @returns why nobody is signed in, or no session is known */
async function signedIn(attempt: Attempt, given: Browser | null = null): Promise<SignedIn | Finding> {
  const browser = given ?? (await attempt.newBrowser());
  const mark = await attempt.mark();
  const visit = await attempt.signIn(browser);
  const why = whyNotSignedIn(visit, await attempt.standing(browser));
  if (why !== null) return notReached(why);
  const session = (await attempt.requests(mark)).map(sessionIn).findLast((found) => found !== null);
  if (session === undefined) return notReached("the app got no ID token, which would name the session");
  return { browser, session };
}

/** The session that the ID token of a token response names; null: it is another response. */
function sessionIn({ endpoint, grant_type: grant, response }: Recorded): SignedInSession | null {
  if (endpoint !== "token" || grant !== "authorization_code") return null;
  const body = Object(response?.["body"]) as { readonly id_token?: unknown };
  const { claims } = Object(body.id_token) as { readonly claims?: unknown };
  const { sub, sid } = Object(claims) as { readonly sub?: unknown; readonly sid?: unknown };
  return typeof sub === "string" && typeof sid === "string" ? { sub, sid } : null;
}

const backchannelLogout: Case<Attempt> = {
  name: "backchannel-logout",
  mustNot: "a user whose session ended at the provider stays signed in",
  should: "end the session that the logout token names",
  paragraph: "OpenID Connect Back-Channel Logout 2.7",
  fix: "serve backchannel_logout_uri: verify the logout token, then delete the sessions with its sid, or all of its sub",
  async run(attempt) {
    const found = await signedIn(attempt);
    if (isFinding(found)) return found;
    const notice = await attempt.control.endSession(found.session);
    const isOut = await isSignedOut(attempt, found.browser);
    if (isOut === null) return standingUnknown;
    const why = notice === null ? "" : ` (${notice})`;
    return isOut ? works("ended the session") : unnoticed(`kept the user signed in${why}`);
  },
};

interface Row {
  readonly name: string;
  readonly token: string;
  readonly paragraph: string;
  readonly fix: string;
  readonly change: LogoutClaims;
  /** The token that it spoils. Absent: the one that the provider sends. */
  readonly right?: LogoutClaims;
  /** An app may accept it. */
  readonly optional?: true;
}

const hour = 3600;
const verify = "verify the logout token as an ID token: with the provider's keys, issuer, audience and algorithms";

const rows: readonly Row[] = [
  {
    name: "signature-wrong",
    token: "a logout token with a wrong signature",
    paragraph: "2.6 (3)",
    fix: verify,
    change: { spoil: "signature" },
  },
  {
    name: "alg-none",
    token: "a logout token that is not signed",
    paragraph: "2.6 (2)",
    fix: verify,
    change: { spoil: "alg" },
  },
  {
    name: "iss-wrong",
    token: "a logout token of another issuer",
    paragraph: "2.6 (4)",
    fix: verify,
    change: { claims: { iss: "https://wrong-issuer.invalid" } },
  },
  {
    name: "aud-wrong",
    token: "a logout token for another client",
    paragraph: "2.6 (4)",
    fix: verify,
    change: { claims: { aud: "another-client" } },
  },
  {
    name: "exp-past",
    token: "a logout token that expired an hour ago",
    paragraph: "2.6 (4), ASVS 5.0 10.5.5",
    fix: verify,
    change: { claims: { iat: -hour - 120, exp: -hour } },
  },
  {
    name: "events-missing",
    token: "a token without events, as an ID token is",
    paragraph: "2.6 (6), ASVS 5.0 10.5.5",
    fix: 'require events["http://schemas.openid.net/event/backchannel-logout"]',
    change: { claims: { events: null } },
  },
  {
    name: "events-other",
    token: "a token of another event",
    paragraph: "2.6 (6), ASVS 5.0 10.5.5",
    fix: 'require events["http://schemas.openid.net/event/backchannel-logout"]',
    change: { claims: { events: { "http://schemas.openid.net/event/another": {} } } },
  },
  {
    name: "typ-wrong",
    token: "a token of the type of access tokens",
    paragraph: "2.4, ASVS 5.0 10.5.5; 4.1: the type need not be compared",
    fix: 'require typ "logout+jwt" or "JWT"',
    change: { typ: "at+jwt" },
    optional: true,
  },
  {
    name: "nonce-present",
    token: "a logout token with a nonce",
    paragraph: "2.6 (7), ASVS 5.0 10.5.5",
    fix: "refuse a logout token that has a nonce: an ID token may have one",
    change: { claims: { nonce: "n" } },
  },
  {
    name: "sub-and-sid-missing",
    token: "a logout token without sub and sid",
    paragraph: "2.6 (5)",
    fix: "refuse a logout token that names neither sub nor sid",
    change: { claims: { sub: null, sid: null } },
  },
  {
    name: "sub-other",
    token: "a logout token for another user",
    paragraph: "2.7",
    fix: "end only the sessions of the sub, or the one with the sid",
    change: { claims: { sub: "somebody-else", sid: null } },
    right: { claims: { sid: null } },
  },
  {
    name: "iat-past",
    token: "a logout token from an hour ago",
    paragraph: "2.6: how old it may be is for the app",
    fix: "refuse a logout token whose iat is older than some minutes",
    change: { claims: { iat: -hour } },
    optional: true,
  },
];

const wrongTokens: readonly Case<Attempt>[] = rows.map((row) => ({
  name: `logout-token.${row.name}`,
  mustNot: `${row.token} signs the user out`,
  should: "answer 400, and sign nobody out",
  paragraph: `OpenID Connect Back-Channel Logout ${row.paragraph}`,
  fix: row.fix,
  async run(attempt) {
    const found = await signedIn(attempt);
    if (isFinding(found)) return found;
    const failed = await deliver(attempt, await attempt.control.logoutToken(found.session, row.change));
    return failed ?? judged(attempt, found, row);
  },
}));

/** Sends a logout token as the provider does. @returns why it did not reach the app, or null */
async function deliver({ app, control, verdicts }: Attempt, token: string): Promise<Finding | null> {
  if (verdicts.get("backchannel-logout") === "unnoticed") {
    return notReached("the app ends no session at all (see backchannel-logout)");
  }
  try {
    const form = new URLSearchParams({ logout_token: token });
    await send({ method: "POST", url: control.logoutUri ?? "", form, lookup: app.lookup });
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return notReached(error.message);
  }
}

/** An app may keep a user signed in for another reason, so the right token must sign this browser out afterwards. */
async function judged(
  attempt: Attempt,
  { browser, session }: SignedIn,
  { right = {}, optional }: Pick<Row, "right" | "optional">,
): Promise<Finding> {
  const isOut = await isSignedOut(attempt, browser);
  if (isOut === null) return standingUnknown;
  if (isOut) return optional === true ? notRequired("signed the user out") : unnoticed("signed the user out");
  const failed = await deliver(attempt, await attempt.control.logoutToken(session, right));
  if (failed !== null) return failed;
  return (await isSignedOut(attempt, browser)) === true
    ? noticed("kept the user signed in")
    : notReached("the app kept the user signed in, and did so after the right logout token too");
}

const replayed: Case<Attempt> = {
  name: "logout-token.replayed",
  mustNot: "a logout token that was used signs the user out again",
  should: "remember the jti of logout tokens for a while",
  paragraph: "OpenID Connect Back-Channel Logout 2.6 (8): optional",
  fix: "keep the jti of each logout token until its exp",
  async run(attempt) {
    const first = await signedIn(attempt);
    if (isFinding(first)) return first;
    const token = await attempt.control.logoutToken(first.session, {});
    const failed = await deliver(attempt, token);
    if (failed !== null) return failed;
    if ((await isSignedOut(attempt, first.browser)) !== true)
      return notReached("the app did not take the logout token the first time");
    const second = await signedIn(attempt, first.browser);
    if (isFinding(second)) return second;
    // The browser is still signed in at the provider.
    if (second.session.sid !== first.session.sid) return notReached("the second sign-in began another session");
    return (await deliver(attempt, token)) ?? judged(attempt, second, { optional: true });
  },
};

/** Providers send either type (4.1): who takes one alone signs nobody out with the next provider. */
const typeJwt: Case<Attempt> = {
  name: "logout-token.typ-jwt",
  mustNot: "a logout token of type JWT signs nobody out",
  should: "take logout tokens of type JWT, too",
  paragraph: "OpenID Connect Back-Channel Logout 2.4, 4.1",
  fix: 'take a logout token whose typ is "logout+jwt", "JWT", or missing',
  async run(attempt) {
    const found = await signedIn(attempt);
    if (isFinding(found)) return found;
    const { browser, session } = found;
    const failed = await deliver(attempt, await attempt.control.logoutToken(session, { typ: "JWT" }));
    if (failed !== null) return failed;
    const isOut = await isSignedOut(attempt, browser);
    if (isOut === null) return standingUnknown;
    if (isOut) return works("ended the session");
    const other = await judged(attempt, found, {});
    return other.verdict === "noticed" ? notRequired("kept the user signed in, and takes logout+jwt alone") : other;
  },
};

export const logoutCases: readonly Case<Attempt>[] = [backchannelLogout, ...wrongTokens, typeJwt, replayed];
