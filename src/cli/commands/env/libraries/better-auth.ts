import { authFile, callback, fields, nodeResponse, plugin, providerOf, signOut } from "./better-auth-code.ts";
import {
  cookieSecret,
  expressPieces,
  extension,
  handlerOf,
  importing,
  q,
  type Code,
  type Form,
  type Parts,
  type Piece,
} from "./form.ts";
import { betterAuthVendors } from "./vendor-lines.ts";

/** better-auth, in each framework that it documents. */

const sourceOf = ({ exists }: Code): string => (exists("src") ? "src/" : "");

/** Whether it is an app of Next's older router. */
const isOfPages = (code: Code): boolean =>
  code.has("next") && !code.exists(`${sourceOf(code)}app`) && code.exists(`${sourceOf(code)}pages`);

/** https://better-auth.com/docs/integrations/next */
function nextPieces(parts: Parts, code: Code): readonly Piece[] {
  const source = sourceOf(code);
  const file = (path: string): string => `${source}${path}.${extension(code)}`;
  const auth = authFile(file("lib/auth"), parts, code);
  if (isOfPages(code)) {
    const lines = [
      'import { toNodeHandler } from "better-auth/node";',
      'import { auth } from "../../../lib/auth";',
      "",
      "export const config = { api: { bodyParser: false } };",
      "export default toNodeHandler(auth);",
    ];
    const logout = [
      'import { fromNodeHeaders } from "better-auth/node";',
      'import { signOut } from "../../lib/auth";',
      "",
      "export default async function handler(req, res) {",
      ...nodeResponse.map((line) => `  ${line}`),
      "}",
    ];
    // The types of Next are not needed for a handler of JavaScript.
    return [
      auth,
      { file: file("pages/api/auth/[...all]"), lines },
      { file: `${source}pages/api/logout.js`, lines: logout },
    ];
  }
  const lines = [
    'import { toNextJsHandler } from "better-auth/next-js";',
    'import { auth } from "../../../../lib/auth";',
    "",
    "export const { GET, POST } = toNextJsHandler(auth);",
  ];
  const request = code.isTypeScript ? "(request: Request)" : "(request)";
  const logout = [
    'import { signOut } from "../../lib/auth";',
    "",
    `export const GET = ${request} => signOut(request.headers);`,
  ];
  return [
    auth,
    { file: file("app/api/auth/[...all]/route"), lines },
    { file: file("app/logout/route"), lines: logout },
  ];
}

/** https://better-auth.com/docs/integrations/svelte-kit */
const svelteKitPieces = (parts: Parts, code: Code): readonly Piece[] => [
  authFile(`src/lib/server/auth.${extension(code)}`, parts, code),
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
  {
    file: `src/routes/logout/+server.${extension(code)}`,
    lines: [
      ...(code.isTypeScript ? ['import type { RequestHandler } from "@sveltejs/kit";'] : []),
      'import { signOut } from "$lib/server/auth";',
      "",
      `export const GET${code.isTypeScript ? ": RequestHandler" : ""} = ({ request }) => signOut(request.headers);`,
    ],
  },
];

/** https://better-auth.com/docs/integrations/nuxt */
const nuxtPieces = (parts: Parts, code: Code): readonly Piece[] => [
  authFile(`server/utils/auth.${extension(code)}`, parts, code),
  {
    file: `server/api/auth/[...all].${extension(code)}`,
    lines: [
      'import { auth } from "../../utils/auth";',
      "",
      "export default defineEventHandler((event) => auth.handler(toWebRequest(event)));",
    ],
  },
  {
    file: `server/routes/logout.get.${extension(code)}`,
    lines: [
      'import { signOut } from "../utils/auth";',
      "",
      "export default defineEventHandler((event) => signOut(toWebRequest(event).headers));",
    ],
  },
];

/** https://better-auth.com/docs/integrations/astro */
const astroPieces = (parts: Parts, code: Code): readonly Piece[] => {
  const typed = code.isTypeScript ? ": APIRoute" : "";
  const types = code.isTypeScript ? ['import type { APIRoute } from "astro";'] : [];
  return [
    authFile(`src/lib/auth.${extension(code)}`, parts, code),
    {
      file: `src/pages/api/auth/[...all].${extension(code)}`,
      lines: [
        ...types,
        'import { auth } from "../../../lib/auth";',
        "",
        "export const prerender = false;",
        `export const ALL${typed} = ({ request }) => auth.handler(request);`,
      ],
    },
    {
      file: `src/pages/logout.${extension(code)}`,
      lines: [
        ...types,
        'import { signOut } from "../lib/auth";',
        "",
        "export const prerender = false;",
        `export const GET${typed} = ({ request }) => signOut(request.headers);`,
      ],
    },
  ];
};

/** better-auth in the code of a server, and the function that signs out. */
const serverAuth = (parts: Parts, code: Code): readonly string[] => [
  ...parts.js.load,
  "",
  "const auth = betterAuth({",
  ...fields(parts),
  "});",
  ...signOut(parts, code),
];

/** https://better-auth.com/docs/integrations/hono */
const honoPieces = (parts: Parts, code: Code): readonly Piece[] => [
  {
    where: "into your server, after app = new Hono() and before its routes",
    lines: [
      'import { betterAuth } from "better-auth";',
      `import { genericOAuth } from ${q(plugin)};`,
      ...serverAuth(parts, code),
      'app.on(["GET", "POST"], "/api/auth/*", (c) => auth.handler(c.req.raw));',
      'app.get("/logout", (c) => signOut(c.req.raw.headers));',
    ],
  },
];

/** https://better-auth.com/docs/integrations/express */
const serverPieces = (parts: Parts, code: Code): readonly Piece[] =>
  expressPieces(code, {
    imports: [
      importing(code, "{ betterAuth }", "better-auth"),
      importing(code, "{ fromNodeHeaders, toNodeHandler }", "better-auth/node"),
      importing(code, "{ genericOAuth }", plugin),
    ],
    lines: [
      ...serverAuth(parts, code),
      'app.use("/api/auth", toNodeHandler(auth));',
      `app.use("/logout", async (${handlerOf(code, false)}) => {`,
      ...nodeResponse.map((line) => `  ${line}`),
      "});",
    ],
  });

export const betterAuth: Form = {
  vendors: () => betterAuthVendors,
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
    const pieces =
      [
        ["@sveltejs/kit", svelteKitPieces] as const,
        ["nuxt", nuxtPieces] as const,
        ["astro", astroPieces] as const,
        ["hono", honoPieces] as const,
      ].find(([name]) => code.has(name))?.[1] ?? serverPieces;
    return pieces(parts, code);
  },
  signsOutAt: (code) => (isOfPages(code) ? "/api/logout" : "/logout"),
  variables: () => [["BETTER_AUTH_SECRET", cookieSecret()]],
  notes: (parts) => [
    `To sign in from a page: createAuthClient().signIn.social({ provider: ${q(providerOf(parts))}, callbackURL: "/" }), from better-auth/client`,
  ],
};
