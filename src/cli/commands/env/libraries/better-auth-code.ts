import { baseOf, discoveryPath } from "../../../../core/base/endpoints.ts";
import { documented, endSessionQuery, nameIn, q, type Code, type Parts, type Piece, typed } from "./form.ts";

/** The code of better-auth that all frameworks share. */

export const callback = /\/api\/auth\/callback\/([\w-]+)$/;

export const providerOf = ({ redirectUri }: Parts): string => nameIn(redirectUri, callback);

/** https://better-auth.com/docs/plugins/generic-oauth; it asks for a nonce and uses PKCE by itself. */
export const fields = (parts: Parts): readonly string[] => [
  `  baseURL: ${parts.js.origin},`,
  `  secret: ${parts.js.cookieSecret("BETTER_AUTH_SECRET")},`,
  "  account: { storeAccountCookie: true }, // with the ID token, for the sign-out",
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

export const plugin = "better-auth/plugins";

/** https://better-auth.com/docs/concepts/oauth#get-access-token: with `storeAccountCookie`, the account and its ID token are kept in a cookie. */
export const signOut = (parts: Parts, code: Code): readonly string[] => [
  ...documented("Signs the user out here and at the provider, which returns to the app.", { headers: "Headers" }, code),
  `async function signOut(${typed("headers", "Headers", code)}) {`,
  "  const tokens = await auth.api.getAccessToken({ body: { useAccountCookie: true }, headers }).catch(() => null);",
  "  const { headers: left } = await auth.api.signOut({ headers, returnHeaders: true });",
  ...endSessionQuery(parts, "tokens?.idToken").map((line) => `  ${line}`),
  `  left.set("location", ${parts.js.at(`${parts.endpoints.logout}?`)} + query.toString());`,
  "  return new Response(null, { status: 302, headers: left });",
  "}",
];

/** The same for a server of Node.js. */
export const nodeResponse = [
  "const { status, headers } = await signOut(fromNodeHeaders(req.headers));",
  'res.setHeader("set-cookie", headers.getSetCookie());',
  'res.writeHead(status, { location: headers.get("location") ?? "/" }).end();',
];

/** A file with the whole configuration, which other files of the framework import. */
export const authFile = (file: string, parts: Parts, code: Code): Piece => ({
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
    "",
    ...signOut(parts, code).map((line) => line.replace(/^async function/, "export async function")),
  ],
});
