import { type Attempt } from "../attempt.ts";
import { notReached, works, type Case, type Finding } from "../../frame/verdict.ts";
import { signOutAt, strangerAt, whyNotSignedIn } from "../../frame/app.ts";

/** An ordinary sign-in. */
export const control: Case<Attempt> = {
  name: "control",
  mustNot: "an ordinary sign-in fails",
  should: "sign the user in",
  paragraph: "OpenID Connect Core 3.1",
  fix: "give --start the address behind your Sign in button, and --signed-in one that only users may see",
  async run(attempt) {
    const { app, known } = attempt;
    const stranger = known.stranger ?? (await strangerAt(await attempt.newBrowser(), app));
    if ("verdict" in stranger) return stranger;
    const isFirst = known.stranger === null;
    known.stranger = stranger;
    const browser = await attempt.newBrowser();
    const visit = await attempt.signIn(browser);
    const why = whyNotSignedIn(visit, await attempt.standing(browser));
    if (why !== null) return notReached(why);
    known.signIns.push(visit);
    if (isFirst) known.shown = await attempt.shown(browser);
    return isFirst && app.signOut !== null ? signOut(attempt, app.signOut, browser) : works("signed the user in");
  },
};

async function signOut(
  attempt: Attempt,
  address: string,
  browser: Awaited<ReturnType<Attempt["newBrowser"]>>,
): Promise<Finding> {
  await signOutAt(browser, address);
  if ((await attempt.standing(browser)) !== "in") return works("signed the user in, and out");
  return notReached("--sign-out left the user signed in at --signed-in");
}
