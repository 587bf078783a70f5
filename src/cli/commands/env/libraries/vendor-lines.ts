import { baseOf, discoveryPath } from "../../../../core/base/endpoints.ts";
import { vendorOf, type BuiltInVendor } from "../app-client.ts";
import { importing, plainCode, q, typed, whole, type Code, type Form, type Parts, type VendorLines } from "./form.ts";
import { vendorNotes } from "./vendors.ts";

/** Libraries that know several vendors. Their lines are those of docs/vendors.md, with the values of this server. */

const lists: Readonly<Record<BuiltInVendor, readonly string[]>> = {
  google: ["openid", "email", "profile"],
  github: ["read:user", "user:email"],
  apple: ["name", "email"],
};
const scopesOf = (vendor: BuiltInVendor): string => `[${lists[vendor].map(q).join(", ")}]`;

const authorizationUrl = ({ js, endpoints }: Parts): string => js.address("AUTHORIZATION_URL", endpoints.authorize);
const tokenUrl = ({ js, endpoints }: Parts): string => js.address("TOKEN_URL", endpoints.token);
const userUrl = ({ js, endpoints }: Parts): string => js.address("USERINFO_URL", endpoints.userinfo);

/** The e-mail address is at `/user/emails` alone. @param token the access token, in the app's code */
const readsGithub = (parts: Parts, token: string, code: Code): readonly string[] => [
  `const headers = { authorization: \`Bearer \${${token}}\`, "user-agent": "app" };`,
  `const read = async (${typed("url", "string", code)}) => (await fetch(url, { headers })).json();`,
  `const [user, emails] = await Promise.all([read(${userUrl(parts)}), read(${whole(userUrl(parts))} + "/emails")]);`,
  `const { email, verified } = emails.find((${typed("one", "{ primary: boolean }", code)}) => one.primary) ?? {};`,
];

const indented = (lines: readonly string[], by: number): readonly string[] =>
  lines.map((line) => " ".repeat(by) + line);

const providerLines = (
  name: string,
  from: string,
  code: Code,
  parts: Parts,
  more: readonly string[],
): readonly string[] => [
  importing(code, name, from),
  ...parts.js.imports,
  ...parts.js.load,
  "",
  `export const provider = ${name}({`,
  `  clientId: ${parts.js.clientId},`,
  `  clientSecret: ${parts.js.secret},`,
  ...more,
  "});",
];

/** Its provider makes no client secret: Apple's is a JWT, which the app signs. */
const appleProvider = (from: string, code: Code, parts: Parts, more: readonly string[]): readonly string[] =>
  providerLines("Apple", from, code, parts, more).map((line) =>
    line
      .replace("export const provider = ", `export const providerFor = (${typed("clientSecret", "string", code)}) => `)
      .replace(/^ {2}clientSecret: .*/, "  clientSecret,"),
  );

/** https://authjs.dev/getting-started/providers/google, `github` and `apple`. @param usual the package whose providers they are, unless the app has another one */
export const authjsVendors = (usual: string): Readonly<Record<BuiltInVendor, VendorLines>> => {
  const from = (name: string | null, vendor: BuiltInVendor): string => `${name ?? usual}/providers/${vendor}`;
  const issuer = ({ js }: Parts): readonly string[] => [`  issuer: ${js.issuer},`];
  return {
    google: (parts, code, name) => providerLines("Google", from(name, "google"), code, parts, issuer(parts)),
    github: (parts, code, name) =>
      providerLines("GitHub", from(name, "github"), code, parts, [
        `  enterprise: { baseUrl: ${whole(tokenUrl(parts))}.replace("/login/oauth/access_token", "") },`,
      ]),
    apple: (parts, code, name) => appleProvider(from(name, "apple"), code, parts, issuer(parts)),
  };
};

