import { notReached, notRequired } from "../../frame/verdict.ts";
import { flawCases } from "./flaw-case.ts";

/** Flaws of the authorization response. */

const refuse = "refuse the response, and not exchange the code";
const fixState = "keep state in the session before the redirect, and compare it at the callback";
const fixIss = "give the whole callback URL to the library's check, with iss";

export const responseCases = flawCases(
  {
    prefix: "response",
    endpoint: "authorize",
    ofClient: true,
    restarts: false,
    absent: (attempt, row) => {
      if (row.flaw.startsWith("state-")) {
        return notRequired(
          "sends no state, so there is none to check",
          "RFC 9700 2.1: PKCE or nonce may take its place",
        );
      }
      return notReached(`no response of ${attempt.control.client} had ${row.flaw.replace(/-.*/, "")} in it`);
    },
  },
  [
    {
      flaw: "state-missing",
      must: "refuse",
      mustNot: "a response without state signs a user in",
      should: refuse,
      paragraph: "RFC 6749 4.1.2, 10.12",
      fix: fixState,
    },
    {
      flaw: "state-wrong",
      must: "refuse",
      mustNot: "a response with the state of another request signs a user in",
      should: refuse,
      paragraph: "RFC 6749 4.1.2, 10.12",
      fix: fixState,
    },
    {
      flaw: "iss-missing",
      must: "refuse",
      mustNot: "a response without iss signs a user in, although discovery announces iss",
      should: refuse,
      paragraph: "RFC 9207 2.4",
      fix: fixIss,
    },
    {
      flaw: "iss-wrong",
      must: "refuse",
      mustNot: "a response of another issuer signs a user in",
      should: refuse,
      paragraph: "RFC 9207 2.4",
      fix: fixIss,
    },
    {
      flaw: "code-missing",
      must: "refuse",
      mustNot: "a response without code signs a user in",
      should: "show that the sign-in failed",
      paragraph: "RFC 6749 4.1.2",
      fix: "end the callback with an error where code is absent",
    },
    {
      flaw: "code-twice",
      must: "refuse",
      mustNot: "a response with two codes signs a user in",
      should: refuse,
      paragraph: "RFC 6749 3.1",
      fix: "refuse a callback in which a parameter comes twice: query.code is a list then",
    },
    {
      flaw: "error-and-code",
      must: "refuse",
      mustNot: "a response with an error signs a user in",
      should: refuse,
      paragraph: "RFC 6749 4.1.2.1",
      fix: "look at error before code",
    },
  ],
);
