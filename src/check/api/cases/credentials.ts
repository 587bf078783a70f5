import { noticed, notReached, notRequired, unnoticed, type Case, type Finding } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import { anyRefusal, answered, challengesOf, judged, letsIn, unauthorized, unauthorizedOrInvalid } from "../judge.ts";

/** How a token is presented, and how its refusal is told (RFC 6750 2, 3). */

const scheme = ({ api }: Attempt): string => (api.dpop ? "DPoP" : "Bearer");

/** The first finding that is not `noticed`, else the last. */
async function firstFailure(tries: readonly (() => Promise<Finding>)[]): Promise<Finding> {
  let last = notReached("nothing was sent");
  for (const one of tries) {
    last = await one();
    if (last.verdict !== "noticed") return last;
  }
  return last;
}

const noToken: Case<Attempt> = {
  name: "no-token",
  mustNot: "a request without credentials is let in",
  should: "answer 401 with WWW-Authenticate: Bearer (DPoP for bound tokens)",
  paragraph: "RFC 6750 3, RFC 9110 15.5.2",
  fix: "set WWW-Authenticate with every 401",
  async run(attempt) {
    const reply = await attempt.send(null);
    const found = judged(reply, unauthorized);
    if (found.verdict !== "noticed") return found;
    const challenge = challengesOf(reply).find((one) => one.scheme === scheme(attempt).toLowerCase());
    if (challenge === undefined) {
      return unnoticed(`answered 401 without WWW-Authenticate: ${scheme(attempt)}`, {
        mustNot: "the refusal has no challenge, so clients do not learn what to send",
      });
    }
    const error = challenge.parameters.get("error");
    if (error === undefined) return noticed("answered 401 with a challenge");
    return noticed(`answered 401 with a challenge; its error=${error} should be absent (RFC 6750 3.1)`);
  },
};

const malformed: Case<Attempt> = {
  name: "malformed",
  mustNot: "a text that is not a token is let in",
  should: "answer 401, or 400 invalid_request",
  paragraph: "RFC 6750 3.1",
  fix: "turn every error of the library that reads tokens into a 401",
  run: (attempt) =>
    firstFailure(
      ["not-a-token", "a.b.c", "e30.e30.e30"].map(
        (text) => async () => judged(await attempt.send(text), unauthorizedOrInvalid, text),
      ),
    ),
};

const schemeWrong: Case<Attempt> = {
  name: "scheme-wrong",
  mustNot: "a token is let in with another scheme",
  should: "answer 401, or 400 invalid_request",
  paragraph: "RFC 6750 2.1, RFC 9110 11.6.2",
  fix: "compare the scheme of Authorization, in any case of letters, before you read the token",
  async run(attempt) {
    const token = await attempt.token();
    const user = Buffer.from(`user:${token}`).toString("base64");
    return firstFailure(
      [
        { scheme: "Basic", text: token },
        { scheme: "Basic", text: user },
        { scheme: "Token", text: token },
      ].map(
        (one) => async () =>
          judged(await attempt.send(one.text, { scheme: one.scheme }), unauthorizedOrInvalid, one.scheme),
      ),
    );
  },
};

const tokenInQuery: Case<Attempt> = {
  name: "token-in-query",
  mustNot: "a token in the address lets a request in: addresses end in logs and histories",
  should: "ignore access_token in the query",
  paragraph: "RFC 6750 2.3, RFC 9700 4.3.2",
  fix: "read the token from Authorization alone",
  async run(attempt) {
    const token = await attempt.token();
    return judged(await attempt.send(null, { query: { access_token: token } }), anyRefusal);
  },
};

const tokenTwice: Case<Attempt> = {
  name: "token-twice",
  mustNot: "a good token in the body lets a request in whose header has an expired one",
  should: "refuse a request with two tokens",
  paragraph: "RFC 6750 2, 3.1",
  fix: "read the token from Authorization alone, or refuse a request that has two",
  async run(attempt) {
    const good = await attempt.token();
    const expired = await attempt.token({ expired: true });
    const form = new URLSearchParams({ access_token: good });
    let found = notReached("nothing was sent");
    // A proof fits one token (RFC 9449 4.2), so the API may look for it at either.
    for (const proofOf of attempt.api.dpop ? [expired, good] : [expired]) {
      const reply = await attempt.send(expired, { form, proofOf });
      if (reply.status === 501) return notReached("the API has no POST, so it reads no form: answered 501");
      found = judged(reply, anyRefusal);
      if (found.verdict !== "noticed") break;
    }
    if (letsIn(await attempt.send(expired))) return notReached("the expired token alone is let in (see expired)");
    if (found.verdict !== "noticed") return found;
    const alone = await attempt.send(null, { form });
    if (letsIn(alone)) return found;
    return notRequired(
      `${found.did}; to a good token in the body alone it ${answered(alone)}, so the body does not count`,
      "RFC 6750 2.2 (optional)",
    );
  },
};

const challenge: Case<Attempt> = {
  name: "challenge",
  mustNot: "the refusal of an expired token does not say why",
  should: 'answer with WWW-Authenticate: Bearer error="invalid_token"',
  paragraph: "RFC 6750 3, 3.1",
  fix: 'set WWW-Authenticate: Bearer error="invalid_token" with the 401',
  async run(attempt) {
    const token = await attempt.token({ expired: true });
    const reply = await attempt.send(token);
    if (reply.status !== 401) return notReached(`an expired token was not answered with 401: ${answered(reply)}`);
    if (JSON.stringify(reply.headers).includes(token) || reply.text.includes(token)) {
      return unnoticed("repeated the token", {
        mustNot: "the refusal repeats the token, which then ends in logs",
        fix: "leave the token out of the answer",
      });
    }
    if (challengesOf(reply).some(({ parameters }) => parameters.get("error") === "invalid_token")) {
      return noticed("answered 401 with error=invalid_token in WWW-Authenticate");
    }
    return unnoticed("answered 401 without error=invalid_token in WWW-Authenticate");
  },
};

export const credentialCases = { noToken, malformed, schemeWrong, tokenInQuery, tokenTwice, challenge };
