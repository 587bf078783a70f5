import { ending, spoiledBy, whyNotBegun, type Attempt } from "../attempt.ts";
import { noticed, notReached, unnoticed, type Case } from "../../verdicts/case.ts";

export const errorAnswer: Case<Attempt> = {
  name: "error-answer",
  mustNot: "a refused sign-in signs a user in, or begins again and again",
  should: "show that the sign-in failed, and let the user begin again",
  paragraph: "RFC 6749 4.1.2.1",
  fix: "look at error first at the callback, and show a page that needs nobody signed in",
  async run(attempt) {
    const fault = await attempt.arm({ endpoint: "authorize", error: "access_denied", client: attempt.control.client });
    const browser = await attempt.newBrowser();
    const visit = await attempt.signIn(browser);
    const standing = await attempt.standing(browser);
    if (spoiledBy(await attempt.requests(), fault) === undefined) {
      return notReached(whyNotBegun(visit) ?? "no authorization request of the client was refused");
    }
    if (visit.end.kind === "stuck" || standing === "broken") return notReached(`the app ${ending(visit)}`);
    if (standing === "in") return unnoticed("signed the user in");
    if (visit.end.kind === "idp") return unnoticed("began to sign in again at once, which never ends");
    return noticed(ending(visit));
  },
};
