import { cookieSecret, expressServer, importing, methodBesideBasic, q, type Form, type Parts } from "./form.ts";

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
};

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
  pieces: (parts, code) => [
    {
      where: expressServer,
      lines: [
        importing(code, "{ auth }", "express-openid-connect"),
        ...parts.js.load,
        "",
        "app.use(auth({",
        ...expressOpenidConnectFields(parts),
        "}));",
      ],
    },
  ],
  signsInAt: "/login",
  variables: () => [["COOKIE_SECRET", cookieSecret()]],
};

/** https://github.com/panva/openid-client/blob/main/docs/functions/discovery.md; by default it refuses http. */
export const openidClient: Form = {
  returnsTo: /./,
  usual: "/callback",
  clients: "any",
  packages: { "openid-client": "/callback" },
  lines: ({ issuer, js, secret, authMethod, scopes }) => {
    const isHttp = issuer.startsWith("http:");
    const method =
      secret === null
        ? "client.None()"
        : authMethod === "client_secret_basic"
          ? `client.ClientSecretBasic(${js.secret})`
          : `client.ClientSecretPost(${js.secret})`;
    return [
      "// openid-client 6: buildAuthorizationUrl(config, { ...parameters, code_challenge, … })",
      'import * as client from "openid-client";',
      "",
      "export const config = await client.discovery(",
      `  new URL(${js.issuer}),`,
      `  ${js.clientId},`,
      "  undefined,",
      `  ${method},`,
      ...(isHttp ? ["  { execute: [client.allowInsecureRequests] }, // http"] : []),
      ");",
      "",
      "export const parameters = {",
      `  redirect_uri: ${js.redirectUri},`,
      `  scope: ${q(scopes.join(" "))},`,
      "};",
    ];
  },
};
