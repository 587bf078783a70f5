import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { paths, post } from "../helpers/client.ts";

/** The metadata (OpenID Connect Discovery 3, RFC 8414): only what works is listed, and what is listed works. */

const idp = await serve();
await idp.call("seed", { scopes: { "orders:read": { claims: ["roles"] } } });

type Metadata = Readonly<Record<string, unknown>>;
const read = async (path: string, from = idp.issuer): Promise<Metadata> =>
  (await (await fetch(from + path)).json()) as Metadata;
const document = await read("/.well-known/openid-configuration");
const listed = (name: string): string[] => document[name] as string[];

test("both documents say the same, as JSON that may be kept for a minute", async () => {
  expect(await read("/.well-known/oauth-authorization-server")).toEqual(document);
  const { headers } = await fetch(`${idp.issuer}/.well-known/openid-configuration`);
  expect(headers.get("content-type")).toMatch(/^application\/json/);
  expect(headers.get("cache-control")).toBe("public, max-age=60");
});

test("the issuer unchanged, and every endpoint below it", () => {
  expect(document["issuer"]).toBe(idp.issuer);
  const base = `${idp.issuer}/api/v2/oauth`;
  expect(document).toMatchObject({
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    userinfo_endpoint: `${base}/userinfo`,
    jwks_uri: `${base}/jwks`,
    revocation_endpoint: `${base}/revoke`,
    introspection_endpoint: `${base}/introspect`,
    end_session_endpoint: `${base}/logout`,
    pushed_authorization_request_endpoint: `${base}/par`,
    device_authorization_endpoint: `${base}/device_authorization`,
  });
});

test.each([
  ["request_uri_parameter_supported", false],
  ["request_parameter_supported", false],
  ["authorization_response_iss_parameter_supported", true],
  ["backchannel_logout_supported", true],
  ["backchannel_logout_session_supported", true],
  ["require_pushed_authorization_requests", false],
  ["response_types_supported", ["code"]],
  ["response_modes_supported", ["query", "fragment", "form_post"]],
  ["subject_types_supported", ["public"]],
  ["code_challenge_methods_supported", ["S256"]],
])("%s: %j", (name, value) => {
  expect(document[name]).toEqual(value);
});

test("scopes_supported holds the spec's scopes and the fixtures' own, and claims_supported their claims, as soon as they are there", async () => {
  const { scopes_supported: scopes } = document;
  for (const name of ["openid", "profile", "email", "details", "phone", "social", "offline_access", "orders:read"]) {
    expect(scopes).toContain(name);
  }
  expect(document["claims_supported"]).not.toContain("late_claim");
  await idp.call("seed", { scopes: { "late:read": { claims: ["late_claim", "email"] } } });
  const { scopes_supported: now, claims_supported: claims } = await read("/.well-known/openid-configuration");
  expect(now).toContain("late:read");
  expect((claims as string[]).filter((name) => name === "late_claim" || name === "email")).toEqual([
    "email",
    "late_claim",
  ]);
});

describe("everything listed works", () => {
  test.each(
    (Object.entries(document) as [string, string][]).filter(
      ([name]) => name.endsWith("_endpoint") || name === "jwks_uri",
    ),
  )("%s is there", async (_name, url) => {
    const statuses = await Promise.all(
      ["GET", "POST"].map(async (method) => (await fetch(url, { method, redirect: "manual" })).status),
    );
    expect(statuses).not.toContain(404);
    expect(statuses.some((status) => status !== 405)).toBe(true);
  });

  test.each(listed("scopes_supported"))("scope %s can be asked for", async (scope) => {
    const app = await register(idp);
    expect((await app.tokens({ scope })).scope).toBe(scope);
  });

  test.each(listed("grant_types_supported"))("grant type %s is known", async (grantType) => {
    const { json } = await post(idp, paths.token, { grant_type: grantType });
    expect(json.error).not.toBe("unsupported_grant_type");
  });

  test.each(listed("prompt_values_supported"))("prompt %s is taken", async (prompt) => {
    const { left } = await new Browser(idp.issuer).open((await register(idp)).url({ prompt }));
    expect(left?.searchParams.get("error") ?? "login_required").toBe("login_required");
  });

  test.each(listed("id_token_signing_alg_values_supported"))("ID tokens can be signed with %s", async (alg) => {
    const app = await register(idp, { id_token_signed_response_alg: alg as "RS256" });
    const header = Buffer.from((await app.tokens()).id_token.split(".")[0] ?? "", "base64url").toString();
    expect(JSON.parse(header)).toMatchObject({ alg });
  });
});

test.each([
  ["http://localhost:9/", ""],
  ["http://localhost:9/tenants/two/", "/tenants/two"],
])(
  "where the issuer ends with a slash, the metadata of RFC 8414 is there with and without one: %s",
  async (issuer, path) => {
    const slash = await serve({ issuer });
    for (const end of ["", "/"]) {
      const address = `http://localhost:${slash.port}/.well-known/oauth-authorization-server${path}${end}`;
      expect(await (await fetch(address)).json()).toMatchObject({ issuer });
    }
  },
);

test("where it does not, an address with a slash more is unknown", async () => {
  expect((await fetch(`${idp.issuer}/.well-known/oauth-authorization-server/`)).status).toBe(404);
});

const below = await serve({ issuer: "http://localhost:9/tenants/one" });
const at = `http://localhost:${below.port}`;

