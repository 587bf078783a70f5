import { isObject } from "../../../../../text/json.ts";
import { another, distance, flawsOf, leaveOut, put, wrongNames, type Apply } from "./flaw.ts";

/** Flaws of other JSON responses: the token response, an ID-JAG, UserInfo, the keys and discovery. */

const body = (
  change: (json: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>> | null,
): Apply => ({
  kind: "body",
  change,
});

export const tokenResponseFlaws = flawsOf("token", "token", [
  {
    name: "token-type-wrong",
    wrong: "an access token of an unknown type",
    mustNot: "an access token of an unknown type is used",
    ...{ should: "not use the access token", must: "refuse", rule: "RFC 6749 7.1" },
    fix: 'refuse a token response whose token_type is not "Bearer", in any case of letters',
    apply: body(put("token_type", () => "unknown")),
  },
  {
    name: "type-case",
    wrong: "a token response with token_type in lower case",
    mustNot: "a token response with token_type in lower case ends the sign-in",
    ...{ should: "accept it: token_type has no case", must: "work", rule: "RFC 6749 5.1, 7.1" },
    fix: "compare token_type without its case",
    apply: body(put("token_type", (type) => String(type).toLowerCase())),
  },
  {
    name: "expires-in-missing",
    wrong: "a token response without expires_in",
    mustNot: "a token response without expires_in breaks the sign-in",
    ...{ should: "go on, and refresh after a 401", must: "work", rule: "RFC 6749 5.1" },
    fix: "treat expires_in as optional: NaN is no time",
    apply: body(leaveOut("expires_in")),
  },
  {
    name: "refresh-token-missing",
    wrong: "a token response without refresh_token",
    mustNot: "a token response without refresh_token breaks the sign-in",
    ...{ should: "go on with the token that it has, or without one", must: "work", rule: "RFC 6749 5.1, 6" },
    fix: "treat refresh_token as optional",
    apply: body(leaveOut("refresh_token")),
  },
  {
    name: "scope-wider",
    wrong: "a scope that nobody asked for",
    mustNot: "a scope that nobody asked for counts as granted",
    should: "not assume that it was granted; what an app assumes cannot be seen from outside",
    ...{ must: "optional", rule: "RFC 6749 3.3, 5.1" },
    fix: "compare scope of the token response with what you asked for",
    apply: body(put("scope", (scope) => `${String(scope)} not-asked-for`.trim())),
  },
]);

/** For the authorization server that gets the ID-JAG. */
const refuseIdJag = { should: "refuse the ID-JAG, and give no token", must: "refuse" } as const;
const claim = (name: string, value: Parameters<typeof put>[1]): Apply => ({ kind: "claims", change: put(name, value) });

export const idJagFlaws = flawsOf("token", "id-jag", [
  {
    name: "id-jag.typ-wrong",
    wrong: "an ID-JAG with the typ of an ID token",
    ...{ ...refuseIdJag, rule: "ID-JAG draft 4.4.1, RFC 8725 3.11", fix: "compare typ with oauth-id-jag+jwt" },
    apply: { kind: "signature", how: "other-typ" },
  },
  {
    name: "id-jag.aud-wrong",
    wrong: "an ID-JAG for another authorization server",
    ...{ ...refuseIdJag, rule: "ID-JAG draft 4.4.1, RFC 7523 3 (3)", fix: "compare aud with your issuer" },
    apply: claim("aud", () => wrongNames.audience),
  },
  {
    name: "id-jag.aud-two",
    wrong: "an ID-JAG that also names a second server",
    ...{ ...refuseIdJag, rule: "ID-JAG draft 3.1", fix: "refuse an aud that is a list of several" },
    apply: claim("aud", (aud) => [aud, wrongNames.audience]),
  },
  {
    name: "id-jag.client-wrong",
    wrong: "an ID-JAG for another client",
    ...{ ...refuseIdJag, rule: "ID-JAG draft 4.4.1", fix: "compare client_id with the client that authenticated" },
    apply: claim("client_id", (id) => `${String(id)}-other`),
  },
  {
    name: "id-jag.exp-past",
    wrong: "an ID-JAG that expired an hour before it was issued",
    ...{ ...refuseIdJag, rule: "RFC 7523 3 (4)", fix: "compare exp with the time" },
    apply: claim("exp", (_exp, { iat }) => Number(iat) - distance),
  },
  {
    name: "id-jag.sub-missing",
    wrong: "an ID-JAG without sub",
    ...{ ...refuseIdJag, rule: "RFC 7523 3 (2)", fix: "require sub" },
    apply: { kind: "claims", change: leaveOut("sub") },
  },
  {
    name: "id-jag.signature-wrong",
    wrong: "an ID-JAG with a wrong signature",
    ...{ ...refuseIdJag, rule: "RFC 7523 3 (9)", fix: "verify the signature with the keys of its issuer" },
    apply: { kind: "signature", how: "one-bit" },
  },
]);

/** Somebody who never signed in, in place of the user: the members that say who it is. */
function strangerIn(json: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const sub = another(json["sub"]);
  const stranger: Readonly<Record<string, unknown>> = {
    ...{ sub, id: sub, email: `${sub}@example.com` },
    ...{ name: "Somebody Else", displayName: "Somebody Else" },
    ...{ username: `somebody-${sub}`, preferred_username: `somebody-${sub}` },
  };
  const within = (body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
    Object.fromEntries(Object.entries(stranger).filter(([name]) => body[name] !== undefined));
  const { user } = json;
  return { ...within(json), ...(isObject(user) && { user: { ...user, ...within(user) } }) };
}

const notUsed = {
  should: "not use the UserInfo response",
  must: "refuse",
  rule: "OpenID Connect Core 5.3.2",
  fix: "compare sub of UserInfo with sub of the ID token",
} as const;

export const userinfoFlaws = flawsOf("userinfo", "userinfo", [
  {
    name: "sub-wrong",
    wrong: "UserInfo of another user",
    mustNot: "the data of another user counts as the user's",
    ...notUsed,
    apply: body((json) => (json["sub"] === undefined ? null : { ...json, ...strangerIn(json) })),
  },
  {
    name: "sub-missing",
    wrong: "UserInfo without sub",
    mustNot: "data that names no user counts as the user's",
    ...notUsed,
    apply: body(leaveOut("sub")),
  },
]);

export const documentFlaws = [
  ...flawsOf("jwks", "keys", [
    {
      name: "keys-rotated",
      wrong: "keys without those that sign",
      mustNot: "a key that the set lacked at first ends all sign-ins",
      ...{ should: "read the keys again, then accept", must: "work", rule: "OpenID Connect Core 10.1.1" },
      fix: "let the library fetch the keys where a kid is unknown, and do not keep a copy of them",
      apply: { kind: "keys", how: "others" },
    },
    {
      name: "keys-empty",
      wrong: "a set without a key",
      mustNot: "an ID token is accepted although no key is published",
      ...{ should: "refuse the ID token", must: "refuse", rule: "OpenID Connect Core 10.1, RFC 7517 5" },
      fix: "end the sign-in where no key fits, do not skip the signature",
      apply: { kind: "keys", how: "none" },
    },
    {
      name: "keys-duplicate-kid",
      wrong: "a second key with the kid of each key",
      mustNot: "two keys with one kid end the app",
      ...{
        should: "try both, or refuse the ID token",
        must: "either",
        rule: "RFC 7517 4.5",
        fix: "try each key that fits",
      },
      apply: { kind: "keys", how: "same-kid" },
    },
  ]),
  ...flawsOf("discovery", "discovery", [
    {
      name: "issuer-mismatch",
      wrong: "metadata of another issuer",
      mustNot: "the metadata of another issuer is used",
      ...{
        should: "refuse the document",
        must: "refuse",
        rule: "OpenID Connect Discovery 4.3, RFC 8414 3.3, ASVS 5.0 10.5.3",
      },
      fix: "compare issuer of the metadata with the issuer that you asked",
      apply: body(put("issuer", () => wrongNames.issuer)),
    },
  ]),
];
