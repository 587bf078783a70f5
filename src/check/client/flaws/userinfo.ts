import { noticed, notReached, unnoticed, type Finding } from "../../frame/verdict.ts";
import { flawCases, type Seen } from "./flaw-case.ts";

/** Flaws of the UserInfo response. */

const fix = "compare sub of UserInfo with sub of the ID token";

/** A shorter text may be on a page by chance. */
const minLength = 6;

/** Every text in a JSON value. */
const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

/**
 * An app may leave out UserInfo with a wrong `sub`, and sign the user in by the ID token. So what `--signed-in` shows decides: the wrong
 * `sub`, or what only UserInfo says.
 */
async function judge({ attempt, browser, records, spoiled }: Seen): Promise<Finding> {
  const shown = await attempt.shown(browser);
  const claims = Object(spoiled.response?.["body"]) as { readonly sub?: unknown };
  if (typeof claims.sub === "string" && shown.includes(claims.sub)) return unnoticed("took sub from UserInfo");
  const idTokens = JSON.stringify(records.filter(({ endpoint }) => endpoint === "token"));
  const marks = textsIn(claims).filter(
    (text) => text.length >= minLength && attempt.known.shown.includes(text) && !idTokens.includes(text),
  );
  if (marks.length === 0) {
    return notReached("the app signed the user in, and --signed-in does not show whether UserInfo was used");
  }
  return marks.some((text) => shown.includes(text))
    ? unnoticed("showed what only UserInfo says")
    : noticed("signed the user in by the ID token, and showed nothing of UserInfo");
}

export const userinfoCases = flawCases(
  {
    prefix: "userinfo",
    endpoint: "userinfo",
    ofClient: true,
    restarts: false,
    repeats: true,
    judge,
    absent: () => notReached("the app never asked UserInfo"),
  },
  [
    {
      flaw: "sub-wrong",
      must: "refuse",
      mustNot: "the data of another user counts as the user's",
      should: "not use the UserInfo response",
      paragraph: "OpenID Connect Core 5.3.2",
      fix,
    },
    {
      flaw: "sub-missing",
      must: "refuse",
      mustNot: "data that names no user counts as the user's",
      should: "not use the UserInfo response",
      paragraph: "OpenID Connect Core 5.3.2",
      fix,
    },
  ],
);
