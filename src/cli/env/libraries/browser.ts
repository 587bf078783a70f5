import { q, type Form } from "./form.ts";

/** Libraries of apps that run in the browser. */

const inBrowser = { returnsTo: /./, usual: "/callback", clients: "public" } as const;

/** https://authts.github.io/oidc-client-ts/interfaces/UserManagerSettings.html */
export const oidcClientTs: Form = {
  ...inBrowser,
  lines: ({ issuer, clientId, redirectUri, postLogoutRedirectUri, scopes }) => [
    "// oidc-client-ts: new UserManager(config)",
    "export const config = {",
    `  authority: ${q(issuer)},`,
    `  client_id: ${q(clientId)},`,
    `  redirect_uri: ${q(redirectUri)},`,
    ...(postLogoutRedirectUri === null ? [] : [`  post_logout_redirect_uri: ${q(postLogoutRedirectUri)},`]),
    `  scope: ${q(scopes.join(" "))},`,
    "};",
  ],
};

/**
 * https://learn.microsoft.com/entra/msal/javascript/browser/configuration. Without `knownAuthorities` it asks Microsoft about the authority.
 * Version 5 moved `protocolMode` from `auth` to `system`.
 */
export const msal: Form = {
  ...inBrowser,
  package: "@azure/msal-browser",
  lines: ({ issuer, clientId, redirectUri, postLogoutRedirectUri, scopes, major }) => {
    const isOlder = major !== null && major < 5;
    return [
      "// @azure/msal-browser: new PublicClientApplication(config), then loginRedirect(request)",
      "export const config = {",
      "  auth: {",
      `    clientId: ${q(clientId)},`,
      `    authority: ${q(issuer)},`,
      `    knownAuthorities: [${q(new URL(issuer).host)}],`,
      `    redirectUri: ${q(redirectUri)},`,
      ...(postLogoutRedirectUri === null ? [] : [`    postLogoutRedirectUri: ${q(postLogoutRedirectUri)},`]),
      ...(isOlder ? ['    protocolMode: "OIDC",', "  },"] : ["  },", '  system: { protocolMode: "OIDC" },']),
      "};",
      `export const request = { scopes: ${JSON.stringify(scopes).replaceAll(",", ", ")} };`,
    ];
  },
  notes: ({ issuer }) =>
    issuer.startsWith("https:")
      ? []
      : [
          {
            text: "MSAL takes only an https authority",
            command: ["idp", "start", "--cert", "localhost.pem", "--key", "localhost-key.pem"],
          },
        ],
};

/** https://www.keycloak.org/securing-apps/javascript-adapter; it expects the page of its session check at a Keycloak server only. */
export const keycloakJs: Form = {
  ...inBrowser,
  lines: ({ issuer, clientId, redirectUri, scopes }) => [
    "// keycloak-js 26: new Keycloak(config), then init(options)",
    "export const config = {",
    `  oidcProvider: ${q(issuer)},`,
    `  clientId: ${q(clientId)},`,
    "};",
    "export const options = {",
    '  onLoad: "login-required",',
    `  redirectUri: ${q(redirectUri)},`,
    `  scope: ${q(scopes.join(" "))},`,
    "  checkLoginIframe: false, // only a Keycloak server has that page",
    "};",
  ],
};
