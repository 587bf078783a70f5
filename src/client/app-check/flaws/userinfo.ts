import { notReached } from "../case.ts";
import { flawCases } from "./flaw-case.ts";

/** Flaws of the UserInfo response. */

const fix =
  "compare sub of UserInfo with sub of the ID token: fetchUserInfo(config, accessToken, claims.sub) (openid-client)";

export const userinfoCases = flawCases(
  {
    prefix: "userinfo",
    endpoint: "userinfo",
    ofClient: true,
    restarts: false,
    absent: () => notReached("the app never asked UserInfo"),
  },
  [
    {
      flaw: "sub-wrong",
      must: "refuse",
      mustNot: "the data of another user is taken for the user's",
      should: "not use the UserInfo response",
      paragraph: "OpenID Connect Core 5.3.2",
      fix,
    },
    {
      flaw: "sub-missing",
      must: "refuse",
      mustNot: "data that names no user is taken for the user's",
      should: "not use the UserInfo response",
      paragraph: "OpenID Connect Core 5.3.2",
      fix,
    },
  ],
);
