import type { Attempt } from "../attempt.ts";
import { noticed, notRequired, unnoticed, type Case } from "../../verdicts/case.ts";
import { askSome, isFinding, textsOf, whyGuessable } from "./sample.ts";

export const nonceFresh: Case<Attempt> = {
  name: "nonce-fresh",
  mustNot: "nonce can be guessed, or is used for two sign-ins",
  should: "send a new random nonce each time",
  paragraph: "OpenID Connect Core 3.1.2.1, 15.5.2",
  fix: "make nonce of at least 16 random bytes in the handler that redirects",
  async run(attempt) {
    const all = await askSome(attempt);
    if (isFinding(all)) return all;
    if (textsOf(all, "nonce").length === 0) {
      return notRequired("sent no nonce", "OpenID Connect Core 3.1.2.1 (optional in the code flow)");
    }
    const why = whyGuessable(all, "nonce");
    return why === null ? noticed("sent a new random nonce each time") : unnoticed(why);
  },
};
