import { baseOf, discoveryPath } from "../../../../core/base/endpoints.ts";
import {
  cookieSecret,
  expressPieces,
  extension,
  importing,
  methodBesideBasic,
  nameIn,
  q,
  type Code,
  type Form,
  type Parts,
  type Piece,
} from "./form.ts";
import { authjsVendors, nextAuth4Vendors } from "./vendor-lines.ts";

/** Auth.js, and next-auth, its version 4 and earlier. */

const callback = /\/callback\/([\w-]+)$/;

/** The lines that both versions of Auth.js share. */
function authjsClient(parts: Parts): readonly string[] {
  const { js, secret, scopes } = parts;
  const method = methodBesideBasic(parts);
  return [
    `      clientId: ${js.clientId},`,
    ...(secret === null ? [] : [`      clientSecret: ${js.secret},`]),
    ...(method === null ? [] : [`      client: { token_endpoint_auth_method: ${q(method)} },`]),
    `      authorization: { params: { scope: ${q(scopes.join(" "))} } },`,
    '      checks: ["pkce", "state", "nonce"],',
  ];
}

/** Signing out of the app ends the session at the provider too: the ID token is kept for that, and names the session. */
const signOutToo = ({ js, endpoints }: Parts): readonly string[] => [
  "  callbacks: {",
  "    jwt: ({ token, account }) => (account ? { ...token, idToken: account.id_token } : token),",
  "  },",
  "  events: {",
  "    async signOut(message) {",
  '      const idToken = "token" in message ? message.token?.idToken : undefined;',
  `      if (idToken) await fetch(${js.at(`${endpoints.logout}?id_token_hint=`)} + String(idToken));`,
  "    },",
  "  },",
];

/** https://authjs.dev/guides/configuring-oauth-providers */
const authjs5 = (parts: Parts): readonly string[] => [
  `  secret: ${parts.js.cookieSecret("AUTH_SECRET")},`,
  "  trustHost: true,",
  "  providers: [",
  "    {",
  `      id: ${q(nameIn(parts.redirectUri, callback))},`,
  '      name: "idp",',
  '      type: "oidc",',
  `      issuer: ${parts.js.issuer},`,
  ...authjsClient(parts),
  "    },",
  "  ],",
  ...signOutToo(parts),
];

/** https://next-auth.js.org/configuration/providers/oauth#using-a-custom-provider; `type: "oidc"` is new in version 5. */
const nextAuth4 = (parts: Parts): readonly string[] => [
  `  secret: ${parts.js.cookieSecret("NEXTAUTH_SECRET")},`,
  "  providers: [",
  "    {",
  `      id: ${q(nameIn(parts.redirectUri, callback))},`,
  '      name: "idp",',
  '      type: "oauth",',
  `      wellKnown: ${parts.js.at(baseOf(parts.issuer) + discoveryPath)},`,
  "      idToken: true,",
  ...authjsClient(parts),
  "      profile: ({ sub, name, email, picture }) => ({ id: sub, name, email, image: picture }),",
  "    },",
  "  ],",
  ...signOutToo(parts),
];

/** Version 5 is the usual one of Auth.js, and version 4 of next-auth, which npm installs by default. */
const isVersion4 = ({ major }: Pick<Parts, "major">, usual: 4 | 5): boolean => (major ?? usual) < 5;

const authjsConfig =
  (usual: 4 | 5) =>
  (parts: Parts): readonly string[] => {
    const config = (comment: string, fields: readonly string[]): readonly string[] => [
      comment,
      "export const config = {",
      ...fields,
      "};",
    ];
    if (!isVersion4(parts, usual)) {
      return config("// Auth.js: NextAuth(config), ExpressAuth(config) or SvelteKitAuth(config)", authjs5(parts));
    }
    const { origin } = new URL(parts.redirectUri);
    return config(`// next-auth 4: NextAuth(config); in .env.local: NEXTAUTH_URL=${origin}`, nextAuth4(parts));
  };