/** https://next-auth.js.org/providers/google, `github` and `apple`. */
export const nextAuth4Vendors: Readonly<Record<BuiltInVendor, VendorLines>> = {
  google: (parts, code) => providerLines("Google", "next-auth/providers/google", code, parts, discovered(parts)),
  github: (parts, code) =>
    providerLines("GitHub", "next-auth/providers/github", code, parts, [
      `  issuer: ${whole(authorizationUrl(parts))}.replace("/authorize", ""),`,
      `  authorization: { url: ${authorizationUrl(parts)}, params: { scope: ${q(lists.github.join(" "))} } },`,
      `  token: ${tokenUrl(parts)},`,
      "  userinfo: {",
      `    url: ${userUrl(parts)},`,
      "    async request({ tokens }) {",
      ...indented(readsGithub(parts, "tokens.access_token", code), 6).map((line) => line.replace(", verified", "")),
      "      return { ...user, email };",
      "    },",
      "  },",
    ]),
  apple: (parts, code) => appleProvider("next-auth/providers/apple", code, parts, discovered(parts)),
};
const discovered = ({ js, issuer }: Parts): readonly string[] => [
  `  issuer: ${js.issuer},`,
  `  wellKnown: ${js.at(baseOf(issuer) + discoveryPath)},`,
];

const betterAuthPlugin = (parts: Parts, code: Code, lines: readonly string[]): readonly string[] => [
  importing(code, "{ genericOAuth }", "better-auth/plugins"),
  ...parts.js.imports,
  ...parts.js.load,
  "",
  "export const plugin = genericOAuth({",
  "  config: [",
  "    {",
  ...indented(lines, 6),
  `      clientId: ${parts.js.clientId},`,
  `      clientSecret: ${parts.js.secret},`,
  "    },",
  "  ],",
  "});",
];

/** https://better-auth.com/docs/plugins/generic-oauth: its own providers have the addresses fixed. */
export const betterAuthVendors: Readonly<Partial<Record<BuiltInVendor, VendorLines>>> = {
  google: (parts, code) =>
    betterAuthPlugin(parts, code, [
      'providerId: "google",',
      `discoveryUrl: ${parts.js.at(baseOf(parts.issuer) + discoveryPath)},`,
      `scopes: ${scopesOf("google")},`,
      'accessType: "offline",',
    ]),
  github: (parts, code) =>
    betterAuthPlugin(parts, code, [
      'providerId: "github",',
      `authorizationUrl: ${authorizationUrl(parts)},`,
      `tokenUrl: ${tokenUrl(parts)},`,
      `scopes: ${scopesOf("github")},`,
      "getUserInfo: async ({ accessToken }) => {",
      ...indented(readsGithub(parts, "accessToken", code), 2),
      "  return { id: String(user.id), name: user.name ?? user.login, image: user.avatar_url, email, emailVerified: verified };",
      "},",
    ]),
};

const arcticClient = (parts: Parts, code: Code, names: string): readonly string[] => [
  importing(code, `{ ${names} }`, "arctic"),
  ...parts.js.imports,
  ...parts.js.load,
  "",
  `const client = new OAuth2Client(${parts.js.clientId}, ${parts.js.secret}, ${parts.js.redirectUri});`,
];

