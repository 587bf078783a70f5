import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { libraries } from "../../src/cli/commands/env/choices.ts";
import { idp, newFolder } from "../helpers/cli.ts";
import { idpHere } from "../helpers/command.ts";
import { repository } from "../helpers/readme.ts";

/** `idp env --for`: each library's own names, and the client that it can use. The ones of test/flow/configure.test.ts sign a user in. */

const issuer = "http://localhost:4370";
const web = { client_id: "web", client_secret: "web-secret", redirect_uris: ["http://localhost:3000/callback"] };
const spa = {
  client_id: "spa",
  redirect_uris: ["http://localhost:5173/callback"],
  post_logout_redirect_uris: ["http://localhost:5173/"],
};

/** A folder whose data has these clients; it lasts as long as this file's tests. */
const seeded = (...clients: readonly object[]) => seededWith({ clients });

async function seededWith(fixtures: object): Promise<{ cwd: string; data: readonly string[] }> {
  const cwd = newFolder(afterAll);
  const file = join(cwd, "idp.fixtures.json");
  writeFileSync(file, JSON.stringify(fixtures));
  const data = ["--data", join(cwd, ".idp")];
  expect(await idpHere(["seed", file, ...data])).toMatchObject({ code: 0 });
  return { cwd, data };
}

const { cwd, data } = await seeded(web, spa);

async function printed(library: string, ...flags: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await idpHere(["env", "--for", library, ...data, ...flags]);
  expect(code, stderr).toBe(0);
  return { stdout, stderr };
}

/** What a printed module exports. Its packages are this project's. */
async function moduleOf(text: string, name: string): Promise<Readonly<Record<string, unknown>>> {
  const file = join(cwd, `${name}.mjs`);
  writeFileSync(file, text);
  return { ...((await import(pathToFileURL(file).href)) as object) };
}

const callback = { id: "idp", name: "idp", clientId: "web", clientSecret: "web-secret" };
const oidc = { ...callback, type: "oidc", issuer };
const oauth = {
  ...callback,
  type: "oauth",
  wellKnown: `${issuer}/.well-known/openid-configuration`,
  idToken: true,
  authorization: { params: { scope: "openid profile email" } },
  checks: ["pkce", "state", "nonce"],
};

/** What is printed for Auth.js in a folder: of the provider, and of all of it. */
async function authjsIn(folder: string, library: string) {
  const { code, stdout } = await idp(["env", "--for", library, "--client", "web", ...data], { cwd: folder });
  expect(code).toBe(0);
  const { config } = await moduleOf(stdout, `${library}-${Math.random()}`);
  const [provider] = (config as { providers: Record<string, unknown>[] }).providers;
  return { stdout, provider };
}

test.each<[library: string, installed: string | null, range: string | null, provider: object]>([
  ["authjs", null, null, oidc],
  ["authjs", "4.24.11", "^5.0.0", oauth],
  ["authjs", "5.0.0-beta.30", null, oidc],
  ["authjs", null, "^4.24.5", oauth],
  ["authjs", null, "beta", oidc],
  ["next-auth", null, null, oauth],
  ["next-auth", null, "5.0.0-beta.30", oidc],
  ["next-auth", "4.24.11", null, oauth],
])("%s where %s is installed and package.json asks for %s", async (library, installed, range, expected) => {
  const folder = newFolder();
  const dependencies = range === null ? {} : { "next-auth": range };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ dependencies }));
  if (installed !== null) {
    mkdirSync(join(folder, "node_modules", "next-auth"), { recursive: true });
    writeFileSync(join(folder, "node_modules", "next-auth", "package.json"), JSON.stringify({ version: installed }));
  }
  const { provider } = await authjsIn(folder, library);
  expect(provider).toMatchObject(expected);
});

test("next-auth 4: the profile as its own providers read it, and the address of the app", async () => {
  const { provider, stdout } = await authjsIn(newFolder(), "next-auth");
  const profile = provider?.["profile"] as (claims: object) => object;
  expect(profile({ sub: "1", name: "A", email: "a@b.test", picture: "p", other: 1 })).toEqual({
    id: "1",
    name: "A",
    email: "a@b.test",
    image: "p",
  });
  expect(stdout).toContain("NEXTAUTH_URL=http://localhost:3000\n");
  expect(provider?.["client"]).toBeUndefined();
});

