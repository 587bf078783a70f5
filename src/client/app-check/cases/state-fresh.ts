import { noticed, notRequired, unnoticed, type Case } from "../case.ts";
import { askSome, isFinding, textsOf, whyGuessable } from "./sample.ts";

export const stateFresh: Case = {
  name: "state-fresh",
  mustNot: "state can be guessed, or is used for two sign-ins, and nothing takes its place",
  should: "send a new random state each time, or rely on PKCE or nonce",
  paragraph: "RFC 6749 10.10, 10.12",
  fix: "make state of at least 16 random bytes in the handler that redirects: randomState() (openid-client)",
  async run(attempt) {
    const all = await askSome(attempt);
    if (isFinding(all)) return all;
    const why = textsOf(all, "state").length === 0 ? "sent no state" : whyGuessable(all, "state");
    if (why === null) return noticed("sent a new random state each time");
    const other = ["code_challenge", "nonce"].find(
      (name) => textsOf(all, name).length === all.length && whyGuessable(all, name) === null,
    );
    return other === undefined
      ? unnoticed(`${why}, and neither a new code_challenge nor a new nonce each time`)
      : notRequired(`${why}, but a new ${other} each time`, "RFC 9700 2.1: PKCE or nonce may take its place");
  },
};
