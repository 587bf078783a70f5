import { ending, spoiledBy, whyNotBegun, type Attempt } from "../attempt.ts";
import { notReached, notRequired, works, type Case, type Finding } from "../../verdicts/case.ts";

/** A token endpoint that is busy once. It does not use up the code, so the app can send the code again. */

const base = {
  mustNot: "a server that is busy for a moment ends the sign-in",
  should: "wait for Retry-After, and send the request once more",
  fix: "send the token request again after 429 and 503, once, when Retry-After is over",
};

async function busyOnce(attempt: Attempt, status: number): Promise<Finding> {
  const fault = await attempt.arm({
    ...{ endpoint: "token", status, header: { "Retry-After": "1" } },
    ...{ client: attempt.control.client, grant_type: "authorization_code" },
  });
  const browser = await attempt.newBrowser();
  const visit = await attempt.signIn(browser);
  const standing = await attempt.standing(browser);
  if (spoiledBy(await attempt.requests(), fault) === undefined) {
    return notReached(whyNotBegun(visit) ?? "the app exchanged no code");
  }
  if (visit.end.kind === "stuck" || standing === "broken") return notReached(`the app ${ending(visit)}`);
  return standing === "in" ? works("tried again, and signed the user in") : notRequired(ending(visit));
}

export const retry503: Case<Attempt> = {
  ...base,
  name: "retry-503",
  paragraph: "RFC 9110 15.6.4, 10.2.3",
  run: (attempt) => busyOnce(attempt, 503),
};

export const retry429: Case<Attempt> = {
  ...base,
  name: "retry-429",
  paragraph: "RFC 6585 4",
  run: (attempt) => busyOnce(attempt, 429),
};
