import { ending, spoiledBy, standingUnknown, whyNotSignedIn, type AppStanding } from "../../frame/app.ts";
import type { Fault, Recorded } from "../../frame/idp.ts";
import { noticed, notReached, notRequired, unnoticed, works, type Case, type Finding } from "../../frame/verdict.ts";
import { shownBy, type Shown } from "../../frame/who.ts";
import type { Browser, Visit } from "../../../client/app/visit.ts";
import type { Attempt, Claims } from "../attempt.ts";
import { shortLife, withLife } from "./asked-again.ts";
import { randomWord } from "../../../serve/random.ts";
import { claimsIn } from "./seen.ts";

/** A refresh: its ID token, which must be of the same user (OpenID Connect Core 12.2), and the refresh token that it leaves out. */

/** A user who signed in, refreshed once, and was looked at. */
interface Refreshed {
  readonly browser: Browser;
  readonly visit: Visit;
  readonly standing: AppStanding;
  readonly who: Shown;
  /** The refresh whose answer was changed. */
  readonly record: Recorded;
}

const grant = { endpoint: "token", grant_type: "refresh_token" } as const;

const isRefresh = ({ endpoint, grant_type: type }: Recorded): boolean =>
  endpoint === grant.endpoint && type === grant.grant_type;

/**
 * Signs in, lets the access token expire, and opens `--signed-in`.
 * @param fault of the answer to the refresh
 * @param names of somebody else, which that answer has
 * @param life seconds of the access token; null: as usual, and it is made to expire
 */
async function refreshed(
  attempt: Attempt,
  fault: Omit<Fault, "endpoint">,
  names: readonly string[],
  life: number | null,
): Promise<Refreshed | Finding> {
  const { control, app } = attempt;
  return withLife(attempt, life, async () => {
    const begun = await attempt.mark();
    const browser = await attempt.newBrowser();
    const visit = await attempt.signIn(browser);
    // With a life this short, the app may refresh as soon as --signed-in is opened.
    const why = life === null ? whyNotSignedIn(visit, await attempt.standing(browser)) : null;
    if (why !== null) return notReached(why);
    // A refresh within the sign-in is none of the session: libraries take a token that has less than a minute to live for expired.
    const signedIn = await attempt.mark();
    const id = await attempt.arm({ ...grant, client: control.client, ...fault });
    await expire(attempt, life);
    const standing = await attempt.standing(browser);
    const later = await attempt.requests(signedIn);
    const record = spoiledBy(later, id);
    if (record === undefined) {
      const did = later.some(isRefresh) ? "got nothing that the case changes" : "did not refresh";
      return notReached(`the app ${did}`);
    }
    const records = await attempt.requests(begun);
    const { token, userinfo } = claimsIn(records.filter((one) => !isRefresh(one)));
    const own = Object.values({ ...token, ...userinfo }).filter((one) => typeof one === "string" && one.length >= 3);
    const who = shownBy(await browser.look(app.who ?? app.signedIn), { names: own as string[] }, { names });
    return { browser, visit, standing, who, record };
  });
}

const expire = ({ control, wait }: Attempt, life: number | null): Promise<unknown> =>
  life === null ? control.expire("access") : wait(life * 1000 + 100);

/** How the app refreshes, and whether it reads the ID token that it gets then. @returns a text: it does not refresh */
async function refreshing(attempt: Attempt): Promise<Exclude<Attempt["known"]["refreshing"], undefined>> {
  attempt.known.refreshing ??= await controls(attempt);
  return attempt.known.refreshing;
}

async function controls(attempt: Attempt): Promise<Exclude<Attempt["known"]["refreshing"], undefined>> {
  let why = "the app did not refresh";
  for (const life of attempt.control.isOwn ? [null, shortLife] : [null]) {
    const name = `Check ${randomWord(attempt.random)}`;
    const found = await refreshed(attempt, { claims: { name }, always: true }, [name], life);
    await attempt.control.removeFaults();
    if (!("verdict" in found)) return { life, reads: found.who.attacker };
    why = found.did;
  }
  return why;
}

