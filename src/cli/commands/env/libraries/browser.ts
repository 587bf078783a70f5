import { extension, q, type Code, type Form, type Parts, type Piece } from "./form.ts";

/** Libraries of apps that run in the browser. */

const inBrowser = { returnsTo: /./, usual: "/callback", clients: "public" } as const;

/** https://authts.github.io/oidc-client-ts/interfaces/UserManagerSettings.html */
const oidcClientTsFields = ({ js, postLogoutRedirectUri, scopes }: Parts): readonly string[] => [
  `  authority: ${js.issuer},`,
  `  client_id: ${js.clientId},`,
  `  redirect_uri: ${js.redirectUri},`,
  ...(postLogoutRedirectUri === null ? [] : [`  post_logout_redirect_uri: ${js.inApp(postLogoutRedirectUri)},`]),
  `  scope: ${q(scopes.join(" "))},`,
];

/** The file that a page of Vite's templates loads. */
const entries = ["tsx", "jsx", "ts", "js"].map((extension) => `src/main.${extension}`);

function oidcClientTsPieces(parts: Parts, code: Code): readonly Piece[] {
  const lines = [
    'import { UserManager } from "oidc-client-ts";',
    "",
    "export const manager = new UserManager({",
    ...oidcClientTsFields(parts),
    "});",
    'let refused = "";',
    'if (new URLSearchParams(location.search).has("state")) {',
    "  // The user may deny, or may not sign in: asking again at once would never end.",
    "  await manager.signinCallback().catch((error) => (refused = String(error)));",
    '  history.replaceState(null, "", "/");',
    "}",
    "export const user = await manager.getUser();",
    "/** Signs the user out, at the provider too. */",
    "export const signOut = () => manager.signoutRedirect();",
    'if (refused !== "") document.body.append(`Not signed in. ${refused}`);',
    "else if (user === null || user.expired) await manager.signinRedirect();",
  ];
  const entry = entries.find(code.exists);
  if (entry === undefined) return [{ where: "at the top of your app's first script", lines }];
  // A module that waits: the rest of the entry runs once it is known who is signed in.
  return [
    { file: `src/auth.${extension(code)}`, lines },
    { where: `at the top of ${entry}`, lines: [`import "./auth${code.isTypeScript ? "" : ".js"}";`] },
  ];
}

export const oidcClientTs: Form = {
  ...inBrowser,
  packages: { "oidc-client-ts": "/callback" },
  lines: (parts) => [
    "// oidc-client-ts: new UserManager(config)",
    "export const config = {",
    ...oidcClientTsFields(parts),
    "};",
  ],
  pieces: oidcClientTsPieces,
  signsInAt: "/",
};

/** https://github.com/authts/react-oidc-context: oidc-client-ts as hooks of React. */
export const reactOidcContext: Form = {
  ...inBrowser,
  packages: { "react-oidc-context": "/callback" },
  wraps: "oidc-client-ts",
  lines: (parts) => [
    "// react-oidc-context: <AuthProvider {...config}>, then useAuth() in a component",
    "export const config = {",
    ...oidcClientTsFields(parts),
    "  // Takes the code out of the address, which a reload would send again.",
    '  onSigninCallback: () => history.replaceState(null, "", "/"),',
    "};",
  ],
  pieces: (parts, code) => [
    { file: `src/auth.${extension(code)}`, lines: reactOidcContext.lines(parts) },
    {
      where: "into your entry, around <App />",
      lines: [
        'import { AuthProvider, useAuth } from "react-oidc-context";',
        `import { config } from "./auth${code.isTypeScript ? "" : ".js"}";`,
        "",
        "function SignedIn({ children }" + (code.isTypeScript ? ": { children: React.ReactNode }" : "") + ") {",
        "  const auth = useAuth();",
        "  if (auth.isLoading) return <p>Loading</p>;",
        "  if (auth.error) return <p>Not signed in. {auth.error.message}</p>;",
        "  if (!auth.isAuthenticated) return <button onClick={() => auth.signinRedirect()}>Sign in</button>;",
        "  // Signs the user out, at the provider too.",
        "  return <>{children}<button onClick={() => auth.signoutRedirect()}>Sign out</button></>;",
        "}",
        "// <AuthProvider {...config}><SignedIn><App /></SignedIn></AuthProvider>",
      ],
    },
  ],
  signsInAt: "/",
};

