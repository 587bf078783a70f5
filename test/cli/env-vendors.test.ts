import { createPublicKey } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, test } from "vitest";
import { idpIn } from "../helpers/command.ts";
import { newFolder } from "../helpers/cli.ts";

/** What an app with Google, GitHub or Apple built in is told, and the libraries of other ecosystems. */

const idp = (words: readonly string[], { cwd }: { readonly cwd: string }) => idpIn(cwd, words);

const client = { client_id: "web", client_secret: "s3cr3t", redirect_uris: ["http://localhost:3000/callback"] };

function folderWith(endpoints: string | null, more: object = {}): string {
  const cwd = newFolder();
  const settings = endpoints === null ? {} : { endpoints };
  writeFileSync(
    join(cwd, "idp.fixtures.json"),
    JSON.stringify({ users: [{ username: "alice" }], clients: [{ ...client, ...more }], settings }),
  );
  return cwd;
}

const jsonOf = async (cwd: string): Promise<Record<string, string>> => {
  const { code, stdout, stderr } = await idp(["env", "--json"], { cwd });
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Record<string, string>;
};

const base = "http://localhost:4370";

describe("idp env", () => {
  test("google: the addresses of the endpoints beside the issuer", async () => {
    expect(await jsonOf(folderWith("google"))).toEqual({
      OIDC_ISSUER: base,
      OIDC_CLIENT_ID: "web",
      OIDC_CLIENT_SECRET: "s3cr3t",
      OIDC_REDIRECT_URI: "http://localhost:3000/callback",
      AUTHORIZATION_URL: `${base}/o/oauth2/v2/auth`,
      TOKEN_URL: `${base}/token`,
      USERINFO_URL: `${base}/v1/userinfo`,
    });
  });

  test("github: in place of the issuer, and /user as UserInfo", async () => {
    const variables = await jsonOf(folderWith("github"));
    expect(variables).not.toHaveProperty("OIDC_ISSUER");
    expect(variables).toMatchObject({
      AUTHORIZATION_URL: `${base}/login/oauth/authorize`,
      TOKEN_URL: `${base}/login/oauth/access_token`,
      USERINFO_URL: `${base}/user`,
    });
  });

  test("apple: no UserInfo, and no secret", async () => {
    const jwk = { kty: "EC", crv: "P-256", x: "x", y: "y", kid: "k" };
    const cwd = folderWith("apple", { client_secret: undefined, apple_team: "TEAM", jwks: { keys: [jwk] } });
    const variables = await jsonOf(cwd);
    expect(variables).toMatchObject({ OIDC_ISSUER: base, AUTHORIZATION_URL: `${base}/auth/authorize` });
    for (const name of ["USERINFO_URL", "OIDC_CLIENT_SECRET"]) expect(variables).not.toHaveProperty(name);
  });

  test("with other endpoints there are none of them", async () => {
    expect(Object.keys(await jsonOf(folderWith("auth0")))).toEqual([
      "OIDC_ISSUER",
      "OIDC_CLIENT_ID",
      "OIDC_CLIENT_SECRET",
      "OIDC_REDIRECT_URI",
    ]);
  });

  test("a prefix and a name change them too", async () => {
    const flags = ["--prefix", "GOOGLE_", "--name", "token_url=GOOGLE_TOKEN"];
    const { stdout } = await idp(["env", ...flags], { cwd: folderWith("google") });
    expect(stdout).toContain(`GOOGLE_AUTHORIZATION_URL=${base}/o/oauth2/v2/auth`);
    expect(stdout).toContain(`GOOGLE_TOKEN=${base}/token`);
  });
});

test.each([
  ["passport-google-oauth20", "google", `tokenURL: "${base}/token"`],
  ["google-auth-library", "google", `oauth2RevokeUrl: "${base}/revoke"`],
  ["passport-github2", "github", `userEmailURL: "${base}/user" + "/emails"`],
  ["octokit", "github", `"${base}/user".replace(/\\/user$/, "/api/v3")`],
])(
  "env --for %s prints the addresses of %s, and names the setting where it is missing",
  async (library, vendor, line) => {
    const there = await idp(["env", "--for", library], { cwd: folderWith(vendor) });
    expect(there.stdout).toContain(line);
    expect(there.stderr).not.toContain(`endpoints: ${vendor}`);
    const missing = await idp(["env", "--for", library], { cwd: folderWith(null) });
    expect(missing.stderr).toContain(`write endpoints: ${vendor} under settings`);
  },
);