/** https://next-auth.js.org/configuration/initialization and https://authjs.dev/getting-started/installation */
function nextPieces(parts: Parts, code: Code, name: string | null): readonly Piece[] {
  if (name === "@sidebase/nuxt-auth") return nuxtPieces(parts, code);
  const { exists } = code;
  const source = exists("src") ? "src/" : "";
  const file = (path: string): string => `${source}${path}.${extension(code)}`;
  const inApp = exists(`${source}app`) || !exists(`${source}pages`);
  const start = 'import NextAuth from "next-auth";';
  if (!isVersion4(parts, 4)) {
    const auth = ["export const { handlers, auth, signIn, signOut } = NextAuth({", ...authjs5(parts), "});"];
    const route = ['import { handlers } from "../../../../auth";', "", "export const { GET, POST } = handlers;"];
    return [
      { file: file("auth"), lines: [start, "", ...auth] },
      { file: file("app/api/auth/[...nextauth]/route"), lines: route },
    ];
  }
  if (!inApp) {
    const lines = [start, "", "export default NextAuth({", ...nextAuth4(parts), "});"];
    return [{ file: file("pages/api/auth/[...nextauth]"), lines }];
  }
  const handler = ["const handler = NextAuth({", ...nextAuth4(parts), "});"];
  const lines = [start, "", ...handler, "", "export { handler as GET, handler as POST };"];
  return [{ file: file("app/api/auth/[...nextauth]/route"), lines }];
}

/** https://auth.sidebase.io/guide/authjs/nuxt-auth-handler */
const nuxtPieces = (parts: Parts, code: Code): readonly Piece[] => [
  {
    file: `server/api/auth/[...].${extension(code)}`,
    lines: [
      'import { NuxtAuthHandler } from "#auth";',
      "",
      ...parts.js.load,
      "export default NuxtAuthHandler({",
      ...nextAuth4(parts),
      "});",
    ],
  },
  {
    where: "into nuxt.config",
    lines: ['modules: ["@sidebase/nuxt-auth"],', 'auth: { provider: { type: "authjs" } },'],
  },
];

const authjsForm = {
  returnsTo: callback,
  usual: "/api/auth/callback/idp",
  clients: "any",
  package: "next-auth",
} as const;

/** Version 5, also as @auth/express and the like, unless next-auth 4 is installed. */
export const authjs: Form = {
  ...authjsForm,
  packages: {
    "@auth/express": "/auth/callback/idp",
    "@auth/sveltekit": "/auth/callback/idp",
    "@auth/core": "/auth/callback/idp",
  },
  vendors: (parts, name) =>
    name === null && isVersion4(parts, 5)
      ? nextAuth4Vendors
      : authjsVendors(parts.major === null ? "@auth/express" : "next-auth"),
  lines: authjsConfig(5),
  pieces(parts, code, name) {
    if (name === "@auth/sveltekit") {
      const auth = ["export const { handle, signIn, signOut } = SvelteKitAuth({", ...authjs5(parts), "});"];
      return [
        {
          file: `src/auth.${extension(code)}`,
          lines: [
            'import { SvelteKitAuth } from "@auth/sveltekit";',
            ...parts.js.imports,
            "",
            ...parts.js.load,
            ...auth,
          ],
        },
        { file: `src/hooks.server.${extension(code)}`, lines: ['export { handle } from "./auth";'] },
      ];
    }
    if (name === "@auth/core") {
      const auth = [
        "export const auth = (request) =>",
        "  Auth(request, {",
        ...authjs5(parts).map((line) => `  ${line}`),
        "  });",
      ];
      const lines = [importing(code, "{ Auth }", "@auth/core"), ...parts.js.imports, "", ...parts.js.load];
      return [
        {
          where: 'into your server, which answers each request below /auth with auth(request); basePath is "/auth"',
          lines: [
            ...lines,
            ...auth.map((line) => (code.isTypeScript ? line.replace("(request) =>", "(request: Request) =>") : line)),
          ],
        },
      ];
    }
    const use = ['app.use("/auth", ExpressAuth({', ...authjs5(parts), "}));"];
    return expressPieces(code, {
      imports: [importing(code, "{ ExpressAuth }", "@auth/express")],
      lines: [...parts.js.load, "", ...use],
    });
  },
  signsInAt: "/auth/signin",
  signsOutAt: () => "/auth/signout",
  variables: () => [["AUTH_SECRET", cookieSecret()]],
};

/** Version 4, unless a newer one is installed. */
export const nextAuth: Form = {
  ...authjsForm,
  // A Nuxt app has both.
  packages: { "@sidebase/nuxt-auth": "/api/auth/callback/idp", "next-auth": "/api/auth/callback/idp" },
  vendors: (parts, name) =>
    // Nuxt loads the providers in another way.
    name === "@sidebase/nuxt-auth" ? {} : isVersion4(parts, 4) ? nextAuth4Vendors : authjsVendors("next-auth"),
  lines: authjsConfig(4),
  pieces: nextPieces,
  signsInAt: "/api/auth/signin",
  signsOutAt: () => "/api/auth/signout",
  variables: (parts) =>
    isVersion4(parts, 4)
      ? [
          ["NEXTAUTH_URL", new URL(parts.redirectUri).origin],
          ["NEXTAUTH_SECRET", cookieSecret()],
        ]
      : [["AUTH_SECRET", cookieSecret()]],
};