const arcticLines: Readonly<Record<BuiltInVendor, VendorLines>> = {
  google: (parts, code) => [
    ...arcticClient(parts, code, "CodeChallengeMethod, OAuth2Client"),
    `export const begin = (${typed("state", "string", code)}, ${typed("verifier", "string", code)}) =>`,
    `  client.createAuthorizationURLWithPKCE(${authorizationUrl(parts)}, state, CodeChallengeMethod.S256, verifier, ${scopesOf("google")});`,
    `export const finish = (${typed("code", "string", code)}, ${typed("verifier", "string", code)}) =>`,
    `  client.validateAuthorizationCode(${tokenUrl(parts)}, code, verifier);`,
  ],
  github: (parts, code) => [
    ...arcticClient(parts, code, "OAuth2Client"),
    `export const begin = (${typed("state", "string", code)}) =>`,
    `  client.createAuthorizationURL(${authorizationUrl(parts)}, state, ${scopesOf("github")});`,
    `export const finish = (${typed("code", "string", code)}) => client.validateAuthorizationCode(${tokenUrl(parts)}, code, null);`,
  ],
  apple: (parts, code) => [
    importing(code, "{ Apple, OAuth2Tokens }", "arctic"),
    ...parts.js.imports,
    ...parts.js.load,
    "",
    `const pem = ${whole(parts.js.own("APPLE_PRIVATE_KEY"))}.replace(/-----[^-]+-----|\\s/g, "");`,
    `const apple = new Apple(${parts.js.clientId}, ${parts.js.own("APPLE_TEAM_ID")}, ${parts.js.own("APPLE_KEY_ID")}, Buffer.from(pem, "base64"), ${parts.js.redirectUri});`,
    `export function begin(${typed("state", "string", code)}) {`,
    `  const url = apple.createAuthorizationURL(state, ${scopesOf("apple")});`,
    '  url.searchParams.set("response_mode", "form_post");',
    `  return ${whole(authorizationUrl(parts))} + url.search;`,
    "}",
    "// The class makes the client secret, and has the address of Apple fixed.",
    `export async function finish(${typed("code", "string", code)}) {`,
    "  const body = new URLSearchParams({",
    '    grant_type: "authorization_code",',
    "    code,",
    `    redirect_uri: ${parts.js.redirectUri},`,
    `    client_id: ${parts.js.clientId},`,
    `    client_secret: await apple["createClientSecret"](),`,
    "  });",
    `  return new OAuth2Tokens(await (await fetch(${tokenUrl(parts)}, { method: "POST", body })).json());`,
    "}",
  ],
};

/** https://arcticjs.dev */
export const arctic: Form = {
  vendor: "google",
  vendors: () => arcticLines,
  returnsTo: /./,
  usual: "/callback",
  clients: "confidential",
  packages: { arctic: "/callback" },
  lines: (parts) => arcticLines[vendorOf(parts.endpoints) ?? "google"](parts, plainCode, null),
  notes: (parts) => vendorNotes(vendorOf(parts.endpoints) ?? "google")(parts),
};

const appleSigninLines: VendorLines = (parts, code) => {
  const { js } = parts;
  const text = (name: string): string => typed(name, "string", code);
  return [
    importing(code, "appleSignin", "apple-signin-auth"),
    ...js.imports,
    ...js.load,
    "",
    `const issuer = ${js.issuer};`,
    `const clientID = ${js.clientId};`,
    `const redirectUri = ${js.redirectUri};`,
    `const atIssuer = (${text("url")}) => url.replace("https://appleid.apple.com", issuer);`,
    `appleSignin._setFetch((${code.isTypeScript ? "url: string, init: RequestInit" : "url, init"}) => fetch(atIssuer(url), init));`,
    "const secret = () =>",
    `  appleSignin.getClientSecret({ clientID, teamID: ${js.own("APPLE_TEAM_ID")}, keyIdentifier: ${js.own("APPLE_KEY_ID")}, privateKey: ${js.own("APPLE_PRIVATE_KEY")} });`,
    `export const begin = (${text("state")}) =>`,
    '  atIssuer(appleSignin.getAuthorizationUrl({ clientID, redirectUri, state, scope: "name email" }));',
    `export const finish = (${text("code")}) =>`,
    "  appleSignin.getAuthorizationToken(code, { clientID, redirectUri, clientSecret: secret() });",
    `export const verify = (${text("idToken")}, ${text("nonce")}) => appleSignin.verifyIdToken(idToken, { issuer, audience: clientID, nonce });`,
  ];
};

/** https://github.com/a-tokyo/apple-signin-auth */
export const appleSigninAuth: Form = {
  vendor: "apple",
  returnsTo: /./,
  usual: "/auth/apple/callback",
  clients: "confidential",
  packages: { "apple-signin-auth": "/auth/apple/callback" },
  vendors: () => ({ apple: appleSigninLines }),
  lines: (parts) => appleSigninLines(parts, plainCode, null),
  notes: vendorNotes("apple"),
};
