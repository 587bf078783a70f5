import { works, notReached, type Case } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import { claimsOf, headerOf, isJwt } from "../../shared/tokens.ts";
import { answered, challengesOf, letsIn } from "../judge.ts";

/** A good token. */
export const control: Case<Attempt> = {
  name: "control",
  mustNot: "a good token is refused",
  should: "let a good token in",
  paragraph: "RFC 6750 2.1, RFC 9068 4",
  fix: "give --audience what the API expects in aud, --scope what it asks for, and --url and --method of a request that needs a token",
  async run(attempt) {
    const token = await attempt.token();
    const reply = await attempt.send(token);
    if (letsIn(reply)) return works(answered(reply));
    const why = challengesOf(reply).flatMap(({ parameters }) => parameters.get("error_description") ?? [])[0];
    const good = isJwt(token) ? inShort(token) : "an opaque one";
    return notReached(
      `${answered(reply)}${why === undefined ? "" : ` (${why.slice(0, 200)})`} to a good token: ${good}`,
    );
  },
};

function inShort(token: string): string {
  const { alg, typ } = headerOf(token);
  const { iss, aud, scope } = claimsOf(token);
  return JSON.stringify({ alg, typ, iss, aud, scope });
}

export const controlAgain = { ...control, name: "control-again" };
