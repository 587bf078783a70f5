import type { Attempt, AppStanding } from "../attempt.ts";
import { notReached, type Finding } from "../../verdicts/case.ts";
import type { Recorded } from "../control.ts";
import { whyNotSignedIn } from "../standing.ts";

/** Whether a signed-in app asks idp again, once something has ended there. */

interface AskedAgain {
  /** The requests of this case that idp has refused since. */
  readonly refused: readonly Recorded[];
  readonly standing: AppStanding;
}

/** Seconds. Tokens of this life have expired when `--signed-in` is opened next. */
const shortLife = 1;

/**
 * Signs in, ends something at idp, and opens `--signed-in`. Some apps ask idp only when their access token has expired: an app that asks
 * nothing gets a second try with tokens of a short life, if nobody else uses the issuer.
 * @param end what ends at idp
 * @param isMeant the requests that the case is about
 * @returns a finding if the app did not sign in, or asked nothing and kept the user signed in
 */
export async function askAgain(
  attempt: Attempt,
  end: () => Promise<void>,
  isMeant: (record: Recorded) => boolean,
): Promise<AskedAgain | Finding> {
  const lives = attempt.control.isOwn ? [null, shortLife] : [null];
  for (const life of lives) {
    const found = await withLife(attempt, life, () => once(attempt, end, isMeant, life));
    if ("verdict" in found || found.refused.length > 0 || found.standing !== "in") return found;
  }
  return notReached("the app did not ask idp again, so it cannot know");
}

async function withLife<T>({ control }: Attempt, life: number | null, work: () => Promise<T>): Promise<T> {
  if (life === null) return work();
  try {
    await control.setTokenLife(life);
    return await work();
  } finally {
    await control.setTokenLife(null);
  }
}

async function once(
  attempt: Attempt,
  end: () => Promise<void>,
  isMeant: (record: Recorded) => boolean,
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
