import {
  documented,
  expressPieces,
  expressSession,
  frontPage,
  importing,
  isNest,
  q,
  serverRoutes,
  type Code,
  type Form,
  type Parts,
  type Piece,
  typed,
} from "./form.ts";

/** https://github.com/panva/openid-client/blob/main/docs/functions/discovery.md; by default it refuses http. */

/** The provider, and what a sign-in asks for. @param asks what to write before the discovery */
function discovery({ issuer, js, secret, authMethod }: Parts, asks: string): readonly string[] {
  const method =
    secret === null
      ? "client.None()"
      : authMethod === "client_secret_basic"
        ? `client.ClientSecretBasic(${js.secret})`
        : `client.ClientSecretPost(${js.secret})`;
  return [
    `${asks}client.discovery(`,
    `  new URL(${js.issuer}),`,
    `  ${js.clientId},`,
    "  undefined,",
    `  ${method},`,
    ...(issuer.startsWith("http:") ? ["  { execute: [client.allowInsecureRequests] }, // http"] : []),
  ];
}

/** The three steps of a sign-in, for any server. */
function steps(parts: Parts, code: Code): readonly string[] {
  const { js, scopes } = parts;
  const kept = 'Awaited<ReturnType<typeof beginSignIn>>["kept"]';
  return [
    ...(code.isTypeScript ? [] : ["/** @type {Promise<import('openid-client').Configuration> | undefined} */"]),
    `let ${typed("found", "Promise<client.Configuration> | undefined", code)};`,
    "// Asked for at the first sign-in, so that the app starts without the provider.",
    ...discovery(parts, "const provider = () => found ??= "),
    ").catch((error) => {",
    "  found = undefined; // the next sign-in asks again",
    "  throw error;",
    "});",
    "",
    "/** Begins a sign-in: keep `kept` in the session of the browser, and send it to `url`. */",
    "async function beginSignIn() {",
    "  const kept = {",
    "    pkceCodeVerifier: client.randomPKCECodeVerifier(),",
    "    expectedState: client.randomState(),",
    "    expectedNonce: client.randomNonce(),",
    "  };",
    "  const url = client.buildAuthorizationUrl(await provider(), {",
    `    redirect_uri: ${js.redirectUri},`,
    `    scope: ${q(scopes.join(" "))},`,
    "    code_challenge: await client.calculatePKCECodeChallenge(kept.pkceCodeVerifier),",
    '    code_challenge_method: "S256",',
    "    state: kept.expectedState,",
    "    nonce: kept.expectedNonce,",
    "  });",
    "  return { url: url.href, kept };",
    "}",
    "",
    ...documented(
      "Ends it, at the redirect URI: `query` is what the browser was sent back with. The user, and the ID token for the sign-out.",
      { query: "string", kept },
      code,
    ),
    `async function endSignIn(${typed("query", "string", code)}, ${typed("kept", kept, code)}) {`,
    `  const url = new URL(query, ${js.redirectUri});`,
    "  const tokens = await client.authorizationCodeGrant(await provider(), url, { ...kept, idTokenExpected: true });",
    "  return { user: tokens.claims(), idToken: tokens.id_token };",
    "}",
    "",
    ...documented(
      "Where to send the browser to sign out at the provider too, which returns to the app.",
      { idToken: "string | undefined" },
      code,
    ),
    `const signOutUrl = async (${typed("idToken", "string | undefined", code)}) =>`,
    "  client.buildEndSessionUrl(await provider(), {",
    `    post_logout_redirect_uri: ${frontPage(parts)},`,
    "    ...(idToken && { id_token_hint: idToken }),",
    "  }).href;",
  ];
}

const start = ({ js }: Parts, code: Code): readonly string[] => [
  code.isModule ? 'import * as client from "openid-client";' : importing(code, "client", "openid-client"),
  ...js.imports,
  ...js.load,
  "",
];

/** An Express app, whose sessions are those of express-session. */
function onExpress(parts: Parts, code: Code): readonly Piece[] {
  const { pathname } = new URL(parts.redirectUri);
  return expressPieces(code, {
    install: ["express-session"],
    types: ["@types/express-session"],
    imports: [importing(code, "session", "express-session")],
    lines: [
      ...start(parts, code),
      ...steps(parts, code),
      "",
      ...(code.isTypeScript
        ? [
            'declare module "express-session" {',
            '  interface SessionData { kept: Awaited<ReturnType<typeof beginSignIn>>["kept"]; user: object; idToken: string }',
            "}",
          ]
        : []),
      ...expressSession(parts),
      'app.get("/login", async (req, res) => {',
      "  const { url, kept } = await beginSignIn();",
      "  req.session.kept = kept;",
      "  res.redirect(url);",
      "});",
      `app.get(${q(pathname)}, async (req, res) => {`,
      "  const { kept } = req.session;",
      '  if (kept === undefined) return res.redirect("/login");',
      "  const { user, idToken } = await endSignIn(req.url, kept);",
      "  // A new session, so that nobody knows its id from before the sign-in.",
      "  req.session.regenerate(() => {",
      "    Object.assign(req.session, { user, idToken });",
      '    res.redirect("/");',
      "  });",
      "});",
      'app.get("/logout", async (req, res) => {',
      "  const url = await signOutUrl(req.session.idToken);",
      "  req.session.destroy(() => res.redirect(url));",
      "});",
      "// The user who is signed in: req.session.user",
    ],
  });
}

export const openidClient: Form = {
  returnsTo: /./,
  usual: "/callback",
  clients: "any",
  packages: { "openid-client": "/callback" },
  lines: (parts) => [
    "// openid-client 6: buildAuthorizationUrl(config, { ...parameters, code_challenge, … })",
    'import * as client from "openid-client";',
    "",
    ...discovery(parts, "export const config = await "),
    ");",
    "",
    "export const parameters = {",
    `  redirect_uri: ${parts.js.redirectUri},`,
    `  scope: ${q(parts.scopes.join(" "))},`,
    "};",
  ],
  pieces: (parts, code) =>
    code.has("express") && !isNest(code)
      ? onExpress(parts, code)
      : [
          {
            where:
              "into your server: call beginSignIn, endSignIn and signOutUrl in the routes of the sign-in, the callback and the sign-out",
            lines: [...start(parts, code), ...steps(parts, code)],
          },
        ],
  ...serverRoutes,
};
