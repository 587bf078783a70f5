import { randomBytes } from "node:crypto";
import type { ClientView } from "../core/clients-admin.ts";
import { baseOf, endpoints } from "../core/endpoints.ts";
import { OperationError } from "../core/errors.ts";
import { commandFor, quoteWord } from "../shell-word.ts";
import type { Library } from "./env-choices.ts";
import { fixedRedirectUris, valuesOf } from "./app-client.ts";

/** The configuration of libraries that sign users in, in their own words: what they are given, and where they return to. */

/** What a configuration is made of. Texts are quoted as JSON has it, which JavaScript, YAML and TOML read alike. */
interface Parts {
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client. */
  readonly secret: string | null;
  readonly redirectUri: string;
  /** Where the app itself is, for a proxy before it. */
  readonly appUrl: string;
  /** A value of `token_endpoint_auth_method`; null: the library's own choice will do. */
  readonly authMethod: string | null;
  readonly scopes: readonly string[];
}

interface Form {
  /** The address that the library returns to: the path that its documentation names. */
  readonly returnsTo: RegExp;
  /** The same, for a client that has none of that form: a path of the app, or an address of the library's own. */
  readonly usual: string;
  /** It can use PKCE, without which no public client signs anybody in. */
  readonly pkce: boolean;
  readonly lines: (parts: Parts) => readonly string[];
}

const q = (text: string): string => JSON.stringify(text);

/** A secret of the app's own, for its cookies: another one each time, so that none of them becomes everybody's. */
const cookieSecret = (): string => randomBytes(32).toString("base64url");

const endOf = (uri: string, pattern: RegExp): string => pattern.exec(uri)?.[1] ?? "idp";

/** https://authjs.dev/guides/configuring-oauth-providers */
const authjs: Form = {
  returnsTo: /\/callback\/([\w-]+)$/,
  usual: "/api/auth/callback/idp",
  pkce: true,
  lines: ({ issuer, clientId, secret, redirectUri, authMethod, scopes }) => {
    const method = secret === null ? "none" : authMethod;
    return [
      "// Auth.js: NextAuth(config), ExpressAuth(config) or SvelteKitAuth(config)",
      "export const config = {",
      `  secret: ${q(cookieSecret())},`,
      "  trustHost: true,",
      "  providers: [",
      "    {",
      `      id: ${q(endOf(redirectUri, authjs.returnsTo))},`,
      '      name: "idp",',
      '      type: "oidc",',
      `      issuer: ${q(issuer)},`,
      `      clientId: ${q(clientId)},`,
      ...(secret === null ? [] : [`      clientSecret: ${q(secret)},`]),
      ...(method === null ? [] : [`      client: { token_endpoint_auth_method: ${q(method)} },`]),
      `      authorization: { params: { scope: ${q(scopes.join(" "))} } },`,
      '      checks: ["pkce", "state", "nonce"],',
      "    },",
      "  ],",
      "};",
    ];
  },
};

/** https://docs.spring.io/spring-security/reference/servlet/oauth2/login/core.html */
const spring: Form = {
  returnsTo: /\/login\/oauth2\/code\/([\w-]+)$/,
  usual: "/login/oauth2/code/idp",
  pkce: true,
  lines: ({ issuer, clientId, secret, redirectUri, authMethod, scopes }) => {
    const id = endOf(redirectUri, spring.returnsTo);
    const method = secret === null ? "none" : authMethod;
    return [
      "# Spring Security: application.yaml, with spring-boot-starter-oauth2-client",
      "spring:",
      "  security:",
      "    oauth2:",
      "      client:",
      "        registration:",
      `          ${id}:`,
      `            client-id: ${q(clientId)}`,
      ...(secret === null ? [] : [`            client-secret: ${q(secret)}`]),
      ...(method === null ? [] : [`            client-authentication-method: ${method}`]),
      "            authorization-grant-type: authorization_code",
      `            redirect-uri: ${q(redirectUri)}`,
      `            scope: ${q(scopes.join(","))}`,
      "        provider:",
      `          ${id}:`,
      `            issuer-uri: ${q(issuer)}`,
      "            user-name-attribute: sub",
    ];
  },
};

/** https://oauth2-proxy.github.io/oauth2-proxy/configuration/overview */
const oauth2Proxy: Form = {
  returnsTo: /\/oauth2\/callback$/,
  usual: "http://localhost:4180/oauth2/callback",
  // It can, but wants a secret all the same.
  pkce: false,
  lines: ({ issuer, clientId, secret, redirectUri, appUrl, scopes }) => [
    "# oauth2-proxy --config oauth2-proxy.cfg; upstreams is what it protects",
    'provider = "oidc"',
    `oidc_issuer_url = ${q(issuer)}`,
    `client_id = ${q(clientId)}`,
    `client_secret = ${q(secret ?? "")}`,
    `redirect_url = ${q(redirectUri)}`,
    `scope = ${q(scopes.join(" "))}`,
    'code_challenge_method = "S256"',
    'email_domains = ["*"]',
    "insecure_oidc_allow_unverified_email = true",
    `cookie_secret = ${q(cookieSecret())}`,
    `cookie_secure = ${String(redirectUri.startsWith("https:"))}`,
    `http_address = ${q(new URL(redirectUri).host)}`,
    `upstreams = [${q(appUrl)}]`,
  ],
};