describe("an issuer with a path", () => {
  test("everything is served below it, and the metadata of RFC 8414 at its inserted form too", async () => {
    const found = await read("/tenants/one/.well-known/openid-configuration", at);
    expect(found["token_endpoint"]).toBe("http://localhost:9/tenants/one/api/v2/oauth/token");
    expect(await read("/tenants/one/.well-known/oauth-authorization-server", at)).toEqual(found);
    expect(await read("/.well-known/oauth-authorization-server/tenants/one", at)).toEqual(found);
    expect((await fetch(`${at}/tenants/one/_idp/health`)).status).toBe(200);
  });

  test.each([
    "/.well-known/openid-configuration",
    "/api/v2/oauth/token",
    "/account",
    "/_idp/health",
    "/_idp/api/users",
  ])("nothing is served outside it: %s", async (path) => {
    expect((await fetch(at + path, { redirect: "manual" })).status).toBe(404);
  });

  test("a request without it gets a suggestion", async () => {
    expect(await read("/api/v2/oauth/userinfo", at)).toMatchObject({
      error_description: expect.stringContaining(
        "Did you mean /tenants/one/api/v2/oauth/userinfo? All endpoints are listed at /tenants/one/.well-known/",
      ) as string,
    });
  });

  test("its pages, forms and redirects stay below it", async () => {
    const app = await register(below);
    const browser = new Browser(at);
    const login = await browser.open(app.url().replace(below.issuer, `${at}/tenants/one`));
    expect(new URL(login.url).pathname).toMatch(/^\/tenants\/one\/interaction\//);
    const consent = await browser.press(login, "login-as-alice");
    expect(new URL(consent.url).pathname).toMatch(/^\/tenants\/one\/interaction\//);
    const { left } = await browser.press(consent, "consent-allow");
    expect(left?.searchParams.get("iss")).toBe("http://localhost:9/tenants/one");
    expect((await browser.open("/tenants/one/account")).page).toBe("account");
  });
});

test.each(["/a+b", "/a(b)", "/:tenant", "/*all", "/idp!"])(
  "an issuer's path is matched literally: %s",
  async (path) => {
    const odd = await serve({ issuer: `http://localhost:9${path}` });
    const there = `http://localhost:${odd.port}`;
    const status = async (of: string): Promise<number> => (await fetch(there + of)).status;
    expect(await status(`${path}/_idp/health`)).toBe(200);
    expect(await status(path)).toBe(200);
    expect(await status(`${path}/`)).toBe(200);
    expect(await status(`${path}/interaction/x/login`)).toBe(404);
    expect(await status(`${path}/account/apps/%/remove`)).toBe(400);
    expect(await status(`${path}/_idp/api/users`)).toBe(401);
    expect(await status(`/.well-known/oauth-authorization-server${path}`)).toBe(200);
    expect(await status("/other/_idp/health")).toBe(404);
    expect(await status("/other/_idp/api/users")).toBe(404);
    expect(await status("/.well-known/oauth-authorization-server/other")).toBe(404);
  },
);

test.each([
  "http://localhost:9/a b",
  "http://localhost:9/é",
  'http://localhost:9/"',
  "http://localhost:9/?a",
  "http://localhost:9/a;b",
  "ftp://localhost",
  "http:localhost:9",
  "http:///localhost:9",
  "http://localhost:9//evil.example",
  "http://localhost:9/%",
  "http://localhost:9/%2x",
])("%s is refused as an issuer", async (issuer) => {
  await expect(serve({ issuer })).rejects.toThrow(`issuer "${issuer}" is not an http or https URL`);
});

test("an issuer with a trailing slash is kept unchanged, and no path doubles the slash", async () => {
  const slashed = await serve({ issuer: "http://localhost:9/" });
  const found = await read("/.well-known/openid-configuration", `http://localhost:${slashed.port}`);
  expect(found["issuer"]).toBe("http://localhost:9/");
  expect(found["token_endpoint"]).toBe("http://localhost:9/api/v2/oauth/token");
});

test("the members of ID-JAGs are there once an issuer is trusted, or a client may get one: other programs do not know them", async () => {
  const names = [
    "authorization_grant_profiles_supported",
    "identity_chaining_requested_token_types_supported",
  ] as const;
  const has = async (from: string) => {
    const all = await read("/.well-known/openid-configuration", from);
    return names.map((name) => name in all);
  };
  expect(await has(idp.issuer)).toEqual([false, false]);
  const trusting = await serve();
  await trusting.call("seed", { settings: { trusted_issuers: [{ issuer: "https://a.test", jwks: { keys: [] } }] } });
  expect(await has(trusting.issuer)).toEqual([true, true]);
  const giving = await serve();
  const app = await register(giving, {
    grant_types: ["urn:ietf:params:oauth:grant-type:token-exchange"],
    id_jag_audiences: [{ issuer: "https://a.test" }],
  });
  expect(await has(giving.issuer)).toEqual([true, true]);
  await giving.call("clients.remove", { client_id: app.credentials.client_id });
  expect(await has(giving.issuer)).toEqual([false, false]);
});

test("an issuer with a slash too many in the app: the answer says so, and names the issuer", async () => {
  for (const path of ["//.well-known/openid-configuration", "//.well-known/oauth-authorization-server"]) {
    const answer = await fetch(idp.issuer + path, { headers: { accept: "application/json" } });
    expect([answer.status, await answer.text()]).toEqual([
      404,
      expect.stringContaining(`ends with a slash too many. It is ${idp.issuer}, without a slash`),
    ]);
  }
});
