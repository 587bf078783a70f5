import { noticed, notRequired, unnoticed, type Case } from "../case.ts";
import { askSome, isFinding, textsOf, whyGuessable } from "./sample.ts";

export const stateFresh: Case = {
  name: "state-fresh",
  mustNot: "state can be guessed, or is used for two sign-ins",
  should: "send a new random state each time",
  paragraph: "RFC 6749 10.10, 10.12",
  fix: "make state of at least 16 random bytes in the handler that redirects: randomState() (openid-client)",
  async run(attempt) {
    const all = await askSome(attempt);
    if (isFinding(all)) return all;
    if (textsOf(all, "state").length === 0) {
      const other = ["code_challenge", "nonce"].find((name) => textsOf(all, name).length === all.length);
      if (other === undefined) return unnoticed("sent neither state, nor nonce, nor code_challenge");
      return notRequired(`sent no state, but ${other}`, "RFC 9700 2.1: PKCE or nonce may take its place");
    }
    const why = whyGuessable(all, "state");
    return why === null ? noticed("sent a new random state each time") : unnoticed(why);
  },
};
