import { formatted } from "../format.ts";
import { cookieSecret, methodBesideBasic, nameIn, q, refusePlaceholder, type Form } from "./form.ts";
import { baseOf } from "../../../../core/endpoints.ts";

/** Other languages, and programs that sign users in themselves. */

const springCallback = /\/login\/oauth2\/code\/([\w-]+)$/;

/** https://docs.spring.io/spring-security/reference/servlet/oauth2/login/core.html */
export const spring: Form = {
  returnsTo: springCallback,
  usual: "/login/oauth2/code/idp",
  origin: "http://localhost:8080",
  mention: "spring-boot-starter-oauth2-client",
  clients: "any",
  refusal: refusePlaceholder("Spring"),
  lines: (parts) => {
    const { issuer, clientId, secret, redirectUri, scopes } = parts;
    const id = nameIn(redirectUri, springCallback);
    const method = methodBesideBasic(parts);
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

/** https://pkg.go.dev/github.com/coreos/go-oidc/v3/oidc and https://pkg.go.dev/golang.org/x/oauth2 */
export const go: Form = {
  returnsTo: /./,
  usual: "/callback",
  origin: "http://localhost:8080",
  mention: "github.com/coreos/go-oidc",
  clients: "any",
  lines: ({ issuer, clientId, secret, redirectUri, authMethod, scopes }) => [
    "// github.com/coreos/go-oidc/v3/oidc, golang.org/x/oauth2",
    `provider, err := oidc.NewProvider(ctx, ${q(issuer)})`,
    "if err != nil {",
    "\tlog.Fatal(err)",
    "}",
    "config := oauth2.Config{",
    `\tClientID:     ${q(clientId)},`,
    ...(secret === null ? [] : [`\tClientSecret: ${q(secret)},`]),
    `\tRedirectURL:  ${q(redirectUri)},`,
    "\tEndpoint:     provider.Endpoint(),",
    `\tScopes:       []string{${scopes.map(q).join(", ")}},`,
    "}",
    // By default it tries both, and the first request fails.
    `config.Endpoint.AuthStyle = oauth2.${authMethod === "client_secret_basic" ? "AuthStyleInHeader" : "AuthStyleInParams"}`,
    "idTokens := provider.Verifier(&oidc.Config{ClientID: config.ClientID})",
    "pkce := oauth2.GenerateVerifier() // a new one for each sign-in",
    "// config.AuthCodeURL(state, oauth2.S256ChallengeOption(pkce)), config.Exchange(ctx, code, oauth2.VerifierOption(pkce)),",
    '// then idTokens.Verify(ctx, token.Extra("id_token").(string))',
  ],
};

/** https://oauth2-proxy.github.io/oauth2-proxy/configuration/overview; it uses PKCE and still requires a secret. */
export const oauth2Proxy: Form = {
  returnsTo: /\/oauth2\/callback$/,
  usual: "http://localhost:4180/oauth2/callback",
  clients: "confidential",
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

/** https://grafana.com/docs/grafana/latest/setup-grafana/configure-access/configure-authentication/generic-oauth/ */
export const grafana: Form = {
  returnsTo: /\/login\/generic_oauth$/,
  usual: "/login/generic_oauth",
  clients: "confidential",
  refusal: refusePlaceholder("Grafana"),
  lines: ({ endpoints, clientId, secret, redirectUri, authMethod, scopes }) => {
    const oauth = {
      ENABLED: "true",
      NAME: "idp",
      CLIENT_ID: clientId,
      CLIENT_SECRET: secret ?? "",
      AUTH_STYLE: authMethod === "client_secret_basic" ? "InHeader" : "InParams",
      // Commas need no quotes, which docker run --env-file would take literally.
      SCOPES: scopes.join(","),
      AUTH_URL: endpoints.authorize,
      TOKEN_URL: endpoints.token,
      API_URL: endpoints.userinfo,
      USE_PKCE: "true",
      LOGIN_ATTRIBUTE_PATH: "preferred_username",
      ALLOW_SIGN_UP: "true",
    };
    return [
      "# Grafana: variables of its environment",
      formatted(
        [
          ["GF_SERVER_ROOT_URL", redirectUri.replace(/login\/generic_oauth$/, "")],
          ...Object.entries(oauth).map(([name, value]) => [`GF_AUTH_GENERIC_OAUTH_${name}`, value] as const),
        ],
        "dotenv",
      ),
    ];
  },
};

/** https://github.com/modelcontextprotocol/inspector/blob/main/docs/mcp-server-configuration.md */
export const mcpInspector: Form = {
  returnsTo: /:6274\/oauth\/callback$/,
  usual: "http://localhost:6274/oauth/callback",
  clients: "any",
  lines: ({ clientId, secret, appUrl, scopes }) => {
    const oauth = { clientId, ...(secret !== null && { clientSecret: secret }), scopes: scopes.join(" ") };
    const server = { type: "http", url: `${appUrl}mcp`, oauth };
    return [JSON.stringify({ mcpServers: { app: server } }, null, 2)];
  },
  notes: ({ issuer }) => [
    "Save it as mcp.json: npx @modelcontextprotocol/inspector@latest --config mcp.json",
    `The MCP server names this issuer in its protected resource metadata (RFC 9728): "authorization_servers": [${q(issuer)}]`,
  ],
};

/** https://mozilla-django-oidc.readthedocs.io/en/stable/settings.html; by default it sends the secret in the body. */
export const django: Form = {
  returnsTo: /\/oidc\/callback\/$/,
  usual: "/oidc/callback/",
  origin: "http://localhost:8000",
  mention: "mozilla-django-oidc",
  clients: "confidential",
  lines: ({ endpoints, clientId, secret, authMethod, idTokenAlg, scopes }) => {
    return [
      '# mozilla-django-oidc: settings.py; in urls.py: path("oidc/", include("mozilla_django_oidc.urls"))',
      'AUTHENTICATION_BACKENDS = ["mozilla_django_oidc.auth.OIDCAuthenticationBackend"]',
      `OIDC_RP_CLIENT_ID = ${q(clientId)}`,
      `OIDC_RP_CLIENT_SECRET = ${q(secret ?? "")}`,
      `OIDC_RP_SIGN_ALGO = ${q(idTokenAlg)}`,
      `OIDC_RP_SCOPES = ${q(scopes.join(" "))}`,
      `OIDC_OP_AUTHORIZATION_ENDPOINT = ${q(endpoints.authorize)}`,
      `OIDC_OP_TOKEN_ENDPOINT = ${q(endpoints.token)}`,
      `OIDC_OP_USER_ENDPOINT = ${q(endpoints.userinfo)}`,
      `OIDC_OP_JWKS_ENDPOINT = ${q(endpoints.jwks)}`,
      ...(authMethod === "client_secret_basic" ? ["OIDC_TOKEN_USE_BASIC_AUTH = True"] : []),
      "OIDC_USE_PKCE = True",
      'LOGIN_REDIRECT_URL = "/"',
      'LOGOUT_REDIRECT_URL = "/"',
    ];
  },
};

/** https://docs.authlib.org/en/latest/client/frameworks.html */
export const authlib: Form = {
  returnsTo: /./,
  usual: "/callback",
  origin: "http://localhost:5000",
  mention: "authlib",
  clients: "any",
  lines: (parts) => {
    const { issuer, clientId, secret, redirectUri, scopes } = parts;
    const method = methodBesideBasic(parts);
    return [
      "# Authlib with Flask; authlib.integrations has starlette_client and django_client too",
      "from authlib.integrations.flask_client import OAuth",
      "",
      "oauth = OAuth(app)",
      "oauth.register(",
      '    name="idp",',
      `    client_id=${q(clientId)},`,
      ...(secret === null ? [] : [`    client_secret=${q(secret)},`]),
      `    server_metadata_url=${q(`${baseOf(issuer)}/.well-known/openid-configuration`)},`,
      "    client_kwargs={",
      `        "scope": ${q(scopes.join(" "))},`,
      '        "code_challenge_method": "S256",',
      ...(method === null ? [] : [`        "token_endpoint_auth_method": ${q(method)},`]),
      "    },",
      ")",
      `REDIRECT_URI = ${q(redirectUri)}  # oauth.idp.authorize_redirect(REDIRECT_URI)`,
    ];
  },
};
