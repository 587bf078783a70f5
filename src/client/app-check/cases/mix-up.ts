import { ending, whyNotBegun, type Attempt } from "../attempt.ts";
import { changed } from "../browser.ts";
import { notReached, unnoticed, type Case } from "../../verdicts/case.ts";
import { noticedIfDelivered, standingUnknown } from "../standing.ts";
import { elsewhere } from "./elsewhere.ts";

export const mixUp: Case<Attempt> = {
  name: "mix-up",
  mustNot: "a code of one issuer is sent to another",
  should: "compare iss with the issuer that was asked, before the code is sent anywhere",
  paragraph: "RFC 9207 2.4, RFC 9700 4.4",
  fix: "compare iss at the callback with the issuer, before the code is sent",
  async run(attempt) {
    const browser = await attempt.newBrowser();
    const begun = await attempt.signIn(browser, "hold");
    const { response } = begun;
    if (response === null) return notReached(whyNotBegun(begun) ?? "the app did not begin to sign in");
    const mark = await attempt.mark();
    const visit = await browser.deliver(changed(response, { iss: elsewhere, code: attempt.random(24) }));
    if (visit.end.kind === "stuck") return notReached(`the app ${ending(visit)}`);
    const standing = await attempt.standing(browser);
    if (standing === "broken") return standingUnknown;
    const records = await attempt.requests(mark);
    if (records.some(({ endpoint }) => endpoint === "token")) {
      return unnoticed("sent the code of another issuer to this one's token endpoint");
    }
    return standing === "in" ? unnoticed("signed the user in") : noticedIfDelivered(attempt, ending(visit));
  },
};
