import { expect, test } from "vitest";
import { allCases as apiCases } from "../../src/check/api/cases/list.ts";
import { withFix as withApiFix } from "../../src/check/api/fixes.ts";
import { allCases as appCases } from "../../src/check/client/cases/list.ts";
import { withFix } from "../../src/check/client/fixes.ts";
import { allCases as spCases } from "../../src/check/sp/cases/list.ts";
import type { CaseText } from "../../src/check/frame/verdict.ts";
import { withFix as withSpFix } from "../../src/check/sp/fixes.ts";

/** The line to change names the library that the app or API has, or none. */

/** Names of libraries, and of what they export. */
const words: Readonly<Record<string, RegExp>> = {
  "openid-client": /openid-client|authorizationCodeGrant|expectedState: session|fetchUserInfo|idTokenExpected/,
  oauth4webapi: /oauth4webapi|validateAuthResponse|processAuthorizationCodeResponse|processUserInfoResponse/,
  jose: /\bjose\b|jwtVerify|createRemoteJWKSet|requiredClaims/,
  authjs: /Auth\.js|checks: \[|callbacks\./,
  authlib: /Authlib|authorize_access_token|client_kwargs/,
  passport: /passport/i,
  "oidc-client-ts": /oidc-client-ts|signinRedirect/,
  "express-openid-connect": /authorizationParams|getLoginState|afterCallback/,
  django: /OIDCAuthenticationBackend|OIDC_USE/,
  spring: /OAuth2/,
  "better-auth": /betterAuth/,
  jsonwebtoken: /jwt\.(?:verify|decode)/,
  "express-oauth2-jwt-bearer": /\bauth\(\{/,
  PyJWT: /PyJWT|"require": \[/,
  "@node-saml/passport-saml": /validateInResponseTo|profile\.get|node-saml/,
  samlify: /samlify|createLoginRequest|extract\./,
  "python3-saml": /"strict"|process_response|process_slo/,
};

/** The libraries that fixes name. */
const namedIn = (fixes: readonly string[]): readonly string[] =>
  Object.keys(words).filter((library) => fixes.some((fix) => words[library]?.test(fix) === true));

test.each([
  [null],
  ["openid-client"],
  ["oauth4webapi"],
  ["jose"],
  ["express-openid-connect"],
  ["passport"],
  ["authlib"],
  ["django"],
  ["spring"],
  ["oidc-client-ts"],
  ["better-auth"],
  ["go"],
] as const)("an app with %s", (library) => {
  const fixes = appCases.map((one) => withFix(one, library).fix);
  expect(namedIn(fixes)).toEqual(library === null || library === "go" ? [] : [library]);
});

test.each([[null], ["jose"], ["express-oauth2-jwt-bearer"], ["jsonwebtoken"], ["express"]] as const)(
  "an API with %s",
  (library) => {
    const fixes = apiCases.map((one) => withApiFix(one, (name) => name === library).fix);
    expect(namedIn(fixes)).toEqual(library === null || library === "express" ? [] : [library]);
  },
);

test.each([[null], ["@node-saml/passport-saml"], ["samlify"], ["python3-saml"]] as const)(
  "a service provider with %s",
  (library) => {
    const is = (name: string): boolean => name === library;
    const fixes = spCases.map((one) => withSpFix(one, { has: is, mentions: is }).fix);
    expect(namedIn(fixes)).toEqual(library === null ? [] : [library]);
  },
);

test("a repair is for the flaw of its case", () => {
  const fixOf = (cases: readonly CaseText[], name: string, fix: (one: CaseText) => CaseText): string =>
    cases.flatMap((one) => (one.name === name ? [fix(one).fix] : [])).join();
  const is = (name: string): boolean => name === "@node-saml/passport-saml";
  const ofSp = (name: string): string => fixOf(spCases, name, (one) => withSpFix(one, { has: is, mentions: is }));
  for (const name of ["doctype-split", "namespace-split", "algorithm-hmac"]) expect(ofSp(name)).toBe(ofSp("unsigned"));
  const ofApi = (name: string): string => fixOf(apiCases, name, (one) => withApiFix(one, (own) => own === "jose"));
  expect(ofApi("expired")).toContain("jwtVerify");
  expect(ofApi("expired-10m")).toContain("clock");
});
