import { refusalOf } from "../../src/core/base/errors.ts";
import type { KeptRequest } from "../../src/core/testing/ledger/ledger.ts";

/** Requests as the ledger records them: a sign-in that passes, and one that sends its code twice. */

const claims = { iss: "http://localhost:4370", sub: "7123456789012345678", aud: "demo-app", exp: 1_795_669_106 };
const sealed = (fingerprint: string) => ({ fingerprint });
const jwt = (fingerprint: string, more: object = {}) => ({
  fingerprint,
  header: { alg: "RS256", typ: "JWT", kid: "uKsTcrsBd1iO" },
  claims: { ...claims, ...more },
});

const page = "/interaction/WpQ-YYK4RqZZRAE5Q-zxqw";
const callback = "http://localhost:3000/callback";

let count = 0;

const request = (
  second: number,
  [method, endpoint]: readonly [method: string, endpoint: string],
  change: Partial<KeptRequest>,
): KeptRequest => ({
  id: `r${(count += 1)}`,
  time: `2026-11-20T12:04:${String(second).padStart(2, "0")}.000Z`,
  flow: null,
  ...{ endpoint, method },
  path: `/api/v2/oauth/${endpoint}`,
  status: 200,
  ms: 3.4,
  ...{ client: "demo-app", user: null, grant_type: null, scope: null, parameters: {}, response: null },
  ...{ metadata_document: null, outcome: null, refusal: null, fault: null, clock: null },
  ...change,
});

const asked = {
  response_type: "code",
  client_id: "demo-app",
  redirect_uri: callback,
  scope: "openid profile email",
  state: sealed("_RnY7oSRo6"),
  nonce: "n-0S6_WzA2Mj",
  code_challenge: sealed("dKbZaOeYPP"),
  code_challenge_method: "S256",
};
const exchanged = {
  authorization: { scheme: "Basic", fingerprint: null },
  grant_type: "authorization_code",
  code: sealed("gvlEppizcY"),
  redirect_uri: callback,
  code_verifier: sealed("BmbtZ7kBGQ"),
};

const signIn = (flow: string): readonly KeptRequest[] => [
  request(31, ["GET", "authorize"], {
    flow,
    status: 303,
    scope: "openid profile email",
    parameters: asked,
    response: { location: `${page}/login`, parameters: {} },
    outcome: { kind: "login-page" },
  }),
  request(31, ["GET", "login"], { flow, path: `${page}/login`, client: null }),
  request(34, ["POST", "login"], {
    ...{ flow, path: `${page}/login`, status: 303, client: null, user: "alice" },
    parameters: { csrf: { fingerprint: null }, username: "alice", pick: "1" },
    response: { location: `${page}/consent`, parameters: {} },
    outcome: { kind: "consent-page" },
  }),
  request(36, ["POST", "consent"], {
    ...{ flow, path: `${page}/consent`, status: 303, user: "alice" },
    parameters: { csrf: { fingerprint: null }, scope: ["openid", "profile", "email"], decision: "allow" },
    response: {
      location: callback,
      parameters: { code: sealed("gvlEppizcY"), state: sealed("_RnY7oSRo6"), iss: "http://localhost:4370" },
    },
    outcome: { kind: "back-to-the-client-with-a-code" },
  }),
  request(36, ["POST", "token"], {
    ...{ flow, user: "alice", grant_type: "authorization_code", scope: "openid profile email", ms: 18.2 },
    parameters: exchanged,
    response: {
      body: {
        access_token: jwt("Cgr6bdiFxT"),
        token_type: "Bearer",
        expires_in: 1800,
        id_token: jwt("qgZnWAGc1U", { nonce: "n-0S6_WzA2Mj" }),
      },
    },
    outcome: {
      kind: "tokens-without-scope",
      values: { grant: "authorization_code, PKCE ok", tokens: "access, id" },
    },
  }),
  request(37, ["GET", "userinfo"], {
    ...{ flow, user: "alice" },
    parameters: { authorization: { scheme: "Bearer", ...jwt("Cgr6bdiFxT") } },
    response: { body: { sub: "7123456789012345678", name: "Alice Adams" } },
  }),
];

export const passedRecords: readonly KeptRequest[] = signIn("f11");

export const refusedRecords: readonly KeptRequest[] = [
  ...signIn("f12"),
  request(41, ["POST", "token"], {
    ...{ flow: "f12", status: 400, user: "alice", grant_type: "authorization_code", clock: 600 },
    parameters: { ...exchanged, redirect_uri: "http://localhost:3001/callback" },
    response: { body: { error: "invalid_grant", error_description: "code was already used 5 s ago" } },
    outcome: null,
    refusal: refusalOf({
      code: "invalid_grant",
      message: "code was already used 5 s ago; every token of that grant was revoked",
      rule: "RFC 6749 4.1.2",
      fix: { text: "", command: ["idp", "grants", "show", "g_8fK2aQxYz01b"] },
    }),
  }),
];

/** One request each, that belongs to no app, or whose response a fault lost. */
export const otherRecords: readonly KeptRequest[] = [
  request(44, ["GET", "authorize"], {
    ...{ flow: "f13", status: 400, client: null, outcome: null },
    refusal: refusalOf({
      code: "invalid_request",
      message: 'client "web" is not registered',
      rule: null,
      fix: {
        text: "",
        command: ["idp", "clients", "add", "web", "--public", "--redirect-uri", "http://localhost:3000/callback"],
      },
    }),
  }),
  request(46, ["POST", "token"], {
    ...{ flow: "f14", status: 0, fault: "f1: connection closed" },
    response: { body: { access_token: jwt("b2x8vQ0aLw"), token_type: "Bearer" } },
  }),
];
