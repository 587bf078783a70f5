import { ending, wrote, heldSignIn } from "../../frame/app.ts";
import { withoutOpenId, type Attempt } from "../attempt.ts";
import { notReached, unnoticed, works, type Case, isFinding } from "../../frame/verdict.ts";
import { betweenFetches, signInLater } from "../flaws/flaw-case.ts";

export const keysRotated: Case<Attempt> = {
  name: "keys-rotated",
  mustNot: "sign-ins fail once the provider signs with a new key",
  should: "read the keys again where a kid is unknown, then accept",
  paragraph: "OpenID Connect Core 10.1.1",
  fix: "let the library fetch the keys where a kid is unknown, and do not keep a copy of them",
  waits: betweenFetches,
  async run(attempt) {
    const { control } = attempt;
    const without = withoutOpenId(attempt);
    if (without !== null) return without;
    if (!control.isOwn) return notReached("it would rotate the keys of every client of this issuer: use -- CMD");
    const browser = await attempt.newBrowser();
    const begun = await heldSignIn(attempt, browser);
    if (isFinding(begun)) return begun;
    await control.rotateKeys();
    const visit = await browser.deliver(begun.response);
    if ((await attempt.standing(browser)) === "in") return works("signed the user in with the new key");
    if (visit.end.kind === "stuck") return notReached(`the app ${ending(visit)}`);
    return (await signInLater(attempt))
      ? works("signed the user in, once it fetched the keys again")
      : unnoticed(`${ending(visit)}${wrote(visit)}, and did not sign in later either`);
  },
};
