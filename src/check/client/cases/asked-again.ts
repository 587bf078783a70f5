import { type AppStanding, standingUnknown, whyNotSignedIn } from "../../frame/app.ts";
import type { Attempt } from "../attempt.ts";
import { type Case, type Finding, noticed, notReached, unnoticed } from "../../frame/verdict.ts";
import type { Recorded } from "../../frame/idp.ts";

/** Whether a signed-in app asks idp again, once something has ended there. */

interface AskedAgain {
  /** The requests of this case that idp has refused since. */
  readonly refused: readonly Recorded[];
  readonly standing: AppStanding;
}

/** Seconds. Tokens of this life have expired when `--signed-in` is opened next. */
export const shortLife = 1;

/** What a case does at idp once the user is signed in. */
interface Change {
  /** What ends. */
  readonly end: () => Promise<void>;
  /** The same as far as nothing ends: an app that signs the user out then, too, has not noticed the end. Absent: nothing. */
  readonly without?: () => Promise<void>;
  /** The requests that the case is about. */
  readonly isMeant: (record: Recorded) => boolean;
}

/**
 * Signs in, ends something at idp, and opens `--signed-in`. Some apps ask idp only when their access token has expired: an app that asks
 * nothing gets a second try with tokens of a short life, if nobody else uses the issuer.
 * @returns a finding if the app did not sign in, asked nothing and kept the user signed in, or signs the user out where nothing ended
 */
async function askAgain(attempt: Attempt, change: Change): Promise<AskedAgain | Finding> {
  const lives = attempt.control.isOwn ? [null, shortLife] : [null];
  for (const life of lives) {
    const found = await withLife(attempt, life, () => proved(attempt, change, life));
    if ("verdict" in found || found.refused.length > 0 || found.standing !== "in") return found;
  }
  return notReached("the app did not ask idp again, so it cannot know");
}

/** Lets tokens that are issued meanwhile live for this many seconds; null: as usual. */
export async function withLife<T>({ control }: Attempt, life: number | null, work: () => Promise<T>): Promise<T> {
  if (life === null) return work();
  try {
    await control.setTokenLife(life);
    return await work();
  } finally {
    await control.setTokenLife(null);
  }
}

/** Where the app signs the user out, it has to keep another one signed in for whom nothing ends. */
async function proved(
  attempt: Attempt,
  { end, without = () => Promise.resolve(), isMeant }: Change,
  life: number | null,
): Promise<AskedAgain | Finding> {
  const found = await once(attempt, end, isMeant, life);
  if ("verdict" in found || found.standing !== "out") return found;
  const other = await once(attempt, without, isMeant, life);
  if ("verdict" in other || other.standing === "in") return "verdict" in other ? other : found;
  return notReached("the app signed the user out, and does so where nothing ended, too");
}

async function once(
  attempt: Attempt,
  end: () => Promise<void>,
  isMeant: Change["isMeant"],
  life: number | null,
): Promise<AskedAgain | Finding> {
  const browser = await attempt.newBrowser();
  const visit = await attempt.signIn(browser);
  // With a life this short, the app may refresh as soon as --signed-in is opened.
  const why = life === null ? whyNotSignedIn(visit, await attempt.standing(browser)) : null;
  if (why !== null) return notReached(why);
  await end();
  const mark = await attempt.mark();
  if (life !== null) await attempt.wait(life * 1000 + 100);
  const standing = await attempt.standing(browser);
  const refused = (await attempt.requests(mark)).filter((record) => isMeant(record) && isRefused(record));
  return { refused, standing };
}

function isRefused({ status, response }: Recorded): boolean {
  const body = Object(response?.["body"]) as { readonly active?: unknown };
  return status >= 400 || body.active === false;
}

export const refreshRefused: Case<Attempt> = {
  name: "refresh-refused",
  mustNot: "a user stays signed in after the refresh token was refused",
  should: "sign out, or ask to sign in again",
  paragraph: "RFC 6749 5.2, 6",
  fix: "end the session where a refresh fails with invalid_grant",
  async run(attempt) {
    const found = await askAgain(attempt, {
      end: () => attempt.control.expire("all"),
      without: () => attempt.control.expire("access"),
      isMeant: ({ endpoint, grant_type: grant }) => endpoint === "token" && grant === "refresh_token",
    });
    if ("verdict" in found) return found;
    if (found.refused.length === 0) return notReached("the app did not refresh");
    if (found.standing === "broken") return standingUnknown;
    return found.standing === "in" ? unnoticed("kept the user signed in") : noticed("treated the user as signed out");
  },
};

export const accessRevoked: Case<Attempt> = {
  name: "access-revoked",
  mustNot: "a user whose access was revoked looks signed in",
  should: "treat a 401 or 403 of idp as signed out",
  paragraph: "RFC 6750 3.1, RFC 7009 2.1",
  fix: "end the session where UserInfo answers 401 or 403, or introspection says active: false",
  async run(attempt) {
    const found = await askAgain(attempt, {
      end: () => attempt.control.revoke(),
      isMeant: ({ endpoint }) => ["userinfo", "introspect", "token"].includes(endpoint),
    });
    if ("verdict" in found) return found;
    if (found.standing === "broken") return standingUnknown;
    if (found.standing === "in") return unnoticed("kept the user signed in");
    return noticed("treated the user as signed out");
  },
};
