import {
  endSessionQuery,
  expressPieces,
  expressSession,
  handlerOf,
  importing,
  methodBesideBasic,
  q,
  serverRoutes,
  type Code,
  type Form,
  type Parts,
  type Piece,
  typed,
} from "./form.ts";

/** Libraries of apps that Node.js serves; Auth.js is in authjs.ts. */

/** https://www.passportjs.org/packages/passport-openidconnect */
export const passport: Form = {
  returnsTo: /./,
  usual: "/oauth2/redirect",
  clients: "confidential",
  refusal: (client) => {
    if (client["require_pkce"] === true) return "it requires PKCE, which passport-openidconnect does not have";
    return client["token_endpoint_auth_method"] === "client_secret_basic"
      ? "it has to use client_secret_basic; passport-openidconnect sends the secret in the body"
      : null;
  },
  packages: { "passport-openidconnect": "/oauth2/redirect" },
  lines: ({ js, endpoints, scopes }) => [
    "// passport-openidconnect: new OpenIDConnectStrategy(config, verify)",
    "export const config = {",
    `  issuer: ${js.issuer},`,
    `  authorizationURL: ${js.at(endpoints.authorize)},`,
    `  tokenURL: ${js.at(endpoints.token)},`,
    `  userInfoURL: ${js.at(endpoints.userinfo)},`,
    `  clientID: ${js.clientId},`,
    `  clientSecret: ${js.secret},`,
    `  callbackURL: ${js.redirectUri},`,
    // The library adds openid itself.
    `  scope: ${JSON.stringify(scopes.filter((name) => name !== "openid")).replaceAll(",", ", ")},`,
    "  skipUserProfile: true, // the ID token has the profile",
    "};",
  ],
  pieces: passportPieces,
  ...serverRoutes,
};

/** Its sessions are those of express-session. `app.use` also takes paths in NestJS, where `app.get` is something else. */
function passportPieces(parts: Parts, code: Code): readonly Piece[] {
  const { pathname } = new URL(parts.redirectUri);
  const config = passport.lines(parts).slice(2, -1);
  const types = { issuer: "string", profile: "object", context: "object", idToken: "string | object" };
  const verifying = [
    ...Object.entries(types).map(([name, type]) => typed(name, type, code)),
    typed("done", "(error: null, user: object) => void", code),
  ];
  return expressPieces(code, {
    install: ["passport", "express-session"],
    types: ["@types/passport", "@types/express-session", "@types/passport-openidconnect"],
    imports: [
      importing(code, "session", "express-session"),
      importing(code, "passport", "passport"),
      importing(code, "OpenIDConnectStrategy", "passport-openidconnect"),
    ],
    lines: [
      ...parts.js.load,
      "",
      'passport.use("idp", new OpenIDConnectStrategy({',
      ...config,
      `}, (${verifying.join(", ")}) => done(null, { ...profile, idToken })));`,
      "passport.serializeUser((user, done) => done(null, user));",
      `passport.deserializeUser((${typed("user", "Express.User", code)}, done) => done(null, user));`,
      ...expressSession(parts),
      "app.use(passport.session());",
      'app.use("/login", passport.authenticate("idp"));',
      `app.use(${q(pathname)}, passport.authenticate("idp", { successRedirect: "/", failureRedirect: "/login" }));`,
      `app.use("/logout", (${handlerOf(code, true)}) => {`,
      code.isTypeScript
        ? "  const { idToken } = (req.user ?? {}) as { idToken?: string };"
        : "  const idToken = req.user?.idToken;",
      ...endSessionQuery(parts, "idToken").map((line) => `  ${line}`),
      `  const url = ${parts.js.at(`${parts.endpoints.logout}?`)} + query.toString();`,
      "  req.logout((error) => (error ? next(error) : res.redirect(url)));",
      "});",
      "// The user who is signed in: req.user",
    ],
  });
}

/** https://auth0.github.io/express-openid-connect/interfaces/ConfigParams.html */
function expressOpenidConnectFields(parts: Parts): readonly string[] {
  const { js, secret, redirectUri, scopes } = parts;
  const { pathname, search } = new URL(redirectUri);
  const method = methodBesideBasic(parts);
  return [
    `  issuerBaseURL: ${js.issuer},`,
    `  baseURL: ${js.origin},`,
    `  clientID: ${js.clientId},`,
    ...(secret === null ? [] : [`  clientSecret: ${js.secret},`]),
    ...(method === null ? [] : [`  clientAuthMethod: ${q(method)},`]),
    `  secret: ${js.cookieSecret("COOKIE_SECRET")},`,
    `  routes: { callback: ${q(pathname + search)} },`,
    "  idpLogout: true, // /logout ends the session at the provider too",
    `  authorizationParams: { response_type: "code", scope: ${q(scopes.join(" "))} },`,
  ];
}

export const expressOpenidConnect: Form = {
  returnsTo: /./,
  usual: "/callback",
  clients: "any",
  packages: { "express-openid-connect": "/callback" },
  lines: (parts) => [
    "// express-openid-connect: app.use(auth(config))",
    "export const config = {",
    ...expressOpenidConnectFields(parts),
    "};",
  ],
  pieces: (parts, code) =>
    expressPieces(code, {
      imports: [importing(code, "{ auth }", "express-openid-connect")],
      lines: [...parts.js.load, "", "app.use(auth({", ...expressOpenidConnectFields(parts), "}));"],
    }),
  ...serverRoutes,
  // It sends its baseURL.
  afterSignOut: "",
};