interface Row {
  readonly name: string;
  readonly token: string;
  readonly paragraph: string;
  readonly fix: string;
  /** Beside the names of another user. */
  readonly claims: (random: (bytes: number) => string, own: Claims) => Claims;
  readonly optional?: true;
}

const verify = "verify the ID token of a refresh as that of the sign-in";

const rows: readonly Row[] = [
  {
    name: "sub-wrong",
    token: "an ID token of another user, got by a refresh,",
    paragraph: "OpenID Connect Core 12.2",
    fix: `${verify}, and compare its sub with that of the session`,
    claims: (random) => ({ sub: randomWord(random) }),
  },
  {
    name: "iss-wrong",
    token: "an ID token of another issuer, got by a refresh,",
    paragraph: "OpenID Connect Core 12.2",
    fix: `${verify}: compare iss with the issuer`,
    claims: () => ({ iss: "https://wrong-issuer.invalid" }),
  },
  {
    name: "aud-wrong",
    token: "an ID token for another client, got by a refresh,",
    paragraph: "OpenID Connect Core 12.2",
    fix: `${verify}: compare aud with your client_id`,
    claims: () => ({ aud: "https://wrong-audience.invalid" }),
  },
  {
    name: "auth-time-changed",
    token: "an ID token of another sign-in, got by a refresh,",
    paragraph: "OpenID Connect Core 12.2",
    fix: `${verify}, and compare its auth_time with that of the session`,
    claims: () => ({ auth_time: 1 }),
    optional: true,
  },
];

const tokenCases: readonly Case<Attempt>[] = rows.map(({ name, token, paragraph, fix, claims, optional }) => ({
  name: `refresh.${name}`,
  mustNot: `${token} makes the session that of another user`,
  should: "refuse the ID token: keep the session as it is, or end it",
  ...{ paragraph, fix },
  async run(attempt) {
    const how = await refreshing(attempt);
    if (typeof how === "string") return notReached(how);
    const unread = notReached(
      "--who does not show the name in the ID token of a refresh: the app does not read it, or shows no name",
    );
    if (!how.reads && name !== "sub-wrong") return unread;
    const { random } = attempt;
    const word = randomWord(random);
    const wrong = claims(random, {});
    const person = { email: `${word}@example.com`, name: `Check ${word}`, preferred_username: word };
    const names = [...Object.values(person), ...(typeof wrong["sub"] === "string" ? [wrong["sub"]] : [])];
    const found = await refreshed(attempt, { claims: { ...person, ...wrong }, always: true }, names, how.life);
    if ("verdict" in found) return found;
    if (found.who.attacker) {
      return optional === true ? notRequired("took the ID token") : unnoticed("showed the user as somebody else");
    }
    if (found.standing === "broken") return standingUnknown;
    if (!how.reads) return unread;
    return noticed(found.standing === "out" ? "signed the user out" : "kept the user signed in as before");
  },
}));

const fingerprintOf = ({ parameters }: Recorded): unknown =>
  (Object(parameters["refresh_token"]) as Claims)["fingerprint"];

const tokenKept: Case<Attempt> = {
  name: "refresh.token-kept",
  mustNot: "a refresh without a new refresh token ends the session, as Google and Apple answer it",
  should: "keep the refresh token that it has",
  paragraph: "RFC 6749 6",
  fix: "store tokens.refresh_token ?? the one before",
  async run(attempt) {
    const how = await refreshing(attempt);
    if (typeof how === "string") return notReached(how);
    const found = await refreshed(attempt, { flaw: "refresh-token-missing" }, [], how.life);
    if ("verdict" in found) return found;
    if (found.standing !== "in") return unnoticed(`${ending(found.visit)}, and signed the user out after one refresh`);
    const mark = await attempt.mark();
    await withLife(attempt, how.life, async () => {
      await expire(attempt, how.life);
      await attempt.standing(found.browser);
    });
    const next = (await attempt.requests(mark)).filter(isRefresh);
    return next.some((record) => fingerprintOf(record) === fingerprintOf(found.record))
      ? works("refreshed again with the token that it had")
      : unnoticed("did not refresh again: it lost its refresh token");
  },
};

export const refreshCases: readonly Case<Attempt>[] = [...tokenCases, tokenKept];
