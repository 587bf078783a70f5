import { notRequired, type Case } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import { answered, judged, letsIn, unauthorizedOrForbidden } from "../judge.ts";

/** Only with `--users-only`: a token that no user has (RFC 6749 4.4). */

const base = {
  should: "answer 401 or 403: no user asks",
  fix: "tell tokens of users by a claim that client credentials never get, such as auth_time, or give services scopes of their own",
};

export const serviceToken: Case<Attempt> = {
  ...base,
  name: "service-token",
  mustNot: "a token of a client that speaks for itself lets a request in",
  paragraph: "RFC 9068 2.2, 5; RFC 6749 4.4",
  run: async (attempt) => judged(await attempt.send(await attempt.serviceToken(false)), unauthorizedOrForbidden),
};

export const serviceTokenAsUser: Case<Attempt> = {
  ...base,
  name: "service-token-as-user",
  mustNot: "a token of a client whose client_id is the sub of a user lets a request in",
  paragraph: "RFC 9700 4.15",
  async run(attempt) {
    const reply = await attempt.send(await attempt.serviceToken(true));
    if (!letsIn(reply)) return judged(reply, unauthorizedOrForbidden);
    return notRequired(
      `let it in (${answered(reply)}): to the API, its sub is a user's`,
      "RFC 9700 4.15: the authorization server prevents it",
    );
  },
};