test("an app in the browser gets a public client, and a secret none of them", async () => {
  expect((await moduleOf((await printed("oidc-client-ts")).stdout, "oidc-client-ts"))["config"]).toEqual({
    authority: issuer,
    client_id: "spa",
    redirect_uri: "http://localhost:5173/callback",
    post_logout_redirect_uri: "http://localhost:5173/",
    scope: "openid profile email",
  });
  expect(await moduleOf((await printed("keycloak-js")).stdout, "keycloak-js")).toEqual({
    config: { oidcProvider: issuer, clientId: "spa" },
    options: {
      onLoad: "login-required",
      redirectUri: "http://localhost:5173/callback",
      scope: "openid profile email",
      checkLoginIframe: false,
    },
  });
  for (const library of ["oidc-client-ts", "keycloak-js", "msal"]) {
    expect(await idpHere(["env", "--for", library, "--client", "web", ...data])).toMatchObject({
      code: 6,
      stdout: "",
      stderr: expect.stringContaining("it has a secret, which an app in the browser cannot keep"),
    });
  }
  // A public client is the first here, and these two want a secret.
  const reversed = await seeded(spa, web);
  const passport = await idpHere(["env", "--for", "passport", ...reversed.data]);
  expect(passport.stdout).toContain('clientID: "web"');
});

test.each([
  ["4.30.0", { auth: { protocolMode: "OIDC" } }],
  ["5.3.0", { system: { protocolMode: "OIDC" } }],
  [null, { system: { protocolMode: "OIDC" } }],
])("MSAL %s: knownAuthorities, protocolMode in its place, and that it needs https", async (version, expected) => {
  const folder = newFolder();
  const dependencies = version === null ? {} : { "@azure/msal-browser": version };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ dependencies }));
  const { code, stdout, stderr } = await idp(["env", "--for", "msal", ...data], { cwd: folder });
  expect(code).toBe(0);
  const { config, request } = await moduleOf(stdout, `msal-${version}`);
  expect(config).toMatchObject({
    auth: {
      clientId: "spa",
      authority: issuer,
      knownAuthorities: ["localhost:4370"],
      redirectUri: "http://localhost:5173/callback",
      postLogoutRedirectUri: "http://localhost:5173/",
    },
    ...expected,
  });
  expect(Object.keys(config as object)).toEqual(version === "4.30.0" ? ["auth"] : ["auth", "system"]);
  expect(request).toEqual({ scopes: ["openid", "profile", "email"] });
  expect(stderr).toContain(
    "MSAL takes only an https authority: idp start --cert localhost.pem --key localhost-key.pem",
  );
});

test.each([
  ["client_secret_post", "ClientSecretPost"],
  ["client_secret_basic", "ClientSecretBasic"],
])("openid-client authenticates with %s", async (method, expected) => {
  const one = await seeded({ ...web, token_endpoint_auth_method: method });
  const { stdout } = await idpHere(["env", "--for", "openid-client", ...one.data]);
  expect(stdout).toContain(`  client.${expected}("web-secret"),\n  { execute: [client.allowInsecureRequests] }`);
  const asPublic = await printed("openid-client", "--client", "spa");
  expect(asPublic.stdout).toContain("  client.None(),\n");
});

test("Django, Authlib and Go: the settings of their documentation", async () => {
  const { stdout: django, stderr } = await printed("django");
  expect(django.split("\n")).toEqual(
    expect.arrayContaining([
      'OIDC_RP_CLIENT_ID = "web"',
      'OIDC_RP_CLIENT_SECRET = "web-secret"',
      'OIDC_RP_SIGN_ALGO = "RS256"',
      `OIDC_OP_AUTHORIZATION_ENDPOINT = "${issuer}/api/v2/oauth/authorize"`,
      `OIDC_OP_TOKEN_ENDPOINT = "${issuer}/api/v2/oauth/token"`,
      `OIDC_OP_USER_ENDPOINT = "${issuer}/api/v2/oauth/userinfo"`,
      `OIDC_OP_JWKS_ENDPOINT = "${issuer}/api/v2/oauth/jwks"`,
    ]),
  );
  expect(stderr).toContain("http://localhost:3000/oidc/callback/");
  expect(stderr).not.toContain("userinfo_format");
  const es256 = await seeded({
    ...web,
    id_token_signed_response_alg: "ES256",
    token_endpoint_auth_method: "client_secret_basic",
  });
  const { stdout: other } = await idpHere(["env", "--for", "django", ...es256.data]);
  expect(other).toContain('OIDC_RP_SIGN_ALGO = "ES256"\n');
  expect(other).toContain("OIDC_TOKEN_USE_BASIC_AUTH = True\n");

  const { stdout: authlib } = await printed("authlib");
  expect(authlib).toContain(`    server_metadata_url="${issuer}/.well-known/openid-configuration",\n`);
  expect(authlib).toContain('        "code_challenge_method": "S256",\n');
  const asPublic = (await printed("authlib", "--client", "spa")).stdout;
  expect(asPublic).toContain('        "token_endpoint_auth_method": "none",\n');
  expect(asPublic).not.toContain("client_secret");

  const { stdout: go } = await printed("go");
  expect(go).toContain(`oidc.NewProvider(ctx, "${issuer}")`);
  expect(go).toContain('\tScopes:       []string{"openid", "profile", "email"},\n');
  expect(go).toContain("config.Endpoint.AuthStyle = oauth2.AuthStyleInParams\n");
});

