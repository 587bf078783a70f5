import type { CaseText } from "../verdicts/case.ts";

/** The line to change, in the words of the library that the app has. A case without one keeps its own. */

/** By what the line is about, or by the name of one case. */
type Fixes = Readonly<Record<string, string>>;

/** Which cases one line repairs. */
const topics: Readonly<Record<string, RegExp>> = {
  pkce: /^pkce(-fresh)?$/,
  state: /^(response\.state-(missing|wrong)|state-fresh|login-csrf)$/,
  nonce: /^(id-token\.nonce-(wrong|missing)|nonce-fresh)$/,
  iss: /^(response\.iss-(missing|wrong)|mix-up)$/,
  "id-token": /^id-token\.(?!nonce-|aud-extra)/,
  userinfo: /^userinfo\./,
};

const authJs: Fixes = {
  pkce: 'checks: ["pkce", "state", "nonce"] in the provider',
  state: 'checks: ["pkce", "state", "nonce"] in the provider',
  nonce: 'checks: ["pkce", "state", "nonce"] in the provider',
  "id-token.aud-extra":
    "callbacks.signIn({ account }): decode account.id_token, and return false where aud has more than your client",
  "response.code-twice": "refuse a callback whose query has two codes, before Auth.js handles it",
  "open-redirect":
    "callbacks.redirect({ url, baseUrl }): return baseUrl unless new URL(url, baseUrl).origin is its own",
  "refresh-refused": "callbacks.jwt: return null where the refresh answers invalid_grant",
};

/** By the names of libraries that `idp init` knows. */
const ofLibraries: Readonly<Record<string, Fixes>> = {
  "openid-client": {
    pkce: "code_challenge: await calculatePKCECodeChallenge(verifier) in buildAuthorizationUrl, with a new randomPKCECodeVerifier() for each sign-in",
    state: "authorizationCodeGrant(config, url, { expectedState: session.state }), with randomState() for each sign-in",
    nonce: "authorizationCodeGrant(config, url, { expectedNonce: session.nonce }), with randomNonce() for each sign-in",
    iss: "give authorizationCodeGrant the whole address of the callback, with iss: new URL(req.originalUrl, base)",
    "id-token":
      "take the claims from tokens.claims() after authorizationCodeGrant, and do not decode id_token yourself",
    "id-token.id-token-missing": "authorizationCodeGrant(config, url, { idTokenExpected: true })",
    "id-token.aud-extra":
      "refuse where [tokens.claims().aud].flat() has more than your client_id: openid-client accepts it",
    userinfo: "fetchUserInfo(config, tokens.access_token, tokens.claims().sub)",
  },
  authjs: authJs,
  "next-auth": {
    ...authJs,
    "id-token": "wellKnown and idToken: true in the provider, so that the ID token is verified",
  },
  "express-openid-connect": {
    pkce: 'authorizationParams: { response_type: "code" }, which turns PKCE on',
    state: "getLoginState: (req, options) => ({ returnTo: options.returnTo, random: randomUUID() })",
    "id-token.aud-extra":
      "afterCallback(req, res, session): throw where aud of session.id_token has more than your client",
  },
  passport: {
    pkce: "passport-openidconnect has no PKCE: use Strategy of openid-client/passport",
    nonce: "nonce: true in the options of the Strategy",
    iss: "compare req.query.iss with the issuer before passport.authenticate at the callback",
    "id-token": "use Strategy of openid-client/passport: passport-openidconnect does not look at header or signature",
    "id-token.aud-extra":
      "use verify(issuer, profile, context, idToken, done) and refuse where aud has more than your client",
    userinfo: "compare id of the profile with sub of the ID token in verify",
  },
  "oidc-client-ts": {
    pkce: "leave disablePKCE out: PKCE is the default",
    state: "sign in with signinRedirect(), and finish with signinRedirectCallback() on the same origin",
    nonce: "signinRedirect({ nonce: crypto.randomUUID() }): oidc-client-ts compares a nonce that it sent",
    iss: "compare iss of the address with authority before signinRedirectCallback()",
    "id-token":
      "compare iss, aud and exp of user.profile after signinRedirectCallback(), and call removeUser() where one is wrong: oidc-client-ts only reads the ID token",
    "id-token.aud-extra": "compare aud of user.profile with your client_id after signinRedirectCallback()",
  },
  authlib: {
    pkce: 'client_kwargs={"code_challenge_method": "S256"} in oauth.register',
    iss: 'compare request.args.get("iss") with the issuer before authorize_access_token',
    "id-token.aud-wrong":
      'authorize_access_token(claims_options={"iss": {"value": issuer}, "aud": {"value": client_id}})',
    "id-token.aud-extra": 'refuse where token["userinfo"]["aud"] has more than your client_id',
    "response.code-twice": 'refuse where request.args.getlist("code") has two',
  },
  spring: {
    iss: "compare the parameter iss in a filter before OAuth2LoginAuthenticationFilter",
    "response.code-twice": "refuse a request with two values of code in that filter",
    "response.error-and-code":
      "refuse a request with both error and code in a filter before OAuth2LoginAuthenticationFilter",
    "id-token.aud-extra": "an OAuth2TokenValidator for the ID token that refuses an aud with more than your client",
  },
};

/** The fixes of a case for a library; the usual one where there is none, or no library. */
export function withFix<C extends CaseText>(one: C, library: string | null): C {
  const fixes = library === null ? undefined : ofLibraries[library];
  if (fixes === undefined) return one;
  const topic = Object.keys(topics).find((name) => topics[name]?.test(one.name) === true);
  const fix = fixes[one.name] ?? fixes[topic ?? ""];
  return fix === undefined ? one : { ...one, fix };
}
