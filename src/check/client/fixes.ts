import { withFixOf, type CaseText, type Fixes } from "../frame/verdict.ts";

/** The line to change, in the words of the library that the app has. A case without one keeps its own. */

/** Which cases one line repairs. */
const topics: Readonly<Record<string, RegExp>> = {
  pkce: /^pkce(-fresh)?$/,
  state: /^(response\.state-(missing|wrong)|state-fresh|login-csrf)$/,
  nonce: /^(id-token\.nonce-(wrong|missing)|nonce-fresh)$/,
  iss: /^(response\.iss-(missing|wrong)|mix-up)$/,
  "id-token": /^id-token\.(?!nonce-|aud-extra)/,
  userinfo: /^userinfo\./,
  keys: /^keys/,
  "logout-token": /^logout-token\.(signature|alg|iss|aud|exp)/,
  account: /^account\./,
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
  "refresh.token-kept": "callbacks.jwt: keep refreshToken of the token where the refresh brings none",
  account:
    "leave allowDangerousEmailAccountLinking out of the provider, and find users in callbacks.signIn by account.provider and account.providerAccountId",
};

/** By the names of libraries that `idp init` knows. */
const ofLibraries: Readonly<Record<string, Fixes>> = {
  "openid-client": {
    account: "find the user by iss and sub of tokens.claims() after authorizationCodeGrant, never by email",
    "session-fixed": "req.session.regenerate() after authorizationCodeGrant, before the user is stored in the session",
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
    "discovery.issuer-mismatch": "use the configuration of discovery(new URL(issuer), …), which compares issuer",
  },
  oauth4webapi: {
    account: "find the user by iss and sub of getValidatedIdTokenClaims(result) of oauth4webapi, never by email",
    pkce: "code_challenge: await calculatePKCECodeChallenge(verifier), with a new generateRandomCodeVerifier() for each sign-in",
    state: "validateAuthResponse(as, client, url, session.state), with generateRandomState() for each sign-in",
    nonce:
      "processAuthorizationCodeResponse(as, client, response, { expectedNonce: session.nonce }), with generateRandomNonce() for each sign-in",
    iss: "give validateAuthResponse(as, client, url, state) the whole address of the callback, with iss",
    "id-token": "take the claims from getValidatedIdTokenClaims(result), and do not decode id_token yourself",
    "id-token.id-token-missing": "processAuthorizationCodeResponse(as, client, response, { requireIdToken: true })",
    "id-token.aud-extra": "refuse where aud of getValidatedIdTokenClaims(result) has more than your client_id",
    userinfo: "processUserInfoResponse(as, client, claims.sub, response)",
    "discovery.issuer-mismatch": "processDiscoveryResponse(new URL(issuer), response), which compares issuer",
  },
  jose: {
    account: "find the user by payload.iss and payload.sub of jwtVerify, never by payload.email",
    nonce: "compare payload.nonce of jwtVerify with the nonce in the session",
    "id-token": `jwtVerify(idToken, keys, { issuer, audience: clientId, algorithms: ["RS256"], requiredClaims: ["iat", "sub", "exp"] })`,
    "id-token.aud-extra": "refuse where [payload.aud].flat() of jwtVerify has more than your client_id",
    keys: "keys = createRemoteJWKSet(new URL(jwks_uri)), not a copy of the keys",
    "logout-token": 'jwtVerify(logoutToken, keys, { issuer, audience: clientId, algorithms: ["RS256"] })',
  },
  authjs: authJs,
  "next-auth": {
    ...authJs,
    "id-token": "wellKnown and idToken: true in the provider, so that the ID token is verified",
  },
  "better-auth": {
    account:
      "account: { accountLinking: { enabled: false } } in betterAuth(), so that accounts are found by providerId and accountId alone",
  },
  "express-openid-connect": {
    account: "find the user by iss and sub of req.oidc.idTokenClaims in afterCallback, never by email",
    pkce: 'authorizationParams: { response_type: "code" }, which turns PKCE on',
    state: "getLoginState: (req, options) => ({ returnTo: options.returnTo, random: randomUUID() })",
    "id-token.aud-extra":
      "afterCallback(req, res, session): throw where aud of session.id_token has more than your client",
  },
  passport: {
    account: "in verify of the Strategy of passport: find the user by issuer and profile.id, never by profile.emails",
    "session-fixed": "update to passport 0.6 or later, which regenerates the session in req.logIn",
    pkce: "passport-openidconnect has no PKCE: use a strategy that has it",
    nonce: "nonce: true in the options of the Strategy",
    iss: "compare req.query.iss with the issuer before passport.authenticate at the callback",
    "id-token":
      "passport-openidconnect looks at neither header nor signature: use a strategy that verifies the ID token",
    "id-token.aud-extra":
      "use verify(issuer, profile, context, idToken, done) and refuse where aud has more than your client",
    userinfo: "compare id of the profile with sub of the ID token in verify",
  },
  "oidc-client-ts": {
    account: "find the user by user.profile.iss and user.profile.sub, never by email",
    pkce: "leave disablePKCE out: PKCE is the default",
    state: "sign in with signinRedirect(), and finish with signinRedirectCallback() on the same origin",
    nonce: "signinRedirect({ nonce: crypto.randomUUID() }): oidc-client-ts compares a nonce that it sent",
    iss: "compare iss of the address with authority before signinRedirectCallback()",
    "id-token":
      "compare iss, aud and exp of user.profile after signinRedirectCallback(), and call removeUser() where one is wrong: oidc-client-ts only reads the ID token",
    "id-token.aud-extra": "compare aud of user.profile with your client_id after signinRedirectCallback()",
  },
  authlib: {
    account: 'find the user by iss and sub of authorize_access_token()["userinfo"], never by email',
    "session-fixed": "session.clear() after authorize_access_token(), and request.session.cycle_key() in Django",
    pkce: 'client_kwargs={"code_challenge_method": "S256"} in oauth.register',
    iss: 'compare request.args.get("iss") with the issuer before authorize_access_token',
    "id-token.aud-wrong":
      'authorize_access_token(claims_options={"iss": {"value": issuer}, "aud": {"value": client_id}})',
    "id-token.aud-extra": 'refuse where token["userinfo"]["aud"] has more than your client_id',
    "response.code-twice": 'refuse where request.args.getlist("code") has two',
  },
  django: {
    account:
      "override filter_users_by_claims of OIDCAuthenticationBackend: find the user by iss and sub, never by email",
    pkce: "OIDC_USE_PKCE = True in settings.py",
    nonce: "leave OIDC_USE_NONCE in settings.py as it is: True",
    "id-token":
      "override get_userinfo(self, access_token, id_token, payload) of OIDCAuthenticationBackend, and raise SuspiciousOperation where iss, aud, exp, iat or sub of payload is absent or wrong",
    "id-token.aud-extra":
      'override get_userinfo of OIDCAuthenticationBackend, and raise SuspiciousOperation where payload["aud"] has more than your client_id',
    userinfo:
      'override get_userinfo of OIDCAuthenticationBackend, and raise SuspiciousOperation where its sub is not payload["sub"]',
  },
  spring: {
    account:
      "an OAuth2UserService that finds the user by getIssuer() and getSubject() of the OidcUser, never by getEmail()",
    "session-fixed":
      "leave sessionManagement().sessionFixation() as it is, beside oauth2Login: OAuth2 sign-ins change the session id",
    iss: "compare the parameter iss in a filter before OAuth2LoginAuthenticationFilter",
    "response.code-twice": "refuse a request with two values of code in that filter",
    "response.error-and-code":
      "refuse a request with both error and code in a filter before OAuth2LoginAuthenticationFilter",
    "id-token.aud-extra": "an OAuth2TokenValidator for the ID token that refuses an aud with more than your client",
  },
};

/** The case with the fix of a library: one that `idp init` knows, or a package that an app without one uses. */
export const withFix = <C extends CaseText>(one: C, library: string | null): C =>
  withFixOf(one, library === null ? undefined : ofLibraries[library], topics);

/** Packages without which an app that has no library for sign-ins would do everything by hand. */
export const handPackages: readonly string[] = ["oauth4webapi", "jose"];
