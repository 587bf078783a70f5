import { withFixOf, type CaseText, type Fixes } from "../frame/verdict.ts";

/** The line to change, in the words of the library that the API has. A case without one keeps its own, which names none. */

/** Which cases one line repairs. */
const topics: Readonly<Record<string, RegExp>> = {
  verify: /^(expired$|signature-|payload-|alg-|crit|iss-|aud-(?!list))/,
  typ: /^(id-token|typ-wrong)$/,
};

/** By the names of npm packages. */
const ofPackages: Readonly<Record<string, Fixes>> = {
  "express-oauth2-jwt-bearer": {
    verify: 'auth({ issuerBaseURL, audience, tokenSigningAlg: "RS256" }) before every route that needs a token',
    typ: "auth({ issuerBaseURL, audience, strict: true })",
  },
  jsonwebtoken: {
    verify: 'jwt.verify(token, key, { issuer, audience, algorithms: ["RS256"] }), not jwt.decode',
    "exp-missing": "refuse where exp of what jwt.verify returns is undefined",
  },
  jose: {
    verify: 'jwtVerify(token, keys, { issuer, audience, algorithms: ["RS256"] })',
    typ: 'jwtVerify(token, keys, { issuer, audience, typ: "at+jwt" })',
    "exp-missing": 'jwtVerify(token, keys, { issuer, audience, requiredClaims: ["exp"] })',
    "keys-rotated": "keys = createRemoteJWKSet(new URL(jwks_uri)), not a copy of the keys",
  },
};

/** @param has whether the API has an npm package */
export const withFix = <C extends CaseText>(one: C, has: (name: string) => boolean): C =>
  withFixOf(one, ofPackages[Object.keys(ofPackages).find(has) ?? ""], topics);
