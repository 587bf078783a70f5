import { baseOf, endpoints } from "../../../core/endpoints.ts";
import { cookieSecret, methodBesideBasic, nameIn, q, type Form, type Parts } from "./form.ts";

/** Libraries of apps that Node.js serves. */

const callback = /\/callback\/([\w-]+)$/;

/** The lines that both versions of Auth.js share. */
function authjsClient(parts: Parts): readonly string[] {
  const { clientId, secret, scopes } = parts;
  const method = methodBesideBasic(parts);
  return [
    `      clientId: ${q(clientId)},`,
    ...(secret === null ? [] : [`      clientSecret: ${q(secret)},`]),
    ...(method === null ? [] : [`      client: { token_endpoint_auth_method: ${q(method)} },`]),
    `      authorization: { params: { scope: ${q(scopes.join(" "))} } },`,
    '      checks: ["pkce", "state", "nonce"],',
  ];
}

/** https://authjs.dev/guides/configuring-oauth-providers */
const authjs5 = (parts: Parts): readonly string[] => [
  "// Auth.js: NextAuth(config), ExpressAuth(config) or SvelteKitAuth(config)",
  "export const config = {",
  `  secret: ${q(cookieSecret())},`,
  "  trustHost: true,",
  "  providers: [",
  "    {",
  `      id: ${q(nameIn(parts.redirectUri, callback))},`,
  '      name: "idp",',
  '      type: "oidc",',
  `      issuer: ${q(parts.issuer)},`,
  ...authjsClient(parts),
  "    },",
  "  ],",
  "};",
];

/** https://next-auth.js.org/configuration/providers/oauth#using-a-custom-provider; `type: "oidc"` is new in version 5. */
const nextAuth4 = (parts: Parts): readonly string[] => [
  `// next-auth 4: NextAuth(config); in .env.local: NEXTAUTH_URL=${new URL(parts.redirectUri).origin}`,
  "export const config = {",
  `  secret: ${q(cookieSecret())},`,
  "  providers: [",
  "    {",
  `      id: ${q(nameIn(parts.redirectUri, callback))},`,
  '      name: "idp",',
  '      type: "oauth",',
  `      wellKnown: ${q(`${baseOf(parts.issuer)}/.well-known/openid-configuration`)},`,
  "      idToken: true,",
  ...authjsClient(parts),
  "      profile: ({ sub, name, email, picture }) => ({ id: sub, name, email, image: picture }),",
  "    },",
  "  ],",
  "};",
];

const authjsForm = {
  returnsTo: callback,
  usual: "/api/auth/callback/idp",
  clients: "any",
  package: "next-auth",
} as const;

/** Version 5, and @auth/express and the like, unless next-auth 4 is installed. */
export const authjs: Form = {
  ...authjsForm,
  lines: (parts) => (parts.major !== null && parts.major < 5 ? nextAuth4(parts) : authjs5(parts)),
};

/** Version 4, which npm installs by default, unless a newer one is installed. */
export const nextAuth: Form = {
  ...authjsForm,
  lines: (parts) => (parts.major !== null && parts.major >= 5 ? authjs5(parts) : nextAuth4(parts)),
};

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
  lines: ({ issuer, clientId, secret, redirectUri, scopes }) => {
    const base = baseOf(issuer);
    return [
      "// passport-openidconnect: new OpenIDConnectStrategy(config, verify)",
      "export const config = {",
      `  issuer: ${q(issuer)},`,
      `  authorizationURL: ${q(base + endpoints.authorize)},`,
      `  tokenURL: ${q(base + endpoints.token)},`,
      `  userInfoURL: ${q(base + endpoints.userinfo)},`,
      `  clientID: ${q(clientId)},`,
      `  clientSecret: ${q(secret ?? "")},`,
      `  callbackURL: ${q(redirectUri)},`,
      // It adds openid by itself.
      `  scope: ${JSON.stringify(scopes.filter((name) => name !== "openid")).replaceAll(",", ", ")},`,
      "  skipUserProfile: true, // the ID token has the profile",
      "};",
    ];
  },
};

/** https://auth0.github.io/express-openid-connect/interfaces/ConfigParams.html */
export const expressOpenidConnect: Form = {
  returnsTo: /./,
  usual: "/callback",
  clients: "any",
  lines: (parts) => {
    const { issuer, clientId, secret, redirectUri, scopes } = parts;
    const { origin } = new URL(redirectUri);
    const method = methodBesideBasic(parts);
    return [
      "// express-openid-connect: app.use(auth(config))",
      "export const config = {",
      `  issuerBaseURL: ${q(issuer)},`,
      `  baseURL: ${q(origin)},`,
      `  clientID: ${q(clientId)},`,
      ...(secret === null ? [] : [`  clientSecret: ${q(secret)},`]),
      ...(method === null ? [] : [`  clientAuthMethod: ${q(method)},`]),
      `  secret: ${q(cookieSecret())},`,
      `  routes: { callback: ${q(redirectUri.slice(origin.length))} },`,
      `  authorizationParams: { response_type: "code", scope: ${q(scopes.join(" "))} },`,
      "};",
    ];
  },
};

/** https://github.com/panva/openid-client/blob/main/docs/functions/discovery.md; it refuses http unless told otherwise. */
export const openidClient: Form = {
  returnsTo: /./,
  usual: "/callback",
  clients: "any",
  lines: ({ issuer, clientId, secret, redirectUri, authMethod, scopes }) => {
    const isHttp = issuer.startsWith("http:");
    const method =
      secret === null
        ? "client.None()"
        : authMethod === "client_secret_basic"
          ? `client.ClientSecretBasic(${q(secret)})`
          : `client.ClientSecretPost(${q(secret)})`;
    return [
      "// openid-client 6: buildAuthorizationUrl(config, { ...parameters, code_challenge, … })",
      'import * as client from "openid-client";',
      "",
      "export const config = await client.discovery(",
      `  new URL(${q(issuer)}),`,
      `  ${q(clientId)},`,
      "  undefined,",
      `  ${method},`,
      ...(isHttp ? ["  { execute: [client.allowInsecureRequests] }, // http"] : []),
      ");",
      "",
      "export const parameters = {",
      `  redirect_uri: ${q(redirectUri)},`,
      `  scope: ${q(scopes.join(" "))},`,
      "};",
    ];
  },
};
