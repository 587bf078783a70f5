import type { BuiltInVendor } from "../env/app-client.ts";
import type { Variables } from "../env/format.ts";
import type { AppleKey } from "./apple-key.ts";
import { loginClient, loginGrantTypes, loopbackRedirectUri, type AppType } from "./app-types.ts";

/** The text of a fixture file for a person to go on from. */

export interface NewApp {
  readonly type: AppType;
  readonly clientId: string;
  /** Null for a public client. */
  readonly secret: string | null;
  readonly redirectUris: readonly string[];
  /** The path that the app's library returns to after a sign-out. */
  readonly afterSignOut: "/" | "";
  readonly users: readonly string[];
  /** Whose addresses its library has built in; null for none. */
  readonly vendor: BuiltInVendor | null;
  /** The key of the app for Apple, in place of a secret; null for other vendors. */
  readonly apple: AppleKey | null;
  /** What the app needs beside the variables of OpenID Connect. */
  readonly env: Variables;
  /** Where the JSON Schema is, for editors; null if it is not installed here. */
  readonly schema: string | null;
}

/** A plain word in YAML, unless it means something else there; all other text is in quotes, as in JSON. */
const scalar = (text: string): string =>
  /^[A-Za-z][\w-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text) ? text : JSON.stringify(text);

const titled = (username: string): string => username.charAt(0).toUpperCase() + username.slice(1);

function userLines(username: string, index: number): readonly string[] {
  const first = index === 0;
  return [
    `  - username: ${scalar(username)}`,
    ...(/^[a-z]+$/.test(username) ? [`    displayName: ${scalar(titled(username))}`] : []),
    ...(/^[\w.-]+$/.test(username)
      ? [`    email: ${scalar(`${username}@example.com`)}`, "    emailVerified: true"]
      : []),
    `    password: ${scalar(username)}${first ? " # without one: signs in from the picker" : ""}`,
    ...(first
      ? [
          "    # status: suspended # or banned: what does your app do then?",
          "    # claims: { roles: [admin] } # more claims for the tokens",
        ]
      : []),
  ];
}

/** Where a sign-out may return to: the front page of the app. @param path as the library sends it: "/", or "" for no slash at the end */
const frontPages = (uris: readonly string[], path: "/" | ""): readonly string[] => [
  ...new Set(
    uris.filter((uri) => /^https?:/.test(uri) && URL.canParse(uri)).map((uri) => `${new URL(uri).origin}${path}`),
  ),
];

const list = (name: string, values: readonly string[]): readonly string[] =>
  values.length === 0 ? [] : [`    ${name}:`, ...values.map((value) => `      - ${scalar(value)}`)];

const grantTypes: Readonly<Record<AppType, readonly string[]>> = {
  public: [],
  confidential: [],
  service: ["client_credentials"],
  cli: loginGrantTypes,
};

const appleLines = ({ team, jwk: { kid, x, y } }: AppleKey): readonly string[] => [
  `    apple_team: ${scalar(team)} # its secrets are JWTs by this key, whose private part is APPLE_PRIVATE_KEY`,
  `    jwks: { keys: [{ kty: EC, crv: P-256, kid: ${scalar(kid)}, x: ${JSON.stringify(x)}, y: ${JSON.stringify(y)} }] }`,
];

function clientLines({ type, clientId, secret, redirectUris, afterSignOut, apple, env }: NewApp): readonly string[] {
  return [
    `  - client_id: ${scalar(clientId)}${secret === null && apple === null ? " # no secret: a public client, with PKCE" : ""}`,
    ...(secret === null ? [] : [`    client_secret: ${scalar(secret)} # for development only`]),
    ...(apple === null ? [] : appleLines(apple)),
    ...list("redirect_uris", redirectUris),
    ...(type === "cli" ? [] : list("post_logout_redirect_uris", frontPages(redirectUris, afterSignOut))),
    ...list("grant_types", grantTypes[type]),
    ...(type === "service"
      ? ["    # scope: orders:read # what it may ask for; define it below scopes"]
      : ["    # scope: openid profile email # what it may ask for; absent: everything"]),
    ...(env.length === 0 ? [] : ["    env: # what the app needs beside OIDC_*: idp env and idp exec give it"]),
    ...env.map(([name, value]) => `      ${name}: ${scalar(value)}`),
  ];
}

/** The client of `idp login`, except for a service, which signs nobody in. */
const loginLines = ({ type, clientId }: NewApp): readonly string[] =>
  type === "service" || clientId === loginClient
    ? []
    : [
        `  - client_id: ${loginClient} # idp login signs in as this one`,
        ...list("redirect_uris", [loopbackRedirectUri]),
        ...list("grant_types", loginGrantTypes),
      ];

/** The whole file. */
export function fixtureText(app: NewApp): string {
  return [
    "# Who can sign in, and to what: found here by idp start and idp exec.",
    "# Check it: idp seed --check. Every field: idp seed --fields",
    ...(app.schema === null ? [] : [`# yaml-language-server: $schema=${app.schema}`]),
    "",
    app.users.length === 0 ? "users: [] # such as { username: alice }" : "users:",
    ...app.users.flatMap(userLines),
    "",
    "clients:",
    ...clientLines(app),
    ...loginLines(app),
    "",
    "# scopes:",
    "#   orders:read: { description: { en: See your orders } }",
    "settings:",
    ...(app.vendor === null
      ? ["  access_token_alg: RS256 # APIs verify access tokens with the published key"]
      : [`  endpoints: ${app.vendor} # the paths and answers of the vendor, which the app has built in`]),
    "  try_it: true # the start page of the server offers a sign-in",
    "  # access_token_ttl: 300 # seconds",
    "",
  ].join("\n");
}