test.each([
  ["passport-google-oauth20", "google", "process.env.TOKEN_URL"],
  ["passport-github2", "github", "process.env.USERINFO_URL"],
])(
  "init in an app with %s: the fixtures have endpoints: %s, and the app its addresses",
  async (library, vendor, line) => {
    const cwd = newFolder();
    const dependencies = { express: "5", passport: "0.7", [library]: "1" };
    writeFileSync(join(cwd, "package.json"), JSON.stringify({ name: "shop", type: "module", dependencies }));
    const { code, stdout, stderr } = await idp(["init", "--yes"], { cwd });
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(line);
    const { stdout: shown } = await idp(["env", "--json"], { cwd });
    expect(JSON.parse(shown)).toMatchObject({ AUTHORIZATION_URL: expect.stringContaining("localhost:4370") as string });
    expect(await idp(["seed", "--check"], { cwd })).toMatchObject({ code: 0 });
    expect((await idp(["init", "--stdout"], { cwd })).stdout).toContain(`endpoints: ${vendor}`);
  },
);

/** The folder of an app that has buttons of vendors. @param variables the names in its `.env.example` */
function appWith(dependencies: Readonly<Record<string, string>>, ...variables: readonly string[]): string {
  const cwd = newFolder();
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ name: "shop", type: "module", dependencies }));
  writeFileSync(join(cwd, ".env.example"), variables.map((name) => `${name}=\n`).join(""));
  return cwd;
}

test("init takes the first vendor whose variables the app has, and names the others", async () => {
  const cwd = appWith({ next: "16", "next-auth": "4" }, "AUTH_GOOGLE_ID", "AUTH_GOOGLE_SECRET", "# GITHUB_CLIENT_ID");
  const { stdout, stderr } = await idp(["init", "--yes", "--stdout"], { cwd });
  expect(stdout).toContain("endpoints: google");
  expect(stdout).toContain("http://localhost:3000/api/auth/callback/google");
  expect(stderr).toContain("signs users in with google (AUTH_GOOGLE_ID): the fixtures have the setting");
  expect(stderr).toContain("signs users in with github (GITHUB_CLIENT_ID). An issuer with");
  expect(stderr).toContain("docs/vendors.md");
  expect(stderr).not.toContain("apple");
});

test("init only names them where the library has no lines for a vendor", async () => {
  const cwd = appWith({ express: "5", "openid-client": "6" }, "GOOGLE_CLIENT_ID", "GITHUB_TOKEN");
  const { stdout, stderr } = await idp(["init", "--yes", "--stdout"], { cwd });
  expect(stdout).not.toContain("endpoints:");
  expect(stderr).toContain("signs users in with google (GOOGLE_CLIENT_ID). An issuer with");
});

test.each([
  [
    "next-auth",
    { next: "16", "next-auth": "4" },
    "GITHUB_ID",
    "/api/auth/callback/github",
    "token: process.env.TOKEN_URL",
  ],
  [
    "@auth/sveltekit",
    { "@sveltejs/kit": "2", "@auth/sveltekit": "1" },
    "AUTH_GITHUB_ID",
    "/auth/callback/github",
    '(env.TOKEN_URL ?? "").replace(',
  ],
  [
    "better-auth",
    { express: "5", "better-auth": "1" },
    "GITHUB_CLIENT_ID",
    "/api/auth/callback/github",
    "tokenUrl: process.env.TOKEN_URL",
  ],
  [
    "arctic",
    { express: "5", arctic: "3" },
    "GITHUB_CLIENT_ID",
    "/callback",
    "validateAuthorizationCode(process.env.TOKEN_URL, code, null)",
  ],
])(
  "init in an app with %s and %j and GitHub's variables prints the lines for GitHub",
  async (_, dependencies, variable, path, line) => {
    const cwd = appWith(dependencies, variable);
    writeFileSync(join(cwd, "jsconfig.json"), "{}");
    const { code, stdout, stderr } = await idp(["init", "--yes"], { cwd });
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("into your app, where it sets up GitHub");
    expect(stdout).toContain(line);
    expect(stderr).not.toContain("To sign out");
    expect(readFileSync(join(cwd, "idp.fixtures.yaml"), "utf8")).toContain(path);
    expect(await idp(["seed", "--check"], { cwd })).toMatchObject({ code: 0 });
  },
);

