import { withFixOf, type CaseText, type Fixes } from "../verdicts/case.ts";

/** The line to change, in the words of the library that the API has. A case without one keeps its own. */

/** Which cases one line repairs. */
const topics: Readonly<Record<string, RegExp>> = {
  signature: /^(signature-|payload-)/,
  algorithms: /^alg-/,
  claims: /^(expired|not-yet|iss-|aud-)/,
  typ: /^(id-token|typ-wrong)$/,
};

/** By the names of npm packages; the first that a project has is used. */
const ofLibraries: Readonly<Record<string, Fixes>> = {
  "express-oauth2-jwt-bearer": {
    algorithms: 'auth({ issuerBaseURL, audience, tokenSigningAlg: "RS256" })',
    claims: 'auth({ issuerBaseURL, audience, tokenSigningAlg: "RS256" })',
    typ: "auth({ issuerBaseURL, audience, strict: true })",
    "token-in-query": "refuse a request with access_token in its query before auth()",
  },
  jose: {
    signature: "jwtVerify(token, keys, …), not decodeJwt(token)",
    algorithms: 'jwtVerify(token, keys, { algorithms: ["RS256"], … })',
    claims: 'jwtVerify(token, keys, { issuer, audience, algorithms: ["RS256"] })',
    typ: 'jwtVerify(token, keys, { typ: "at+jwt", … })',
    "exp-missing": 'jwtVerify(token, keys, { requiredClaims: ["exp"], … })',
    "keys-rotated": "createRemoteJWKSet(new URL(jwks_uri)), not a copy of the keys",
  },
  jsonwebtoken: {
    signature: "jwt.verify(token, key, …), not jwt.decode(token)",
    algorithms: 'jwt.verify(token, key, { algorithms: ["RS256"], … })',
    claims: 'jwt.verify(token, key, { issuer, audience, algorithms: ["RS256"] })',
    typ: "jwt.verify(token, key, { complete: true, … }), and compare header.typ with at+jwt",
    "exp-missing": "refuse where jwt.verify(token, key, …) gives claims without exp",
  },
};

/** The case with the fix for the library of a project. @param has whether it has an npm package */
export const withFix = <C extends CaseText>(one: C, has: (name: string) => boolean): C =>
  withFixOf(one, ofLibraries[Object.keys(ofLibraries).find(has) ?? ""], topics);
