/** The flaws that a response can have, each with what a client should do about it and the paragraph that says so. */

/** The response, or the part of one, that has the flaw. */
type FlawPlace = "response" | "id-token" | "id-jag" | "token" | "userinfo" | "keys" | "discovery" | "saml";

interface FlawRow {
  readonly name: string;
  readonly endpoint: FaultEndpoint;
  readonly place: FlawPlace;
  /** What is wrong with the response. */
  readonly wrong: string;
  /** What a client should do about it. */
  readonly should: string;
  readonly rule: string;
}

type Row<N extends string = string> = readonly [name: N, wrong: string, should: string, rule: string];

const rows = <const N extends string>(endpoint: FaultEndpoint, place: FlawPlace, ...words: readonly Row<N>[]) =>
  words.map(([name, wrong, should, rule]) => ({ name, endpoint, place, wrong, should, rule }));

const refuseResponse = "refuse the response; do not exchange the code";
const refuseToken = "refuse the ID token; do not sign the user in";
/** The advice for the authorization server that gets an ID-JAG. */
const refuseIdJag = "refuse the ID-JAG; give no token";
const optional = "refuse the ID token where it checks this";
const noSignIn = "refuse the response; do not sign the user in";
/** The advice for a service provider. One that reads only the element that the signature covers signs in the user of that element. */
const notForged = "refuse the response, or sign in the user whom the signature covers; never the other one";
const wrapped = "SAML Core 5.4.2, SAML Profiles 4.1.4.3";

const samlForgingFlaws = [
  ["xsw-1", "the signed response is in the signature of a forged one", notForged, wrapped],
  ["xsw-2", "the signed response stands before its signature, in a forged one", notForged, wrapped],
  ["xsw-3", "a forged assertion stands before the signed one", notForged, wrapped],
  ["xsw-4", "the signed assertion is in a forged one", notForged, wrapped],
  ["xsw-5", "a forged assertion has the signature of one at the end", notForged, wrapped],
  ["xsw-6", "a forged assertion has the signature, and the signed one is in that", notForged, wrapped],
  ["xsw-7", "a forged assertion is in Extensions", notForged, wrapped],
  ["xsw-8", "a forged assertion has the signature, and the signed one is in its Object", notForged, wrapped],
  ["assertion-last", "a forged assertion stands after the signed one", notForged, wrapped],
  ["assertion-in-extensions", "the signed assertion is in Extensions, a forged one in its place", notForged, wrapped],
  ["assertion-in-object", "a forged assertion is in the Object of the response's signature", notForged, wrapped],
  ["id-twice", "a forged assertion has the ID of the signed one", notForged, wrapped],
  [
    "reference-empty",
    "the reference of the signature is empty, beside a forged assertion",
    notForged,
    "SAML Core 5.4.2",
  ],
  ["comment-in-nameid", "a comment stands where the forged NameID would end", notForged, "SAML Core 1.3.1"],
  ["pi-in-nameid", "a processing instruction stands where the forged NameID would end", notForged, "SAML Core 5.4"],
  [
    "comment-in-attribute",
    "a comment stands where the forged value of an attribute would end",
    notForged,
    "SAML Core 1.3.1",
  ],
] as const satisfies readonly Row[];