test("init makes a key for Apple, gives it to the app alone, and keeps it", async () => {
  const cwd = appWith({ express: "5", "apple-signin-auth": "2" });
  const { code, stdout, stderr } = await idp(["init", "--yes"], { cwd });
  expect(code, stderr).toBe(0);
  expect(stdout).toContain("privateKey: process.env.APPLE_PRIVATE_KEY");
  expect(stdout).not.toContain("PRIVATE KEY-----");
  expect(await idp(["seed", "--check"], { cwd })).toMatchObject({ code: 0 });
  const { APPLE_PRIVATE_KEY: pem = "", ...variables } = await jsonOf(cwd);
  expect(variables).toMatchObject({ APPLE_TEAM_ID: "TEAM123456", APPLE_KEY_ID: "KEY1234567", OIDC_ISSUER: base });
  expect(variables).not.toHaveProperty("OIDC_CLIENT_SECRET");
  const { x = "" } = createPublicKey(pem).export({ format: "jwk" });
  const fixtures = readFileSync(join(cwd, "idp.fixtures.yaml"), "utf8");
  expect(fixtures).toContain(`x: "${x}"`);
  expect(fixtures).not.toContain("a public client");
  expect(parseEnv(readFileSync(join(cwd, ".env.local"), "utf8"))["APPLE_PRIVATE_KEY"]).toBe(pem);
  expect(await idp(["init", "--yes", "--force"], { cwd })).toMatchObject({ code: 0 });
  expect((await jsonOf(cwd))["APPLE_PRIVATE_KEY"]).toBe(pem);
});

test.each([
  ["github", {}, "answers as GitHub, which has no OpenID Connect"],
  [
    "apple",
    { client_secret: undefined, apple_team: "TEAM", jwks: { keys: [{ kty: "EC", crv: "P-256", x: "x", y: "y" }] } },
    "JWT by its own key",
  ],
])("env --for a library without lines for %s is refused", async (vendor, more, why) => {
  const cwd = folderWith(vendor, more);
  const { code, stderr } = await idp(["env", "--for", "passport"], { cwd });
  expect(code).toBe(6);
  expect(stderr).toContain(why);
});

describe("other ecosystems", () => {
  test.each([
    [
      "aspnetcore",
      "/signin-oidc",
      ['options.Authority = "http://localhost:4370";', "options.RequireHttpsMetadata = false;"],
    ],
    [
      "omniauth",
      "/auth/idp/callback",
      ["SWD.url_builder = URI::HTTP", "name: :idp,", "issuer: 'http://localhost:4370',"],
    ],
    [
      "mod_auth_openidc",
      "/redirect_uri",
      [`OIDCProviderMetadataURL "${base}/.well-known/openid-configuration"`, "OIDCPKCEMethod S256"],
    ],
    ["laravel", "/auth/callback", [`'base_url' => '${base}',`, "'client_secret' => 's3cr3t',"]],
    ["symfony", "/connect/idp/check", [`urlAccessToken: "${base}/api/v2/oauth/token"`, 'client_id: "web"']],
  ])("%s: the configuration, and the address that it returns to", async (library, path, lines) => {
    const redirect_uris = [`http://localhost:3000${path}`];
    const { code, stdout, stderr } = await idp(["env", "--for", library], { cwd: folderWith(null, { redirect_uris }) });
    expect(code, stderr).toBe(0);
    for (const line of lines) expect(stdout).toContain(line);
    const other = await idp(["env", "--for", library], { cwd: folderWith(null) });
    if (path !== "/auth/callback" && path !== "/connect/idp/check") expect(other.stderr).toContain(path);
  });

  test("laravel: the scopes of the client that the driver does not ask for by itself", async () => {
    const cwd = folderWith(null, { scope: "openid phone address" });
    expect((await idp(["env", "--for", "laravel"], { cwd })).stdout).toContain("'scopes' => 'phone address',");
    expect((await idp(["env", "--for", "laravel"], { cwd: folderWith(null) })).stdout).not.toContain("'scopes'");
  });

  test("symfony: no parameter is read from a secret, and the verifier of PKCE is kept for the callback", async () => {
    const cwd = folderWith(null, { client_secret: "100%of%it" });
    const { stdout } = await idp(["env", "--for", "symfony"], { cwd });
    expect(stdout).toContain('client_secret: "100%%of%%it"');
    expect(stdout).toContain("client_class: KnpU\\OAuth2ClientBundle\\Client\\OAuth2PKCEClient");
    expect(stdout).not.toContain("pkceMethod");
  });

  test.each([
    ["Gemfile", 'gem "omniauth_openid_connect"', "omniauth"],
    ["composer.json", '{ "require": { "laravel/socialite": "^5" } }', "laravel"],
    ["composer.json", '{ "require": { "knpuniversity/oauth2-client-bundle": "^2" } }', "symfony"],
    ["Shop.csproj", '<PackageReference Include="Microsoft.AspNetCore.Authentication.OpenIdConnect" />', "aspnetcore"],
  ])("init finds in %s the line %s", async (file, text, library) => {
    const cwd = newFolder();
    mkdirSync(cwd, { recursive: true });
    writeFileSync(join(cwd, file), text);
    const { code, stdout, stderr } = await idp(["init", "--yes", "--json"], { cwd });
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ library });
  });
});