test("Grafana: variables that docker run --env-file takes as they are", async () => {
  const { stdout, stderr } = await printed("grafana");
  const lines = stdout.trimEnd().split("\n").slice(1);
  expect(Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)))).toMatchObject({
    GF_SERVER_ROOT_URL: "http://localhost:3000/",
    GF_AUTH_GENERIC_OAUTH_ENABLED: "true",
    GF_AUTH_GENERIC_OAUTH_CLIENT_ID: "web",
    GF_AUTH_GENERIC_OAUTH_CLIENT_SECRET: "web-secret",
    GF_AUTH_GENERIC_OAUTH_SCOPES: "openid,profile,email",
    GF_AUTH_GENERIC_OAUTH_AUTH_URL: `${issuer}/api/v2/oauth/authorize`,
    GF_AUTH_GENERIC_OAUTH_TOKEN_URL: `${issuer}/api/v2/oauth/token`,
    GF_AUTH_GENERIC_OAUTH_API_URL: `${issuer}/api/v2/oauth/userinfo`,
    GF_AUTH_GENERIC_OAUTH_USE_PKCE: "true",
    GF_AUTH_GENERIC_OAUTH_LOGIN_ATTRIBUTE_PATH: "preferred_username",
  });
  expect(stderr).toContain("--add-redirect-uri http://localhost:3000/login/generic_oauth");
});

test("MCP Inspector: a file of servers, and what the MCP server says of this one", async () => {
  const { stdout, stderr } = await printed("mcp-inspector", "--client", "spa");
  expect(JSON.parse(stdout)).toEqual({
    mcpServers: {
      app: {
        type: "http",
        url: "http://localhost:5173/mcp",
        oauth: { clientId: "spa", scopes: "openid profile email" },
      },
    },
  });
  expect(stderr).toContain("--add-redirect-uri http://localhost:6274/oauth/callback");
  expect(stderr).toContain("npx @modelcontextprotocol/inspector@latest --config mcp.json");
  expect(stderr).toContain(`"authorization_servers": ["${issuer}"]`);
});

test("every library is one of --help, and prints something for one of two clients", async () => {
  symlinkSync(join(repository, "node_modules"), join(cwd, "node_modules"));
  const { stdout: help } = await idpHere(["env", "--help"]);
  for (const library of libraries) {
    expect(help).toContain(`"${library}"`);
    expect((await printed(library)).stdout).toContain(library === "mcp-inspector" ? "mcpServers" : "localhost:4370");
  }
});

test.each([
  [
    "passport",
    "entra",
    'issuer: "http://localhost:4370/common/v2.0",',
    '"http://localhost:4370/common/oauth2/v2.0/token"',
  ],
  ["django", "auth0", "", 'OIDC_OP_JWKS_ENDPOINT = "http://localhost:4370/.well-known/jwks.json"'],
  ["grafana", "cognito", "", "GF_AUTH_GENERIC_OAUTH_API_URL=http://localhost:4370/oauth2/userInfo"],
])("%s with the paths of %s", async (library, endpoints, server, line) => {
  const place = await seededWith({ clients: [web], settings: { endpoints } });
  const { code, stdout } = await idpHere(["env", "--for", library, ...place.data]);
  expect(code).toBe(0);
  expect(stdout).toContain(server);
  expect(stdout).toContain(line);
});
