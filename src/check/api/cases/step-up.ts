import { noticed, notReached, unnoticed, type Case, type Finding } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import { claimsOf } from "../../shared/tokens.ts";
import { answered, challengesOf, judged, letsIn, unauthorized } from "../judge.ts";

/** Only with `--needs-acr` and `--max-age`: how strongly, and how lately, the user has to have signed in (RFC 9470). */

const error = "insufficient_user_authentication";

/** A token that does not meet it, then one that does. */
async function judgedStepUp(attempt: Attempt, token: string): Promise<Finding> {
  const reply = await attempt.send(token);
  const found = judged(reply, unauthorized);
  if (found.verdict !== "noticed") return found;
  const good = await attempt.send(await attempt.token());
  if (!letsIn(good)) return notReached(`a token that meets it is refused, too: ${answered(good)}`);
  return challengesOf(reply).some(({ parameters }) => parameters.get("error") === error)
    ? noticed(answered(reply))
    : unnoticed(`answered 401 without error=${error} in WWW-Authenticate`, {
        mustNot: "the refusal does not say that the user must sign in again",
      });
}

const should = `answer 401 with WWW-Authenticate: Bearer error="${error}"`;

export const acrMissing: Case<Attempt> = {
  name: "acr-missing",
  mustNot: "a token without the acr that is needed lets a request in",
  should: `${should}, acr_values="…"`,
  paragraph: "RFC 9470 3, 5",
  fix: "compare acr of the token with those that the request needs, and name them in acr_values of the challenge",
  async run(attempt) {
    const other = await attempt.token({ claims: { acr: "urn:idp:check:no-acr" } });
    const found = await judgedStepUp(attempt, other);
    if (found.verdict !== "noticed") return found;
    // An API may compare acr only where a token has one.
    const without = await attempt.control.withoutClaim(other, "acr");
    return without === null ? found : judgedStepUp(attempt, without);
  },
};

/** Seconds beyond `--max-age`: more than any leeway. */
const beyond = 3600;

export const authTimeOld: Case<Attempt> = {
  name: "auth-time-old",
  mustNot: "a token of a sign-in that is too long ago lets a request in",
  should: `${should}, max_age="…"`,
  paragraph: "RFC 9470 3, 5",
  fix: "compare auth_time of the token with the time, not iat: a refresh renews iat alone",
  async run(attempt) {
    const now = Number(claimsOf(await attempt.token())["iat"]);
    const old = { auth_time: now - (attempt.api.maxAge ?? 0) - beyond };
    return judgedStepUp(attempt, await attempt.token({ claims: old }));
  },
};
