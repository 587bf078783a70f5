import { baseOf, discoveryPath } from "../../../core/endpoints.ts";
import { cookieSecret, nameIn, q, type Form, type Parts } from "./form.ts";

/** better-auth, and Nuxt's nuxt-oidc-auth. */

const newFile = (path: string, isTypeScript: boolean): string =>
  `into ${path}.${isTypeScript ? "ts" : "js"}, a new file`;

/** https://better-auth.com/docs/plugins/generic-oauth */
const betterAuthPlugin = ({ js, issuer, secret, authMethod, redirectUri, scopes }: Parts): readonly string[] => [
  "genericOAuth({",
  "  config: [",
  "    {",
  `      providerId: ${q(nameIn(redirectUri, /\/callback\/([\w-]+)$/))},`,
  `      discoveryUrl: ${js.at(baseOf(issuer) + discoveryPath)},`,
  `      clientId: ${js.clientId},`,
  ...(secret === null ? [] : [`      clientSecret: ${js.secret},`]),
  ...(authMethod === "client_secret_basic" ? ['      authentication: "basic",'] : []),
  `      scopes: ${JSON.stringify(scopes).replaceAll(",", ", ")},`,
  "      pkce: true,",
  "    },",
  "  ],",
  "}),",
];

export const betterAuth: Form = {
  returnsTo: /\/callback\/[\w-]+$/,
  usual: "/api/auth/oauth2/callback/idp",
  clients: "any",
  packages: { "better-auth": "/api/auth/oauth2/callback/idp" },
  lines: (parts) => [
    "// better-auth: betterAuth({ plugins })",
    "export const plugins = [",
    ...betterAuthPlugin(parts).map((line) => `  ${line}`),
    "];",
  ],
  pieces: (parts, { exists, isTypeScript }) => [
    {
      where: newFile(exists("src") ? "src/lib/auth" : "lib/auth", isTypeScript),
      lines: [
        'import { betterAuth } from "better-auth";',
        'import { genericOAuth } from "better-auth/plugins";',
        "",
        ...parts.js.load,
        "export const auth = betterAuth({",
        "  plugins: [",
        ...betterAuthPlugin(parts).map((line) => `    ${line}`),
        "  ],",
        "});",
      ],
    },
  ],
  variables: ({ redirectUri }) => [
    ["BETTER_AUTH_URL", new URL(redirectUri).origin],
    ["BETTER_AUTH_SECRET", cookieSecret()],
  ],
};

/** https://nuxtoidc.cloud/provider/oidc */
const nuxtProvider = ({ js, issuer, endpoints, secret, authMethod, scopes }: Parts): readonly string[] => [
  "oidc: {",
  "  providers: {",
  "    oidc: {",
  `      clientId: ${js.clientId},`,
  `      clientSecret: ${secret === null ? q("") : js.secret},`,
  `      redirectUri: ${js.redirectUri},`,
  `      authorizationUrl: ${js.at(endpoints.authorize)},`,
  `      tokenUrl: ${js.at(endpoints.token)},`,
  `      userInfoUrl: ${js.at(endpoints.userinfo)},`,
  `      openIdConfiguration: ${js.at(baseOf(issuer) + discoveryPath)},`,
  `      authenticationScheme: ${q(secret === null ? "none" : authMethod === "client_secret_basic" ? "header" : "body")},`,
  `      scope: ${JSON.stringify(scopes).replaceAll(",", ", ")},`,
  "      pkce: true,",
  "      state: true,",
  "      nonce: true,",
  '      userNameClaim: "sub",',
  '      optionalClaims: ["name", "email"],',
  "    },",
  "  },",
  "},",
];

export const nuxt: Form = {
  returnsTo: /\/auth\/oidc\/callback$/,
  usual: "/auth/oidc/callback",
  origin: "http://localhost:3000",
  clients: "any",
  packages: { "nuxt-oidc-auth": "/auth/oidc/callback" },
  lines: (parts) => [
    "// nuxt-oidc-auth: defineNuxtConfig(config)",
    "export const config = {",
    '  modules: ["nuxt-oidc-auth"],',
    ...nuxtProvider(parts).map((line) => `  ${line}`),
    "};",
  ],
  pieces: (parts) => [
    { where: "into nuxt.config.ts, in defineNuxtConfig, beside modules", lines: nuxtProvider(parts) },
  ],
  signsInAt: "/auth/oidc/login",
  variables: () => [
    ["NUXT_OIDC_TOKEN_KEY", cookieSecret()],
    ["NUXT_OIDC_SESSION_SECRET", cookieSecret()],
    ["NUXT_OIDC_AUTH_SESSION_SECRET", cookieSecret()],
  ],
  notes: () => ["Nuxt reads .env.local only if it is told: npx nuxi dev --dotenv .env.local"],
};
