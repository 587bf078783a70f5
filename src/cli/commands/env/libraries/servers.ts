import {
  cookieSecret,
  endSessionQuery,
  importing,
  q,
  serverRoutes,
  type Form,
  extension,
  type Code,
  type Parts,
} from "./form.ts";
import { baseOf, discoveryPath } from "../../../../core/base/endpoints.ts";

/** Libraries of Hono, Fastify and Nuxt. */

/** https://github.com/honojs/middleware/tree/main/packages/oidc-auth; it authenticates with client_secret_basic. */
export const honoOidcAuth: Form = {
  returnsTo: /./,
  usual: "/callback",
  clients: "confidential",
  packages: { "@hono/oidc-auth": "/callback" },
  refusal: ({ token_endpoint_auth_method: method }) =>
    method === "client_secret_post"
      ? "it has to use client_secret_post; @hono/oidc-auth sends the secret in the Authorization header"
      : null,
  lines: ({ js, scopes }) => [
    "// @hono/oidc-auth: app.use(initOidcAuthMiddleware(config)), then app.use(oidcAuthMiddleware())",
    "export const config = {",
    `  OIDC_ISSUER: ${js.issuer},`,
    `  OIDC_CLIENT_ID: ${js.clientId},`,
    `  OIDC_CLIENT_SECRET: ${js.secret},`,
    `  OIDC_REDIRECT_URI: ${js.redirectUri},`,
    `  OIDC_SCOPES: ${q(scopes.join(" "))},`,
    `  OIDC_AUTH_SECRET: ${js.cookieSecret("COOKIE_SECRET")},`,
    "};",
  ],
  pieces: (parts, code) => [
    {
      where: "into your server, after app = new Hono() and before its routes",
      lines: [
        importing(code, "{ getAuth, initOidcAuthMiddleware, oidcAuthMiddleware, revokeSession }", "@hono/oidc-auth"),
        ...parts.js.load,
        "",
        "app.use(initOidcAuthMiddleware({",
        ...honoOidcAuth.lines(parts).slice(2, -1),
        "}));",
        "// What getAuth(c) gives in a route.",
        "app.use(async (c, next) => {",
        '  c.set("oidcClaimsHook", async (before, claims, { id_token }) => ({ ...before, ...claims, idToken: id_token ?? before?.idToken }));',
        "  await next();",
        "});",
        'app.get("/logout", async (c) => {',
        `  const idToken = (await getAuth(c))?.idToken${code.isTypeScript ? " as string | undefined" : ""};`,
        "  await revokeSession(c);",
        ...endSessionQuery(parts, "idToken").map((line) => `  ${line}`),
        `  return c.redirect(${parts.js.at(`${parts.endpoints.logout}?`)} + query.toString());`,
        "});",
        "// Each route below asks for a sign-in.",
        "app.use(oidcAuthMiddleware());",
      ],
    },
  ],
  ...serverRoutes,
  signsInAt: "/",
};

