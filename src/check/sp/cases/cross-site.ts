import { whyNotSignedIn, refusal } from "../../frame/app.ts";
import { notReached, unnoticed, works, type Case } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import { heldIn, signedInBy } from "../judge.ts";

/** The response as it comes at every customer: their identity provider is another site, while everything on localhost is one. */
export const crossSite: Case<Attempt> = {
  name: "cross-site",
  mustNot: "a response that comes from another site signs nobody in, as from every customer's identity provider",
  should: "sign the user in without a cookie that has SameSite=Lax or Strict",
  paragraph: "RFC 6265bis 5.6.7, 8.8; SAML Bindings 3.5.4",
  fix: "keep what the request needs in a cookie with SameSite=None; Secure, or in the store by the ID of the request",
  async run(attempt) {
    const browser = await attempt.newBrowser();
    const response = await heldIn(attempt, browser);
    if ("verdict" in response) return response;
    const visit = await browser.deliver(response, "another-site");
    const found = await signedInBy(attempt, browser, visit);
    if (found === "in") {
      const unmarked = visit.unmarked ?? [];
      if (unmarked.length === 0) return works("signed the user in");
      const names = unmarked.join(" and ");
      return works(`signed the user in; ${names} without SameSite is sent so only in its first two minutes (Chromium)`);
    }
    if (found !== null) return found;
    // From the same site it must work, else it is not the cookies.
    const other = await attempt.newBrowser();
    const why = whyNotSignedIn(await attempt.signIn(other), await attempt.standing(other));
    if (why !== null) return notReached(why);
    return unnoticed(`${refusal(visit)}, without the cookies that a browser keeps back from another site`);
  },
};
