import type { Attempt } from "../attempt.ts";
import { noticed, unnoticed, type Case } from "../../verdicts/case.ts";
import { askSome, isFinding, textsOf } from "./sample.ts";

export const pkce: Case<Attempt> = {
  name: "pkce",
  mustNot: "a code that was taken on its way can be used",
  should: "send code_challenge with code_challenge_method=S256",
  paragraph: "RFC 9700 2.1.1, RFC 7636 4.2",
  fix: "turn PKCE on, with S256",
  async run(attempt) {
    const all = await askSome(attempt);
    if (isFinding(all)) return all;
    if (textsOf(all, "code_challenge").length < all.length) return unnoticed("sent no code_challenge");
    const other = textsOf(all, "code_challenge_method").find((method) => method !== "S256");
    return other === undefined
      ? noticed("sent code_challenge with S256")
      : unnoticed(`sent code_challenge_method=${other}`);
  },
};