/** https://github.com/fastify/fastify-oauth2; it keeps no session, so the code keeps the tokens in cookies. */
export const fastifyOauth2: Form = {
  returnsTo: /./,
  usual: "/callback",
  clients: "confidential",
  packages: { "@fastify/oauth2": "/callback" },
  lines: ({ js, authMethod, scopes }) => [
    "// @fastify/oauth2: fastify.register(oauthPlugin, options)",
    "export const options = {",
    '  name: "idp",',
    `  scope: ${JSON.stringify(scopes).replaceAll(",", ", ")},`,
    `  credentials: { client: { id: ${js.clientId}, secret: ${js.secret} }${authMethod === "client_secret_post" ? ', options: { authorizationMethod: "body" }' : ""} },`,
    `  discovery: { issuer: ${js.issuer} },`,
    `  callbackUri: ${js.redirectUri},`,
    '  startRedirectPath: "/login",',
    '  pkce: "S256",',
    "};",
  ],
  pieces: (parts, code) => {
    const { pathname } = new URL(parts.redirectUri);
    const options = fastifyOauth2.lines(parts).slice(2, -1);
    const path = q(pathname);
    return [
      {
        where: "into your server, after its fastify() and before its routes",
        lines: [
          importing(
            code,
            code.isTypeScript ? "oauthPlugin, { type OAuth2Namespace }" : "oauthPlugin",
            "@fastify/oauth2",
          ),
          ...parts.js.load,
          "",
          "fastify.register(oauthPlugin, {",
          ...options,
          "});",
          ...(code.isTypeScript
            ? ['declare module "fastify" {', "  interface FastifyInstance { idp: OAuth2Namespace }", "}"]
            : []),
          `const kept = { path: "/", httpOnly: true, sameSite: "lax" }${code.isTypeScript ? " as const" : ""};`,
          `fastify.get(${path}, async (request, reply) => {`,
          "  const { token } = await fastify.idp.getAccessTokenFromAuthorizationCodeFlow(request, reply);",
          `  reply.setCookie("access_token", token.access_token, kept).setCookie("id_token", token.id_token${code.isTypeScript ? "!" : ""}, kept);`,
          '  return reply.redirect("/");',
          "});",
          "// The user who is signed in: await fastify.idp.userinfo(request.cookies.access_token)",
          'fastify.get("/logout", async (request, reply) => {',
          "  const idToken = request.cookies.id_token;",
          '  reply.clearCookie("access_token", kept).clearCookie("id_token", kept);',
          ...endSessionQuery(parts, "idToken").map((line) => `  ${line}`),
          `  return reply.redirect(${parts.js.at(`${parts.endpoints.logout}?`)} + query.toString());`,
          "});",
        ],
      },
    ];
  },
  signsInAt: "/login",
  signsOutAt: () => "/logout",
};

/** Nuxt's own module for sessions; its providers are routes of the app. */
const handler = (parts: Parts): readonly string[] => [
  "export default defineOAuthOidcEventHandler({",
  "  config: {",
  `    openidConfig: ${parts.js.at(baseOf(parts.issuer) + discoveryPath)},`,
  `    clientId: ${parts.js.clientId},`,
  ...(parts.secret === null ? [] : [`    clientSecret: ${parts.js.secret},`]),
  `    redirectURL: ${parts.js.redirectUri},`,
  `    scope: ${JSON.stringify(parts.scopes).replaceAll(",", ", ")},`,
  "  },",
  "  async onSuccess(event, { user: { sub, name, email, picture }, tokens }) {",
  "    await setUserSession(event, { user: { sub, name, email, picture }, secure: { idToken: tokens.id_token } });",
  '    return sendRedirect(event, "/");',
  "  },",
  "});",
];

/** The ID token is kept in the part of the session that the browser cannot read. */
const signOut = (parts: Parts, { isTypeScript }: Code): readonly string[] => [
  "export default defineEventHandler(async (event) => {",
  "  const { secure } = await getUserSession(event);",
  "  await clearUserSession(event);",
  `  const idToken = (secure${isTypeScript ? " as { idToken?: string } | undefined" : ""})?.idToken;`,
  ...endSessionQuery(parts, "idToken").map((line) => `  ${line}`),
  `  return sendRedirect(event, ${parts.js.at(`${parts.endpoints.logout}?`)} + query.toString());`,
  "});",
];

/** https://github.com/atinux/nuxt-auth-utils#oauth-event-handlers; it sends the secret in the body. */
export const nuxtAuthUtils: Form = {
  returnsTo: /\/auth\/[\w-]+$/,
  usual: "/auth/oidc",
  clients: "any",
  packages: { "nuxt-auth-utils": "/auth/oidc" },
  refusal: ({ token_endpoint_auth_method: method }) =>
    method === "client_secret_basic"
      ? "it has to use client_secret_basic; nuxt-auth-utils sends the secret in the body"
      : null,
  lines: (parts) => [
    `// nuxt-auth-utils: server/routes${new URL(parts.redirectUri).pathname}.get.ts`,
    ...handler(parts),
  ],
  pieces: (parts, code) => [
    {
      file: `server/routes${new URL(parts.redirectUri).pathname}.get.${extension(code)}`,
      lines: [...parts.js.load, ...handler(parts)],
    },
    { file: `server/routes/logout.get.${extension(code)}`, lines: [...parts.js.load, ...signOut(parts, code)] },
  ],
  signsInAt: "/auth/oidc",
  signsOutAt: () => "/logout",
  variables: () => [["NUXT_SESSION_PASSWORD", cookieSecret()]],
};
