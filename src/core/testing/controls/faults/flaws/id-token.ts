import { distance, flawsOf, leaveOut, put, wrongNames, type Apply } from "./flaw.ts";

/**
 * Flaws that a fault puts into the ID token (those of `token issue`: access-token.ts). Times are relative to the token's own, because clients may
 * have another clock.
 */

const refuse = { should: "refuse the ID token, and sign nobody in", must: "refuse" } as const;
/** Where an app need not look. */
const optional = { ...refuse, must: "optional" } as const;
const core = (paragraph: string): string => `OpenID Connect Core ${paragraph}`;
const check = (what: string): string => `verify the ID token with the library's own check, and ${what}`;

const nonceFix = "keep nonce in the session before the redirect, and compare it with that of the ID token";
const signatureFix = check("give it the provider's keys (jwks_uri)");
const overTls = core("3.1.3.7 (6): TLS may take its place");

const claim = (name: string, value: Parameters<typeof put>[1]): Apply => ({ kind: "claims", change: put(name, value) });
const without = (name: string): Apply => ({ kind: "claims", change: leaveOut(name) });

export const idTokenFlaws = flawsOf("token", "id-token", [
  {
    name: "id-token-missing",
    wrong: "a token response without an ID token",
    ...{ should: "refuse the response, and sign nobody in", must: "refuse", rule: core("3.1.3.3") },
    fix: "require id_token in the token response",
    apply: { kind: "body", change: leaveOut("id_token") },
  },
  {
    name: "not-jwt",
    wrong: "a token response whose id_token is no JWT",
    ...{ should: "refuse the response, and sign nobody in", must: "refuse", rule: core("3.1.3.7"), hasOwnCase: true },
    fix: "take the user from the ID token, verified by the library's own check",
    apply: { kind: "body", change: put("id_token", () => "not-a-jwt") },
  },
  {
    name: "signature-wrong",
    wrong: "an ID token with a wrong signature",
    ...{ ...optional, rule: overTls, fix: signatureFix },
    apply: { kind: "signature", how: "one-bit" },
  },
  {
    name: "alg-none",
    wrong: "an ID token that is not signed",
    ...{ ...refuse, rule: core("3.1.3.7 (7), RFC 8725 3.2") },
    fix: check('name the algorithms you accept, such as RS256, never "none"'),
    apply: { kind: "signature", how: "none" },
  },
  {
    name: "kid-unknown",
    wrong: "an ID token of an unknown key",
    ...{ ...optional, rule: overTls, fix: signatureFix },
    apply: { kind: "signature", how: "other-key" },
  },
  {
    name: "kid-missing",
    wrong: "an ID token without kid",
    ...{ should: "use the only key that fits, or refuse", must: "optional", rule: core("10.1"), fix: signatureFix },
    apply: { kind: "signature", how: "no-kid" },
  },
  {
    name: "iss-wrong",
    wrong: "an ID token of another issuer",
    ...{ ...refuse, rule: core("3.1.3.7 (2)"), fix: check("compare iss with the issuer") },
    apply: claim("iss", () => wrongNames.issuer),
  },
  {
    name: "aud-wrong",
    wrong: "an ID token for another client",
    ...{ ...refuse, rule: core("3.1.3.7 (3), ASVS 5.0 10.5.4"), fix: check("compare aud with your client_id") },
    apply: claim("aud", () => wrongNames.audience),
  },
  {
    name: "aud-extra",
    wrong: "an ID token that names a second, unknown client",
    ...{ ...refuse, rule: core("3.1.3.7 (3), ASVS 5.0 10.5.4") },
    fix: "at the callback, refuse a list in aud that has another client, too: most libraries accept it where azp is your client",
    apply: claim("aud", (aud) => [aud, wrongNames.audience]),
  },
  {
    name: "azp-wrong",
    wrong: "an ID token whose azp is another client",
    ...{ ...optional, rule: core("3.1.3.7 (5)"), fix: check("compare azp with your client_id") },
    apply: claim("azp", () => wrongNames.audience),
  },
  {
    name: "exp-past",
    wrong: "an ID token that expired an hour ago",
    ...{ ...refuse, rule: core("3.1.3.7 (9)"), fix: check("compare exp with the time") },
    apply: claim("exp", (_exp, { iat }) => Number(iat) - distance),
  },
  {
    name: "iat-future",
    wrong: "an ID token from an hour ahead",
    ...{ ...optional, rule: core("3.1.3.7 (10)"), fix: check("compare iat with the time") },
    apply: claim("iat", (iat) => Number(iat) + distance),
  },
  {
    name: "iat-missing",
    wrong: "an ID token without iat",
    ...{ ...refuse, rule: core("2"), fix: check("require iat") },
    apply: without("iat"),
  },
  {
    name: "sub-missing",
    wrong: "an ID token without sub",
    ...{ ...refuse, rule: core("2"), fix: check("require sub") },
    apply: without("sub"),
  },
  {
    name: "nonce-wrong",
    wrong: "an ID token with another nonce",
    ...{ ...refuse, rule: core("3.1.3.7 (11), ASVS 5.0 10.5.1"), fix: nonceFix },
    apply: claim("nonce", (nonce) => `${String(nonce)}x`),
  },
  {
    name: "nonce-missing",
    wrong: "an ID token without the nonce that was sent",
    ...{ ...refuse, rule: core("3.1.3.7 (11), ASVS 5.0 10.5.1"), fix: nonceFix },
    apply: without("nonce"),
  },
  {
    name: "at-hash-wrong",
    wrong: "an ID token for another access token",
    ...{ ...optional, rule: core("3.1.3.8"), fix: check("compare at_hash with the access token") },
    apply: claim("at_hash", () => Buffer.alloc(16).toString("base64url")),
  },
  {
    name: "crit",
    wrong: "an ID token with an extension that nobody knows",
    ...{ ...refuse, rule: core("3.1.3.7 (6), RFC 7515 4.1.11") },
    fix: check("refuse a header whose crit names what you do not know"),
    apply: { kind: "signature", how: "unknown-crit" },
  },
  {
    name: "iss-prefix",
    wrong: "an ID token whose iss only begins as the issuer does",
    ...{ ...refuse, rule: core("3.1.3.7 (2)") },
    fix: check("compare all of iss with the issuer, not only its start"),
    apply: claim("iss", (iss) => `${String(iss).replace(/\/$/, "")}/another`),
  },
  {
    name: "aud-contains",
    wrong: "an ID token whose aud only contains your client_id",
    ...{ ...refuse, rule: core("3.1.3.7 (3), ASVS 5.0 10.5.4") },
    fix: check("compare all of aud with your client_id, not only a part"),
    apply: claim("aud", (aud) => `not-${String(aud)}-but-another`),
  },
  {
    name: "iss-missing",
    wrong: "an ID token without iss",
    ...{ ...refuse, rule: core("2, 3.1.3.7 (2)"), fix: check("require iss") },
    apply: without("iss"),
  },
  {
    name: "aud-missing",
    wrong: "an ID token without aud",
    ...{ ...refuse, rule: core("2, 3.1.3.7 (3), ASVS 5.0 10.5.4"), fix: check("require aud") },
    apply: without("aud"),
  },
  {
    name: "exp-missing",
    wrong: "an ID token without exp, which never expires,",
    ...{ ...refuse, rule: core("2, 3.1.3.7 (9)"), fix: check("require exp") },
    apply: without("exp"),
  },
  {
    name: "alg-hs256-public",
    wrong: "an ID token signed by HS256 with the published key as the secret",
    ...{ ...refuse, rule: core("3.1.3.7 (7), RFC 8725 2.1") },
    fix: check("name the one algorithm that you registered, and never take it from the token"),
    apply: { kind: "signature", how: "public-as-secret" },
  },
  {
    name: "alg-hs256-secret",
    wrong: "an ID token signed by HS256 with the client's secret",
    ...{ ...optional, rule: core("3.1.3.7 (7): the algorithm is the registered one") },
    fix: check("name the one algorithm that you registered"),
    apply: { kind: "signature", how: "client-secret" },
  },
  {
    name: "aud-list",
    wrong: "an ID token whose aud is a list of one",
    mustNot: "an ID token whose aud is a list with your client_id alone ends the sign-in",
    ...{ should: "accept it: aud may be a list", must: "work", rule: core("2") },
    fix: "compare aud with your client_id whether it is a text or a list: [aud].flat().includes(clientId)",
    apply: claim("aud", (aud) => [aud].flat()),
  },
]);
