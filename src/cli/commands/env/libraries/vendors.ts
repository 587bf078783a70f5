import { vendorOf, type BuiltInVendor } from "../app-client.ts";
import type { Hint } from "../../../../core/base/hint.ts";
import { importing, q, whole, type Code, type Form, type Parts } from "./form.ts";

/** Libraries that have the addresses of Google or GitHub built in. They are given those of an issuer that answers as the vendor does. */

export const vendorTitles: Readonly<Record<BuiltInVendor, string>> = {
  google: "Google",
  github: "GitHub",
  apple: "Apple",
};

/** What the server still lacks, and that production needs none of the addresses. */
export const vendorNotes =
  (vendor: BuiltInVendor) =>
  ({ endpoints }: Parts): readonly (string | Hint)[] => [
    ...(vendorOf(endpoints) === vendor
      ? []
      : [
          `This library goes to ${vendorTitles[vendor]}. For its paths and answers, write endpoints: ${vendor} under settings of the fixtures, or start with --endpoints ${vendor}`,
        ]),
    `In production it has to go to ${vendorTitles[vendor]}: docs/vendors.md has lines that do both`,
    ...(vendor === "apple"
      ? [
          "It signs client secrets with APPLE_PRIVATE_KEY, in the name of APPLE_TEAM_ID and APPLE_KEY_ID. idp init makes a key, and writes them",
        ]
      : []),
  ];

/** https://github.com/googleapis/google-auth-library-nodejs */
export const googleAuthLibrary: Form = {
  vendor: "google",
  returnsTo: /./,
  usual: "/callback",
  clients: "confidential",
  packages: { "google-auth-library": "/callback" },
  lines: ({ js, issuer, endpoints }) => [
    "// google-auth-library: new OAuth2Client(config)",
    "export const config = {",
    `  clientId: ${js.clientId},`,
    `  clientSecret: ${js.secret},`,
    `  redirectUri: ${js.redirectUri},`,
    `  issuers: [${js.issuer}],`,
    "  endpoints: {",
    `    oauth2AuthBaseUrl: ${js.address("AUTHORIZATION_URL", endpoints.authorize)},`,
    `    oauth2TokenUrl: ${js.address("TOKEN_URL", endpoints.token)},`,
    `    oauth2RevokeUrl: ${js.at(endpoints.revoke)},`,
    `    oauth2FederatedSignonPemCertsUrl: ${js.at(`${issuer}/oauth2/v1/certs`)},`,
    `    oauth2FederatedSignonJwkCertsUrl: ${js.at(endpoints.jwks)},`,
    "  },",
    "};",
  ],
  notes: vendorNotes("google"),
};

/** What a strategy of Passport is given. @param more lines after the addresses */
const strategy = (
  comment: string,
  { js, endpoints }: Parts,
  scopes: readonly string[],
  more: readonly string[] = [],
): readonly string[] => [
  comment,
  "export const config = {",
  `  clientID: ${js.clientId},`,
  `  clientSecret: ${js.secret},`,
  `  callbackURL: ${js.redirectUri},`,
  `  authorizationURL: ${js.address("AUTHORIZATION_URL", endpoints.authorize)},`,
  `  tokenURL: ${js.address("TOKEN_URL", endpoints.token)},`,
  `  userProfileURL: ${js.address("USERINFO_URL", endpoints.userinfo)},`,
  ...more,
  `  scope: [${scopes.map(q).join(", ")}],`,
  "  state: true,",
  "};",
];

/** The code of a strategy, for the place where the app has Passport already. @param after more lines */
const strategyPieces = (form: Form, name: string, after: readonly string[]): NonNullable<Form["pieces"]> => {
  const lines = (parts: Parts, code: Code): readonly string[] => [
    importing(code, "{ Strategy }", name),
    ...parts.js.load,
    "",
    "const strategy = new Strategy({",
    ...form.lines(parts).slice(2, -1),
    "}, (accessToken, refreshToken, profile, done) => done(null, profile));",
    ...after,
    "passport.use(strategy);",
  ];
  return (parts, code) => [{ where: "into your server, where it sets up passport", lines: lines(parts, code) }];
};

/** https://www.passportjs.org/packages/passport-google-oauth20; its request of the profile has the token in the query otherwise. */
export const passportGoogle: Form = {
  vendor: "google",
  returnsTo: /./,
  usual: "/auth/google/callback",
  clients: "confidential",
  packages: { "passport-google-oauth20": "/auth/google/callback" },
  lines: (parts) =>
    strategy(
      "// passport-google-oauth20: const strategy = new Strategy(config, verify), then strategy._oauth2.useAuthorizationHeaderforGET(true)",
      parts,
      ["openid", "email", "profile"],
    ),
  pieces: (parts, code, name) =>
    strategyPieces(passportGoogle, "passport-google-oauth20", [
      "// Otherwise the token is in the query, which is refused here.",
      "strategy._oauth2.useAuthorizationHeaderforGET(true);",
    ])(parts, code, name),
  notes: vendorNotes("google"),
};

/** https://www.passportjs.org/packages/passport-github2 */
export const passportGithub: Form = {
  vendor: "github",
  returnsTo: /./,
  usual: "/auth/github/callback",
  clients: "confidential",
  packages: { "passport-github2": "/auth/github/callback" },
  lines: (parts) =>
    strategy(
      "// passport-github2: new Strategy(config, verify)",
      parts,
      ["read:user", "user:email"],
      [`  userEmailURL: ${whole(parts.js.address("USERINFO_URL", parts.endpoints.userinfo))} + "/emails",`],
    ),
  pieces: (parts, code, name) => strategyPieces(passportGithub, "passport-github2", [])(parts, code, name),
  notes: vendorNotes("github"),
};

/** https://github.com/octokit/oauth-app.js; the address is the one that GitHub Enterprise Server has. */
export const octokit: Form = {
  vendor: "github",
  returnsTo: /./,
  usual: "/api/github/oauth/callback",
  clients: "confidential",
  packages: { "@octokit/oauth-app": "/api/github/oauth/callback", octokit: "/api/github/oauth/callback" },
  lines: ({ js, endpoints }) => [
    "// @octokit/oauth-app: new OAuthApp({ ...config, Octokit: Octokit.defaults({ baseUrl }) })",
    "export const config = {",
    `  clientId: ${js.clientId},`,
    `  clientSecret: ${js.secret},`,
    `  redirectUrl: ${js.redirectUri},`,
    "};",
    `export const baseUrl = ${whole(js.address("USERINFO_URL", endpoints.userinfo))}.replace(/\\/user$/, "/api/v3");`,
  ],
  notes: vendorNotes("github"),
};
