import type { HomeView } from "../../../src/http/pages/home.ts";
import type { TryItFailedView, TryItView } from "../../../src/http/pages/try-it.ts";
import { common } from "./shared.ts";

/** A view of the start page and of "Try it" in every state. */

const home: HomeView = {
  ...common,
  issuer: "http://localhost:4370",
  discovery: "http://localhost:4370/.well-known/openid-configuration",
  accountHref: "/account",
  tryIt: true,
  loginHint: null,
  beginAction: "/_idp/try",
  csrf: "c5rf",
  elsewhere: null,
  inspect: "npx dev-idp open",
  command: "npx dev-idp login",
};

export const homeViews = {
  "home-try-it": home,
  "home-sign-in-as": { ...home, loginHint: "alice" },
  "home-elsewhere": { ...home, beginAction: null, csrf: "", elsewhere: "http://localhost:4370" },
  "home-off": { ...home, tryIt: false, beginAction: null, csrf: "", command: null },
} satisfies Record<string, HomeView>;

const refusedCall = {
  path: "/api/v2/oauth/userinfo",
  status: 403,
  body: JSON.stringify({ error: "access_revoked", error_description: "Access revoked by user" }, null, 2),
};

const tryIt: TryItView = {
  ...common,
  keptQuery: null,
  state: "done",
  action: "/_idp/try/userinfo",
  csrf: "c5rf",
  beginAction: "/_idp/try",
  accessToken: "eyJ0eXAiOiJhdCtqd3QifQ.e30.c2ln",
  idToken: {
    claims: [
      { name: "sub", value: "7123456789012345678" },
      { name: "email", value: "alice@example.com" },
      { name: "email_verified", value: true },
    ],
    decoded: JSON.stringify({ header: { alg: "RS256" }, payload: { sub: "7123456789012345678" } }, null, 2),
  },
  userinfo: { ...refusedCall, status: 200, body: JSON.stringify({ sub: "7123456789012345678" }, null, 2) },
  homeHref: "/",
};

export const tryItViews = {
  "try-it-done": tryIt,
  "try-it-called": { ...tryIt, state: "called", idToken: null },
  "try-it-called-refused": { ...tryIt, state: "called", idToken: null, userinfo: refusedCall },
  "try-it-removed": { ...tryIt, state: "removed", idToken: null, userinfo: refusedCall },
} satisfies Record<string, TryItView>;

const tryItFailed: TryItFailedView = {
  ...common,
  keptQuery: null,
  state: "refused",
  beginAction: "/_idp/try",
  csrf: "c5rf",
  error: "access_denied",
  description: "the user did not allow it",
  homeHref: "/",
};

export const tryItFailedViews = {
  "try-it-refused": tryItFailed,
  "try-it-over": { ...tryItFailed, state: "over", error: "invalid_request" },
} satisfies Record<string, TryItFailedView>;
