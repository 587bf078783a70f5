import type { Attempt } from "../attempt.ts";
import { noticed, notRequired, unnoticed, type Case } from "../../verdicts/case.ts";
import { askSome, isFinding, textsOf, whyGuessable } from "./sample.ts";

export const stateFresh: Case<Attempt> = {
  name: "state-fresh",
  mustNot: "state can be guessed, or is used for two sign-ins",
  should: "send a new random state each time",
  paragraph: "RFC 6749 10.10, 10.12",
  fix: "make state of at least 16 random bytes in the handler that redirects",
  async run(attempt) {
    const all = await askSome(attempt);
    if (isFinding(all)) return all;
    const why = textsOf(all, "state").length === 0 ? "sent no state" : whyGuessable(all, "state");
    if (why === null) return noticed("sent a new random state each time");
    const isNoticed = (name: string): boolean => attempt.verdicts.get(name) === "noticed";
    const other = ["pkce-fresh", "nonce-fresh"].find(isNoticed);
    if (other !== undefined && isNoticed("login-csrf")) {
      return notRequired(
        `${why}; ${other} and login-csrf are noticed`,
        "RFC 9700 2.1: PKCE or nonce may take its place",
      );
    }
    return unnoticed(
      `${why}; nothing takes its place: pkce-fresh or nonce-fresh, and login-csrf, must be noticed in the same run`,
    );
  },
};
