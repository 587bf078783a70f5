import type { Attempt } from "../attempt.ts";
import { noticed, notReached, unnoticed, type Case } from "../../verdicts/case.ts";
import { askSome, isFinding, textsOf, whyGuessable } from "./sample.ts";

export const pkceFresh: Case<Attempt> = {
  name: "pkce-fresh",
  mustNot: "two sign-ins share a code_verifier",
  should: "make a new code_verifier for each sign-in",
  paragraph: "RFC 7636 4.1, 7.1",
  fix: "make the verifier in the handler that redirects, not when the app starts",
  async run(attempt) {
    const all = await askSome(attempt);
    if (isFinding(all)) return all;
    if (textsOf(all, "code_challenge").length === 0) return notReached("the app sent no code_challenge (see pkce)");
    const why = whyGuessable(all, "code_challenge");
    return why === null ? noticed("sent a new code_challenge each time") : unnoticed(why);
  },
};
