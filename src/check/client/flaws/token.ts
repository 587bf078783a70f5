import { notReached, notRequired, unnoticed } from "../../frame/verdict.ts";
import { flawCases } from "./flaw-case.ts";

/** Flaws of the token response. */

export const tokenCases = flawCases(
  {
    prefix: "token",
    endpoint: "token",
    ofClient: true,
    grantType: "authorization_code",
    restarts: false,
    absent: (_attempt, { flaw }) =>
      notReached(
        flaw === "refresh-token-missing"
          ? "the app has no refresh token, so there is none to leave out"
          : "the app exchanged no code",
      ),
    judge: ({ flaw, records, spoiled }) => {
      if (flaw !== "token-type-wrong") return Promise.resolve(null);
      const used = records.slice(records.indexOf(spoiled)).find(({ endpoint }) => endpoint === "userinfo");
      return Promise.resolve(
        used === undefined
          ? notRequired("signed the user in by the ID token, and did not use the access token at idp")
          : unnoticed("used the access token for UserInfo, and signed the user in"),
      );
    },
  },
  [
    {
      flaw: "token-type-wrong",
      must: "refuse",
      mustNot: "an access token of an unknown type is used",
      should: "not use the access token",
      paragraph: "RFC 6749 7.1",
      fix: 'refuse a token response whose token_type is not "Bearer", in any case of letters',
    },
    {
      flaw: "expires-in-missing",
      must: "work",
      mustNot: "a token response without expires_in breaks the sign-in",
      should: "go on, and refresh after a 401",
      paragraph: "RFC 6749 5.1",
      fix: "treat expires_in as optional: NaN is no time",
    },
    {
      flaw: "refresh-token-missing",
      must: "work",
      mustNot: "a token response without refresh_token breaks the sign-in",
      should: "go on without one",
      paragraph: "RFC 6749 5.1",
      fix: "treat refresh_token as optional",
    },
    {
      flaw: "scope-wider",
      must: "optional",
      mustNot: "a scope that nobody asked for counts as granted",
      should: "not assume that it was granted; what an app assumes cannot be seen from outside",
      paragraph: "RFC 6749 3.3, 5.1",
      fix: "compare scope of the token response with what you asked for",
    },
  ],
);