/**
 * https://learn.microsoft.com/entra/msal/javascript/browser/configuration. Without `knownAuthorities` it asks Microsoft about the authority.
 * Version 5 moved `protocolMode` from `auth` to `system`.
 */
export const msal: Form = {
  ...inBrowser,
  package: "@azure/msal-browser",
  packages: { "@azure/msal-browser": "/callback" },
  lines: ({ js, issuer, postLogoutRedirectUri, scopes, major }) => {
    const isOlder = major !== null && major < 5;
    return [
      "// @azure/msal-browser: new PublicClientApplication(config), then loginRedirect(request), and logoutRedirect()",
      "export const config = {",
      "  auth: {",
      `    clientId: ${js.clientId},`,
      `    authority: ${js.issuer},`,
      `    knownAuthorities: [${q(new URL(issuer).host)}],`,
      `    redirectUri: ${js.redirectUri},`,
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
  packages: { "keycloak-js": "/callback" },
  lines: ({ js, scopes }) => [
    '// keycloak-js 26: new Keycloak(config), then init(options), and logout({ redirectUri: location.origin + "/" })',
    "export const config = {",
    `  oidcProvider: ${js.issuer},`,
    `  clientId: ${js.clientId},`,
    "};",
    "export const options = {",
    '  onLoad: "login-required",',
    `  redirectUri: ${js.redirectUri},`,
    `  scope: ${q(scopes.join(" "))},`,
    "  checkLoginIframe: false, // only a Keycloak server has that page",
    "};",
  ],
};

/** An address of the app, by its path, so that the code suits every port. */
const here = (address: string, { redirectUri }: Parts): string => {
  const { origin, pathname, search } = new URL(address);
  return origin === new URL(redirectUri).origin ? `location.origin + ${q(pathname + search)}` : q(address);
};

/** https://angular-auth-oidc-client.com/docs/intro. Angular has no variables of the environment, so the code has the values. */
function angularFields(parts: Parts): readonly string[] {
  const { js, redirectUri, postLogoutRedirectUri, scopes } = parts;
  return [
    `  authority: ${js.issuer},`,
    `  clientId: ${js.clientId},`,
    `  redirectUrl: ${here(redirectUri, parts)},`,
    ...(postLogoutRedirectUri === null ? [] : [`  postLogoutRedirectUri: ${here(postLogoutRedirectUri, parts)},`]),
    `  scope: ${q(scopes.join(" "))},`,
    '  responseType: "code",',
  ];
}

export const angularAuthOidcClient: Form = {
  ...inBrowser,
  usual: "/",
  packages: { "angular-auth-oidc-client": "/" },
  lines: (parts) => [
    "// angular-auth-oidc-client: provideAuth({ config })",
    "export const config = {",
    ...angularFields(parts),
    "};",
  ],
  pieces: (parts) => [
    {
      where: "into src/app/app.config.ts: provideHttpClient() and auth go among its providers",
      lines: [
        'import { provideHttpClient } from "@angular/common/http";',
        'import { provideAuth } from "angular-auth-oidc-client";',
        "",
        "const auth = provideAuth({ config: {",
        ...angularFields(parts),
        "} });",
      ],
    },
    {
      where: "at the top of src/app/app.ts",
      lines: [
        'import { inject } from "@angular/core";',
        'import { OidcSecurityService } from "angular-auth-oidc-client";',
      ],
    },
    {
      where: "into its class App",
      lines: [
        "private readonly oidc = inject(OidcSecurityService);",
        "readonly user = this.oidc.userData; // a signal",
        "constructor() {",
        "  // At each start: also takes what the provider sent back.",
        "  this.oidc.checkAuth().subscribe();",
        "}",
        "signIn = () => this.oidc.authorize();",
        "signOut = () => this.oidc.logoff().subscribe(); // at the provider too",
      ],
    },
    {
      where: "into its template, src/app/app.html",
      lines: [
        "@if (user().userData; as person) {",
        '  <p>{{ person.name }} <button (click)="signOut()">Sign out</button></p>',
        "} @else {",
        '  <button (click)="signIn()">Sign in</button>',
        "}",
      ],
    },
  ],
  signsInAt: "/",
};
