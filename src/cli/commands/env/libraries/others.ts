import { formatted } from "../format.ts";
import {
  cookieSecret,
  methodBesideBasic,
  nameIn,
  q,
  refusePlaceholder,
  signOutParts,
  type Form,
  type Parts,
} from "./form.ts";

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
  tests: ["mvn", "test"],
  signsInAt: "/oauth2/authorization/idp",
  noSignOut:
    "This configuration signs out of the app alone (/logout). To end the session at the provider too, give logout() of Spring Security an OidcClientInitiatedLogoutSuccessHandler.",
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
  tests: ["go", "test", "./..."],
  signsInAt: "/login",
  signsOutAt: () => "/logout",
  pieces: (parts) => [
    { where: "into your app, before it listens", lines: [...go.lines(parts).slice(0, -3), ...goRoutes(parts)] },
  ],
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

/** Cookies keep what a sign-in needs until its end, and the ID token for the sign-out. */
function goRoutes(parts: Parts): readonly string[] {
  const { logout, clientId, front, callback } = signOutParts(parts);
  return [
    "keep := func(w http.ResponseWriter, name, value string) {",
    '\thttp.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})',
    "}",
    "kept := func(r *http.Request, name string) string {",
    "\tif cookie, err := r.Cookie(name); err == nil {",
    "\t\treturn cookie.Value",
    "\t}",
    '\treturn ""',
    "}",
    'http.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {',
    "\tstate, pkce := oauth2.GenerateVerifier(), oauth2.GenerateVerifier()",
    '\tkeep(w, "state", state)',
    '\tkeep(w, "pkce", pkce)',
    "\thttp.Redirect(w, r, config.AuthCodeURL(state, oauth2.S256ChallengeOption(pkce)), http.StatusFound)",
    "})",
    `http.HandleFunc(${q(callback)}, func(w http.ResponseWriter, r *http.Request) {`,
    '\tif state := kept(r, "state"); state == "" || state != r.FormValue("state") {',
    '\t\thttp.Error(w, "this sign-in did not begin here", http.StatusBadRequest)',
    "\t\treturn",
    "\t}",
    '\ttoken, err := config.Exchange(r.Context(), r.FormValue("code"), oauth2.VerifierOption(kept(r, "pkce")))',
    "\tif err != nil {",
    "\t\thttp.Error(w, err.Error(), http.StatusUnauthorized)",
    "\t\treturn",
    "\t}",
    '\tidToken, _ := token.Extra("id_token").(string)',
    "\t// Its Subject is the user. Keep it in the session of your app.",
    "\tif _, err := idTokens.Verify(r.Context(), idToken); err != nil {",
    "\t\thttp.Error(w, err.Error(), http.StatusUnauthorized)",
    "\t\treturn",
    "\t}",
    '\tkeep(w, "id_token", idToken)',
    '\thttp.Redirect(w, r, "/", http.StatusFound)',
    "})",
    'http.HandleFunc("/logout", func(w http.ResponseWriter, r *http.Request) {',
    `\tquery := url.Values{"client_id": {${q(clientId)}}, "post_logout_redirect_uri": {${q(front)}}}`,
    '\tif idToken := kept(r, "id_token"); idToken != "" {',
    '\t\tquery.Set("id_token_hint", idToken)',
    "\t}",
    '\thttp.SetCookie(w, &http.Cookie{Name: "id_token", Path: "/", MaxAge: -1})',
    `\thttp.Redirect(w, r, ${q(`${logout}?`)}+query.Encode(), http.StatusFound)`,
    "})",
  ];
}
