import { baseOf, discoveryPath } from "../../../../core/endpoints.ts";
import { cookieSecret, extension, type Form, type Parts } from "./form.ts";

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
  "  async onSuccess(event, { user: { sub, name, email, picture } }) {",
  "    await setUserSession(event, { user: { sub, name, email, picture } });",
  '    return sendRedirect(event, "/");',
  "  },",
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
  ],
  signsInAt: "/auth/oidc",
  variables: () => [["NUXT_SESSION_PASSWORD", cookieSecret()]],
};