export const flawList = [
  ...rows(
    "authorize",
    "response",
    ["state-missing", "state is left out", refuseResponse, "RFC 6749 4.1.2, 10.12"],
    ["state-wrong", "state is another value", refuseResponse, "RFC 6749 4.1.2, 10.12"],
    ["iss-missing", "iss is left out, although discovery announces it", refuseResponse, "RFC 9207 2.4"],
    ["iss-wrong", "iss is another issuer", refuseResponse, "RFC 9207 2.4"],
    ["code-missing", "code is left out", "show that the sign-in failed", "RFC 6749 4.1.2"],
    ["code-twice", "code comes twice", refuseResponse, "RFC 6749 3.1"],
    ["error-and-code", "an error comes with the code", refuseResponse, "RFC 6749 4.1.2.1"],
  ),
  ...rows(
    "token",
    "id-token",
    ["id-token-missing", "id_token is left out", noSignIn, "OpenID Connect Core 3.1.3.3"],
    [
      "signature-wrong",
      "one bit of the signature is wrong",
      "refuse the ID token; not required where it comes over TLS",
      "OpenID Connect Core 3.1.3.7 (6)",
    ],
    ["alg-none", "the ID token is not signed", refuseToken, "OpenID Connect Core 3.1.3.7 (7), RFC 8725 3.2"],
    [
      "kid-unknown",
      "the ID token is signed with a key that is not published",
      "read the keys again, then refuse the ID token",
      "OpenID Connect Core 10.1.1",
    ],
    ["kid-missing", "the header has no kid", "use the only key that fits, or refuse", "OpenID Connect Core 10.1"],
    ["iss-wrong", "iss is another issuer", refuseToken, "OpenID Connect Core 3.1.3.7 (2)"],
    ["aud-wrong", "aud is another client", refuseToken, "OpenID Connect Core 3.1.3.7 (3)"],
    ["aud-extra", "aud also names a second client", refuseToken, "OpenID Connect Core 3.1.3.7 (3)"],
    ["azp-wrong", "azp is another client", optional, "OpenID Connect Core 3.1.3.7 (5)"],
    ["exp-past", "the ID token expired an hour before it was issued", refuseToken, "OpenID Connect Core 3.1.3.7 (9)"],
    ["iat-future", "iat is an hour from now", optional, "OpenID Connect Core 3.1.3.7 (10)"],
    ["iat-missing", "iat is left out", refuseToken, "OpenID Connect Core 2"],
    ["sub-missing", "sub is left out", refuseToken, "OpenID Connect Core 2"],
    ["nonce-wrong", "nonce is another value", refuseToken, "OpenID Connect Core 3.1.3.7 (11)"],
    ["nonce-missing", "nonce is left out, although one was sent", refuseToken, "OpenID Connect Core 3.1.3.7 (11)"],
    ["at-hash-wrong", "at_hash belongs to another access token", optional, "OpenID Connect Core 3.1.3.8"],
    ["crit", "crit in the header names an extension that nobody knows", refuseToken, "RFC 7515 4.1.11"],
    ["iss-prefix", "iss is the issuer with more behind it", refuseToken, "OpenID Connect Core 3.1.3.7 (2)"],
    ["aud-contains", "aud is a longer text with the client's ID in it", refuseToken, "OpenID Connect Core 3.1.3.7 (3)"],
  ),
  ...rows(
    "token",
    "token",
    ["token-type-wrong", "token_type is an unknown type", "do not use the access token", "RFC 6749 7.1"],
    ["expires-in-missing", "expires_in is left out", "continue, and refresh after a 401", "RFC 6749 5.1"],
    ["refresh-token-missing", "refresh_token is left out", "continue with the token that it has", "RFC 6749 5.1, 6"],
    [
      "scope-wider",
      "scope has a value that was not requested",
      "do not assume that it was granted",
      "RFC 6749 3.3, 5.1",
    ],
  ),
  ...rows(
    "token",
    "id-jag",
    ["id-jag.typ-wrong", "the ID-JAG has the typ of an ID token", refuseIdJag, "ID-JAG draft 4.4.1, RFC 8725 3.11"],
    ["id-jag.aud-wrong", "aud is another authorization server", refuseIdJag, "ID-JAG draft 4.4.1, RFC 7523 3 (3)"],
    ["id-jag.aud-two", "aud also names a second server", refuseIdJag, "ID-JAG draft 3.1"],
    ["id-jag.client-wrong", "client_id is another client", refuseIdJag, "ID-JAG draft 4.4.1"],
    ["id-jag.exp-past", "the ID-JAG expired an hour before it was issued", refuseIdJag, "RFC 7523 3 (4)"],
    ["id-jag.sub-missing", "sub is left out", refuseIdJag, "RFC 7523 3 (2)"],
    ["id-jag.signature-wrong", "one bit of the signature is wrong", refuseIdJag, "RFC 7523 3 (9)"],
  ),
  ...rows(
    "userinfo",
    "userinfo",
    ["sub-wrong", "sub is another user", "do not use the UserInfo response", "OpenID Connect Core 5.3.2"],
    ["sub-missing", "sub is left out", "do not use the UserInfo response", "OpenID Connect Core 5.3.2"],
  ),
  ...rows(
    "jwks",
    "keys",
    [
      "keys-rotated",
      "the set lacks the keys that sign",
      "read the keys again once, then accept",
      "OpenID Connect Core 10.1.1",
    ],
    ["keys-empty", "the set holds no key", "refuse the ID token", "OpenID Connect Core 10.1, RFC 7517 5"],
    ["keys-duplicate-kid", "a second key has the kid of each key", "try both, or refuse the ID token", "RFC 7517 4.5"],
  ),
  ...rows("discovery", "discovery", [
    "issuer-mismatch",
    "issuer is not the issuer of the address",
    "refuse the document",
    "OpenID Connect Discovery 4.3, RFC 8414 3.3",
  ]),
  ...rows(
    "saml_sso",
    "saml",
    ["audience-wrong", "the Audience is another service provider", noSignIn, "SAML Core 2.5.1.4"],
    [
      "audience-missing",
      "there is no AudienceRestriction",
      `${noSignIn}; not every library can`,
      "SAML Profiles 4.1.4.2",
    ],
    ["recipient-wrong", "Recipient is another address", noSignIn, "SAML Profiles 4.1.4.3"],
    ["recipient-missing", "SubjectConfirmationData has no Recipient", noSignIn, "SAML Profiles 4.1.4.2"],
    [
      "destination-wrong",
      "Destination is another address",
      `${noSignIn}; where the response is signed`,
      "SAML Bindings 3.5.5.2",
    ],
    ["issuer-wrong", "the Issuer is another identity provider", noSignIn, "SAML Profiles 4.1.4.3"],
    ["conditions-past", "Conditions ended an hour ago", noSignIn, "SAML Core 2.5.1.2"],
    ["conditions-future", "Conditions begin in an hour", noSignIn, "SAML Core 2.5.1.2"],
    ["subject-past", "the subject was confirmed until an hour ago", noSignIn, "SAML Profiles 4.1.4.3"],
    ["in-response-to-wrong", "InResponseTo names another request", noSignIn, "SAML Profiles 4.1.4.3"],
    ["status-failed", "the status is a failure, beside a valid assertion", noSignIn, "SAML Core 3.2.2.2"],
    ["confirmation-missing", "there is no SubjectConfirmation", noSignIn, "SAML Profiles 4.1.4.2"],
    ["confirmation-method-wrong", "the confirmation is not of the kind bearer", noSignIn, "SAML Profiles 4.1.4.3"],
    ["unsigned", "nothing is signed", noSignIn, "SAML Profiles 4.1.3.5"],
    ["content-changed", "the NameID was changed after it was signed", noSignIn, "SAML Core 5.4"],
    ["key-other", "it is signed by a key that is not published", noSignIn, "SAML Core 5.4"],
    ["key-embedded", "it is signed by another key, whose certificate it brings along", noSignIn, "SAML Core 5.4.5"],
    [
      "algorithm-hmac",
      "the signature is an HMAC with the published certificate as its secret",
      noSignIn,
      "SAML Core 5.4",
    ],
    ["algorithm-sha1", "it is signed with RSA-SHA1", `${noSignIn}; not required`, "RFC 6194 4"],
    ["digest-comment", "the digest of a changed NameID is in a comment before the real one", noSignIn, "SAML Core 5.4"],
    ["signed-info-two", "a second SignedInfo has the digest of a changed NameID", noSignIn, "SAML Core 5.4"],
    ...samlForgingFlaws,
  ),
] as const satisfies readonly FlawRow[];