/** https://www.passportjs.org/packages/passport-openidconnect */
const passport: Form = {
  returnsTo: /./,
  usual: "/oauth2/redirect",
  pkce: false,
  lines: ({ issuer, clientId, secret, redirectUri, scopes }) => {
    const base = baseOf(issuer);
    return [
      "// passport-openidconnect: new OpenIDConnectStrategy(config, verify)",
      "export const config = {",
      `  issuer: ${q(issuer)},`,
      `  authorizationURL: ${q(base + endpoints.authorize)},`,
      `  tokenURL: ${q(base + endpoints.token)},`,
      `  userInfoURL: ${q(base + endpoints.userinfo)},`,
      `  clientID: ${q(clientId)},`,
      `  clientSecret: ${q(secret ?? "")},`,
      `  callbackURL: ${q(redirectUri)},`,
      // It puts openid in front by itself.
      `  scope: ${JSON.stringify(scopes.filter((name) => name !== "openid")).replaceAll(",", ", ")},`,
      "  skipUserProfile: true, // the ID token has the profile",
      "};",
    ];
  },
};

/** https://auth0.github.io/express-openid-connect/interfaces/ConfigParams.html */
const expressOpenidConnect: Form = {
  returnsTo: /./,
  usual: "/callback",
  pkce: true,
  lines: ({ issuer, clientId, secret, redirectUri, authMethod, scopes }) => {
    const { origin } = new URL(redirectUri);
    const method = secret === null ? "none" : authMethod;
    return [
      "// express-openid-connect: app.use(auth(config))",
      "export const config = {",
      `  issuerBaseURL: ${q(issuer)},`,
      `  baseURL: ${q(origin)},`,
      `  clientID: ${q(clientId)},`,
      ...(secret === null ? [] : [`  clientSecret: ${q(secret)},`]),
      ...(method === null ? [] : [`  clientAuthMethod: ${q(method)},`]),
      `  secret: ${q(cookieSecret())},`,
      `  routes: { callback: ${q(redirectUri.slice(origin.length))} },`,
      `  authorizationParams: { response_type: "code", scope: ${q(scopes.join(" "))} },`,
      "};",
    ];
  },
};

const forms: Readonly<Record<Library, Form>> = {
  authjs,
  spring,
  "oauth2-proxy": oauth2Proxy,
  passport,
  "express-openid-connect": expressOpenidConnect,
};

function refuse(library: Library, client: ClientView, why: string, hint: string): OperationError {
  return new OperationError("refused", `${library} cannot use the client ${client.client_id}: ${why}`, { hint });
}

/** Whether a library can use a client at all. @throws {OperationError} refused */
function checkClient(library: Library, client: ClientView, redirectUri: string | undefined): void {
  const other = `Another client: idp env --for ${library} --client CLIENT_ID`;
  if (redirectUri === undefined) {
    throw refuse(library, client, "it has no redirect URI, so it signs nobody in", other);
  }
  const method = client["token_endpoint_auth_method"];
  if (method === "private_key_jwt" || method === "client_secret_jwt") {
    throw refuse(
      library,
      client,
      `it has to authenticate with ${method}, which this prints no configuration for`,
      other,
    );
  }
  if (client.public && !forms[library].pkce) {
    throw refuse(library, client, "it is public, and this library wants a secret", other);
  }
  if (library === "passport" && client["require_pkce"] === true) {
    throw refuse(library, client, "it requires PKCE, which passport-openidconnect does not have", other);
  }
  if (library === "passport" && method === "client_secret_basic") {
    throw refuse(
      library,
      client,
      "it has to use client_secret_basic; passport-openidconnect sends the secret in the body",
      other,
    );
  }
  const secret = client["client_secret"];
  if (library === "spring" && typeof secret === "string" && secret.includes("${")) {
    throw refuse(library, client, 'its secret holds "${", which Spring takes for a placeholder', other);
  }
}

/**
 * What a library is given to sign users in with a client.
 * @param client shown with its secret
 * @returns notes: what the client still lacks
 * @throws {OperationError} refused, where the two do not go together
 */
export function configurationOf(
  library: Library,
  issuer: string,
  client: ClientView,
): { readonly text: string; readonly notes: readonly string[] } {
  const uris = fixedRedirectUris(client).filter((uri) => /^https?:/.test(uri));
  checkClient(library, client, uris[0]);
  const { returnsTo, usual, lines } = forms[library];
  const registered = uris.find((uri) => returnsTo.test(uri));
  const redirectUri = registered ?? new URL(usual, uris[0]).href;
  const origins = uris.map((uri) => new URL(uri).origin);
  const scope = client["scope"];
  const method = client["token_endpoint_auth_method"];
  const { client_secret: secret } = valuesOf(issuer, client);
  const text = lines({
    issuer,
    clientId: client.client_id,
    secret,
    redirectUri,
    appUrl: `${origins.find((origin) => origin !== new URL(redirectUri).origin) ?? "http://localhost:3000"}/`,
    // What most libraries do where nobody tells them otherwise.
    authMethod: typeof method === "string" && method !== "client_secret_basic" ? method : null,
    scopes: [...new Set(["openid", ...(typeof scope === "string" ? scope.split(" ") : ["profile", "email"])])],
  }).join("\n");
  const all = [...client.redirect_uris, redirectUri].map((uri) => `--redirect-uri ${quoteWord(uri)}`).join(" ");
  const notes =
    registered === undefined
      ? [
          `${library} returns to ${redirectUri}, which is not registered for ${client.client_id} yet:`,
          commandFor("idp clients edit", client.client_id, all),
        ]
      : [];
  return { text, notes };
}
