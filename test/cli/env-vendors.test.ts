import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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

test("init names the vendors whose variables the app has", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ dependencies: { next: "16", "next-auth": "4" } }));
  writeFileSync(
    join(cwd, ".env.example"),
    "AUTH_GOOGLE_ID=\nAUTH_GOOGLE_SECRET=\n# GITHUB_CLIENT_ID=\nGITHUB_TOKEN=\n",
  );
  const { stderr } = await idp(["init", "--yes", "--stdout"], { cwd });
  expect(stderr).toContain("signs users in with google (AUTH_GOOGLE_ID)");
  expect(stderr).toContain("signs users in with github (GITHUB_CLIENT_ID)");
  expect(stderr).toContain("docs/vendors.md");
  expect(stderr).not.toContain("apple");
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