export type FlawName = (typeof flawList)[number]["name"];

export const flawNames: readonly FlawName[] = [...new Set(flawList.map(({ name }) => name))];

/** The flaws that carry the identity of somebody else. */
export const forgingFlaws = samlForgingFlaws.map(([name]): string => name);
/** The flaws that put the identity of the user `forge` into the response. */
export const flawsWithForge: readonly string[] = [
  ...forgingFlaws,
  "content-changed",
  "digest-comment",
  "signed-info-two",
];
/** Those for which the NameID of the user has to begin with the forged one. */
export const prefixFlaws = forgingFlaws.filter((name) => /^(?:comment|pi)-/.test(name));

/** The flaws that an endpoint can have. */
export const flawsAt = (endpoint: string): readonly FlawName[] =>
  flawList.filter((flaw) => flaw.endpoint === endpoint).map(({ name }) => name);

/** Why no response to a client can have a flaw; null if one can. @param alg its `id_token_signed_response_alg` */
export const flawProblem = (flaw: unknown, alg: unknown): string | null =>
  alg === "HS256" && (flaw === "kid-unknown" || flaw === "kid-missing")
    ? `"${flaw}" cannot happen to this client: HS256 signs its ID tokens with its secret, which has no kid`
    : null;

/** The endpoints that can have faults, by the names of their routes. */
export const faultEndpoints = [
  "authorize",
  "token",
  "userinfo",
  "introspect",
  "revoke",
  "jwks",
  "discovery",
  "par",
  "device_authorization",
  "logout",
  "register",
  "saml_sso",
  "saml_slo",
  "saml_start",
  "saml_metadata",
] as const;
/** The methods of requests that a fault can be for. */
export const faultMethods = ["GET", "HEAD", "POST", "PUT", "DELETE"] as const;
export type FaultEndpoint = (typeof faultEndpoints)[number];
