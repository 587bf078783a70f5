import { baseOf, discoveryPath } from "../../../../core/endpoints.ts";
import {
  cookieSecret,
  expressServer,
  extension,
  importing,
  nameIn,
  q,
  type Code,
  type Form,
  type Parts,
  type Piece,
} from "./form.ts";

/** better-auth, in each framework that it documents. */

const callback = /\/api\/auth\/callback\/([\w-]+)$/;

const providerOf = ({ redirectUri }: Parts): string => nameIn(redirectUri, callback);

/** https://better-auth.com/docs/plugins/generic-oauth; it asks for a nonce and uses PKCE by itself. */
const fields = (parts: Parts): readonly string[] => [
  `  baseURL: ${parts.js.origin},`,
  `  secret: ${parts.js.cookieSecret("BETTER_AUTH_SECRET")},`,
  "  plugins: [",
  "    genericOAuth({",
  "      config: [",
  "        {",
  `          providerId: ${q(providerOf(parts))},`,
  `          discoveryUrl: ${parts.js.at(baseOf(parts.issuer) + discoveryPath)},`,
  `          clientId: ${parts.js.clientId},`,
  `          clientSecret: ${parts.js.secret},`,
  ...(parts.authMethod === "client_secret_basic" ? ['          authentication: "basic",'] : []),
  `          scopes: ${JSON.stringify(parts.scopes).replaceAll(",", ", ")},`,
  "        },",
  "      ],",
  "    }),",
  "  ],",
];

const plugin = "better-auth/plugins";

/** A file with the whole configuration, which other files of the framework import. */
const authFile = (file: string, parts: Parts): Piece => ({
  file,
  lines: [
    'import { betterAuth } from "better-auth";',
    `import { genericOAuth } from ${q(plugin)};`,
    ...parts.js.imports,
    "",
    ...parts.js.load,
    "export const auth = betterAuth({",
    ...fields(parts),
    "});",
  ],
});

/** https://better-auth.com/docs/integrations/next */
function nextPieces(parts: Parts, code: Code): readonly Piece[] {
  const source = code.exists("src") ? "src/" : "";
  const file = (path: string): string => `${source}${path}.${extension(code)}`;
  const auth = authFile(file("lib/auth"), parts);
  if (!code.exists(`${source}app`) && code.exists(`${source}pages`)) {
    const lines = [
      'import { toNodeHandler } from "better-auth/node";',
      'import { auth } from "../../../lib/auth";',
      "",
      "export const config = { api: { bodyParser: false } };",
      "export default toNodeHandler(auth);",
    ];
    return [auth, { file: file("pages/api/auth/[...all]"), lines }];
  }
  const lines = [
    'import { toNextJsHandler } from "better-auth/next-js";',
    'import { auth } from "../../../../lib/auth";',
    "",
    "export const { GET, POST } = toNextJsHandler(auth);",
  ];
  return [auth, { file: file("app/api/auth/[...all]/route"), lines }];
}

/** https://better-auth.com/docs/integrations/svelte-kit */
const svelteKitPieces = (parts: Parts, code: Code): readonly Piece[] => [
  authFile(`src/lib/server/auth.${extension(code)}`, parts),
  {
    file: `src/hooks.server.${extension(code)}`,
    lines: [
      'import { building } from "$app/environment";',
      ...(code.isTypeScript ? ['import type { Handle } from "@sveltejs/kit";'] : []),
      'import { svelteKitHandler } from "better-auth/svelte-kit";',
      'import { auth } from "$lib/server/auth";',
      "",
      `export const handle${code.isTypeScript ? ": Handle" : ""} = ({ event, resolve }) =>`,
      "  svelteKitHandler({ event, resolve, auth, building });",
    ],
  },
];

/** https://better-auth.com/docs/integrations/nuxt */
const nuxtPieces = (parts: Parts, code: Code): readonly Piece[] => [
  authFile(`server/utils/auth.${extension(code)}`, parts),
  {
    file: `server/api/auth/[...all].${extension(code)}`,
    lines: [
      'import { auth } from "../../utils/auth";',
      "",
      "export default defineEventHandler((event) => auth.handler(toWebRequest(event)));",
    ],
  },
];

/** https://better-auth.com/docs/integrations/express */
const serverPieces = (parts: Parts, code: Code): readonly Piece[] => [
  {
    where: expressServer,
    lines: [
      importing(code, "{ betterAuth }", "better-auth"),
      importing(code, "{ toNodeHandler }", "better-auth/node"),
      importing(code, "{ genericOAuth }", plugin),
      ...parts.js.load,
      "",
      "const auth = betterAuth({",
      ...fields(parts),
      "});",
      "app.all(/^\\/api\\/auth\\//, toNodeHandler(auth));",
    ],
  },
];

export const betterAuth: Form = {
  returnsTo: callback,
  usual: "/api/auth/callback/idp",
  clients: "confidential",
  packages: { "better-auth": "/api/auth/callback/idp" },
  lines: (parts) => [
    "// better-auth 1.7: betterAuth(config)",
    `import { genericOAuth } from ${q(plugin)};`,
    "",
    "export const config = {",
    ...fields(parts),
    "};",
  ],
  pieces(parts, code) {
    if (code.has("next")) return nextPieces(parts, code);
    if (code.has("@sveltejs/kit")) return svelteKitPieces(parts, code);
    return code.has("nuxt") ? nuxtPieces(parts, code) : serverPieces(parts, code);
  },
  variables: () => [["BETTER_AUTH_SECRET", cookieSecret()]],
  notes: (parts) => [
    `To sign in from a page: createAuthClient().signIn.social({ provider: ${q(providerOf(parts))}, callbackURL: "/" }), from better-auth/client`,
  ],
};
