import { ending, spoiledBy, standingUnknown, whyNotBegun } from "../../frame/app.ts";
import { noticed, notReached, notRequired, unnoticed, type Case, type Finding } from "../../frame/verdict.ts";
import { withoutOpenId, type Attempt } from "../attempt.ts";
import { flawCases, notRead, type Seen } from "./flaw-case.ts";

/** Where a response can have flaws, and what an app that never got one did instead. The flaws are rows of core/testing/controls/faults/flaws. */

/** Flaws of the authorization response. */
export const responseCases = flawCases({
  ...{ prefix: "response", ofClient: true, restarts: false },
  absent: (attempt, { name }) =>
    name.startsWith("state-")
      ? notRequired("sends no state, so there is none to check", "RFC 9700 2.1: PKCE or nonce may take its place")
      : notReached(`no response of ${attempt.control.client} had ${name.replace(/-.*/, "")} in it`),
});

/** Whether the app reads the ID token: one that does not would be blamed by each case below for one cause. */
const idTokenNotRead: Case<Attempt> = {
  name: notRead,
  mustNot: "a token response whose id_token is no JWT signs a user in",
  should: "take the user from the ID token, or from UserInfo",
  paragraph: "OpenID Connect Core 3.1.3.7",
  fix: "take the user from the ID token, verified by the library's own check",
  async run(attempt) {
    const without = withoutOpenId(attempt);
    if (without !== null) return without;
    const { client } = attempt.control;
    const grant = { grant_type: "authorization_code" };
    const fault = await attempt.arm({ endpoint: "token", flaw: "not-jwt", client, ...grant });
    const browser = await attempt.newBrowser();
    const visit = await attempt.signIn(browser);
    const standing = await attempt.standing(browser);
    const records = await attempt.requests();
    if (spoiledBy(records, fault) === undefined) {
      return notReached(whyNotBegun(visit) ?? "no token response of the client had an ID token");
    }
    if (visit.end.kind === "stuck") return notReached(`the app ${ending(visit)}`);
    if (standing === "broken") return standingUnknown;
    if (standing === "out") return noticed(`${ending(visit)}: the app reads the ID token`);
    return records.some(({ endpoint }) => endpoint === "userinfo")
      ? notRequired("takes the user from UserInfo, and does not read the ID token", "OpenID Connect Core 5.3")
      : unnoticed("signed the user in without the ID token and without UserInfo");
  },
};

/** Flaws of the ID token. */
const idTokenFlawCases = flawCases({
  ...{ prefix: "id-token", ofClient: true, grantType: "authorization_code", restarts: false },
  absent: (attempt, { name }, visit) => {
    const without = withoutOpenId(attempt);
    if (without !== null) return without;
    const asked = visit.request?.searchParams;
    if (name.startsWith("nonce-") && asked?.has("client_id") === true && !asked.has("nonce")) {
      return notRequired(
        "sends no nonce, so there is none to check",
        "OpenID Connect Core 3.1.2.1 (optional in the code flow)",
      );
    }
    return notReached(`no ID token with this flaw was fetched: the response had none, or not what ${name} spoils`);
  },
});

export const idTokenCases: readonly Case<Attempt>[] = [idTokenNotRead, ...idTokenFlawCases];

/** Flaws of the token response. */
export const tokenCases = flawCases({
  ...{ prefix: "token", ofClient: true, grantType: "authorization_code", restarts: false },
  absent: (_attempt, { name }) =>
    notReached(
      name === "refresh-token-missing"
        ? "the app has no refresh token, so there is none to leave out"
        : "the app exchanged no code",
    ),
  judge: ({ flaw, records, spoiled }) => {
    if (flaw !== "token-type-wrong") return Promise.resolve(null);
    const used = records.slice(records.indexOf(spoiled)).find(({ endpoint }) => endpoint === "userinfo");
    return Promise.resolve(
      used === undefined
        ? notRequired("signed the user in by the ID token, and did not use the access token at idp")
        : unnoticed("used the access token for UserInfo, and signed the user in"),
    );
  },
});

/** A shorter text may be on a page by chance. */
const minLength = 6;

/** Every text in a JSON value. */
const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

/**
 * An app may leave out UserInfo with a wrong `sub`, and sign the user in by the ID token. So what `--signed-in` and `--who` show decides: the
 * wrong `sub`, the name of its user, or what only UserInfo says.
 */
async function judgeUserInfo({ flaw, attempt, browser, records, spoiled }: Seen): Promise<Finding> {
  const { who, signedIn } = attempt.app;
  const other = who === undefined || who === signedIn ? null : (await browser.look(who)).end;
  const shown = (await attempt.shown(browser)) + (other?.kind === "page" ? other.text : "");
  const claims = Object(spoiled.response?.["body"]) as { readonly sub?: unknown };
  if (typeof claims.sub === "string" && shown.includes(claims.sub)) return unnoticed("took the user from UserInfo");
  const idTokens = JSON.stringify(records.filter(({ endpoint }) => endpoint === "token"));
  const said = textsIn(claims).filter((text) => text.length >= minLength && !idTokens.includes(text));
  const isOfOther = (text: string): boolean => shown.includes(text) && !attempt.known.shown.includes(text);
  if (flaw === "sub-wrong" && said.some(isOfOther)) return unnoticed("showed the user as somebody else");
  const marks = said.filter((text) => attempt.known.shown.includes(text));
  if (marks.length === 0) {
    return notReached("the app signed the user in, and --signed-in does not show whether UserInfo was used");
  }
  return marks.some((text) => shown.includes(text))
    ? unnoticed("showed what only UserInfo says")
    : noticed("signed the user in by the ID token, and showed nothing of UserInfo");
}

/** Flaws of the UserInfo response. */
export const userinfoCases = flawCases({
  ...{ prefix: "userinfo", ofClient: true, restarts: false, repeats: true, judge: judgeUserInfo },
  absent: (attempt) =>
    notReached(
      withoutOpenId(attempt) === null
        ? "the app never asked UserInfo"
        : "the user of GitHub's API has no sub: the app takes the user from id, which no case changes",
    ),
});

/** Flaws of the documents that an app keeps. */
const cached = ({ canRestart }: Attempt, what: string): Finding | null =>
  canRestart ? null : notReached(`the app did not fetch ${what}: it has them already. With -- CMD it is started again`);

export const keysCases = flawCases({
  ...{ prefix: "keys", ofClient: false, restarts: true },
  absent: (attempt) =>
    withoutOpenId(attempt) ??
    cached(attempt, "the keys") ??
    notRequired("never fetched the keys", "OpenID Connect Core 3.1.3.7 (6): TLS may take the place of the signature"),
});

export const discoveryCases = flawCases({
  ...{ prefix: "discovery", ofClient: false, restarts: true },
  absent: (attempt) =>
    withoutOpenId(attempt) ??
    cached(attempt, "the metadata") ??
    notReached("the app never fetched the metadata: its addresses are configured"),
});
