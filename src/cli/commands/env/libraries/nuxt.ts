import { baseOf, discoveryPath } from "../../../../core/endpoints.ts";
import { cookieSecret, endSessionQuery, extension, type Code, type Form, type Parts } from "./form.ts";

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
