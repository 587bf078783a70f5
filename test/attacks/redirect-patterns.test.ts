import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { createIdp } from "../../src/index.ts";
import { register, type App } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { pick, pkce, post, type Body, type Parameters } from "../helpers/client.ts";

/** A pattern of redirect URIs lets in one label of one host, for clients that prove who they are, and nothing else (RFC 9700 2.1). */

const idp = await underAttack({ dynamicRegistration: true });
const { verifier, challenge } = pkce();
const withPkce = { code_challenge: challenge, code_challenge_method: "S256" };
const pattern = "https://app-*.preview.example.com/callback";
const preview = "https://app-pr-42.preview.example.com/callback";
const fixed = "https://shop.example.com/callback";
const previews = (metadata: object = {}): Promise<App> =>
  register(idp, { redirect_uris: [fixed], redirect_patterns: [pattern], ...metadata });

const shop = await previews();
const team = await previews({ redirect_patterns: ["https://app-*-team.vercel.app/cb", "https://*.example.com/cb"] });

const open = (app: App, redirect_uri: string, change: Parameters = {}, browser = new Browser(idp.issuer)) =>
  browser.open(app.url({ redirect_uri, ...withPkce, ...change }));

const problemOf = async (client: object): Promise<string> => {
  const fixtures = { clients: [{ client_id: "c", client_secret: "s", redirect_uris: [fixed], ...client }] };
  try {
    await idp.call("seed", fixtures);
  } catch (error) {
    return (error as Error & { problems: readonly { path: string; message: string }[] }).problems
      .map(({ path, message }) => `${path} ${message}`)
      .join("\n");
  }
  return "";
};

describe("an address that is not of the pattern gets a page, and no browser goes there", () => {
  test.each([
    ...["", "-.evil.test", "a.evil.test", "a.b", ".", "..", "a.", "%2e", "a%2eb", "a%2Eevil.test", "%61"],
    ...["A", "PR-1", "a_b", "a b", "a\t", "a\n", "\u0000", "é", "ａ", "а", "a。b", "a｡b", "☃"],
    ...[
      "@evil.test",
      "user@a",
      "a@b",
      "a:8443",
      "a:443",
      "a:",
      "a/",
      "a/b",
      "a\\b",
      "a\\.evil.test/",
      "a?",
      "a?b",
      "a#",
      "a#b",
    ],
    ...["*", "[::1]", "127.0.0.1", "x".repeat(60), "x".repeat(64), "a;b", "a,b", "a%00", "a%0d%0aX: 1"],
  ])("%j in place of the *", async (piece) => {
    const visit = await open(shop, pattern.replace("*", piece));
    expect(visit).toMatchObject({ status: 400, page: "error", left: null });
  });
  test.each([
    "http://app-1.preview.example.com/callback",
    "HTTPS://app-1.preview.example.com/callback",
    "https:app-1.preview.example.com/callback",
    "https:/app-1.preview.example.com/callback",
    "https://app-1.preview.example.com./callback",
    "https://app-1.preview.example.com:443/callback",
    "https://app-1.preview.example.com:8443/callback",
    "https://app-1.preview.example.com@evil.test/callback",
    "https://evil.test/app-1.preview.example.com/callback",
    "https://app-1.preview.example.com.evil.test/callback",
    "https://app-1.Preview.example.com/callback",
    "https://App-1.preview.example.com/callback",
    "https://app-1.preview.example.com/callback/",
    "https://app-1.preview.example.com/callback?a=1",
    "https://app-1.preview.example.com/callback#a",
    "https://app-1.preview.example.com/x/../callback",
    "https://app-1.preview.example.com/%63allback",
    "https://app-1.preview.example.com/Callback",
    " https://app-1.preview.example.com/callback",
    "https://app-1.preview.example.com/callback\n",
    "https://app-.preview.example.com/callback",
    "https://app.preview.example.com/callback",
    "https://xapp-1.preview.example.com/callback",
    pattern,
  ])("%j", async (redirectUri) => {
    expect(await open(shop, redirectUri)).toMatchObject({ status: 400, page: "error", left: null });
  });
  test("an encoded name that stands for no letters, and a host that the * would make too long", async () => {
    expect(await open(team, "https://xn--0.example.com/cb")).toMatchObject({ status: 400, left: null });
    expect(await open(team, `https://${"x".repeat(64)}.example.com/cb`)).toMatchObject({ status: 400, left: null });
    expect(await open(team, "https://app--team.vercel.app/cb")).toMatchObject({ status: 400, left: null });
    expect(await open(team, "https://app-x-other.vercel.app/cb")).toMatchObject({ status: 400, left: null });
  });
  test("a pushed request has the same rules", async () => {
    const credentials = { client_id: shop.credentials.client_id, client_secret: shop.credentials.client_secret ?? "" };
    const push = (redirect_uri: string) =>
      fetch(`${idp.issuer}/api/v2/oauth/par`, {
        method: "POST",
        body: new URLSearchParams({ ...credentials, response_type: "code", redirect_uri, ...withPkce }),
      });
    expect((await push("https://app-1.evil.test/callback")).status).toBe(400);
    expect((await push(preview)).status).toBe(201);
  });
});

test.each(["a", "0", "-", "pr-42", "a--b", "x".repeat(59), "xn--bcher-kva"])(
  "%s in place of the * is let in, and the response comes back there unchanged",
  async (piece) => {
    const redirect_uri = pattern.replace("*", piece);
    const { back, code } = await (await previews()).signIn({ redirect_uri, ...withPkce });
    expect(back.href.startsWith(`${redirect_uri}?code=`)).toBe(true);
    expect(code).not.toBe("");
  },
);

describe("the code is worthless elsewhere", () => {
  test("without the secret, without the verifier, and at another address of the pattern", async () => {
    const app = await previews();
    const redirect_uri = preview;
    const code = async () => (await app.signIn({ redirect_uri, ...withPkce })).code;
    const error = async (change: Record<string, string | null>) =>
      (await app.exchange(await code(), { redirect_uri, code_verifier: verifier, ...change })).json.error;
    expect(await error({ client_secret: null })).toBe("invalid_client");
    expect(await error({ code_verifier: null })).toBe("invalid_grant");
    expect(await error({ redirect_uri: pattern.replace("*", "other") })).toBe("invalid_grant");
    expect(await error({})).toBeUndefined();
  });
  test.each([preview, fixed])("PKCE is needed at every address: %s", async (redirect_uri) => {
    const app = await previews({ require_pkce: false });
    const { left } = await new Browser(idp.issuer).open(app.url({ redirect_uri }));
    expect(left?.searchParams.get("error")).toBe("invalid_request");
    expect(left?.searchParams.get("error_description")).toContain("code_challenge");
    const issued = idp.call("issue.code", {
      user: "alice",
      client: app.credentials.client_id,
      redirect_uri,
      scope: "openid",
    });
    await expect(issued).rejects.toThrow(/must use PKCE/);
  });
});

describe("who may have patterns", () => {
  test.each([{ client_secret: undefined }, { client_secret: undefined, token_endpoint_auth_method: "none" as const }])(
    "a client without a secret may not: %j",
    async (client) => {
      expect(await problemOf({ ...client, redirect_patterns: [pattern] })).toMatch(
        /redirect_patterns need a client that can prove who it is/,
      );
    },
  );
  test("nor may one that lost its secret", async () => {
    const { credentials } = await previews();
    const change = {
      client_id: credentials.client_id,
      client_secret: null,
      token_endpoint_auth_method: "none" as const,
    };
    const problems = [
      { path: "redirect_patterns", message: expect.stringMatching(/^need a client that can prove who/) as string },
    ];
    await expect(idp.call("clients.edit", change)).rejects.toMatchObject({ problems });
  });
  test("a registration and its update ignore them", async () => {
    const metadata = { redirect_uris: [fixed], redirect_patterns: [pattern], scope: "openid" };
    const { status, json } = await post(idp, "/api/v2/oauth/register", {}, { body: JSON.stringify(metadata) });
    expect(status).toBe(201);
    expect(json).not.toHaveProperty("redirect_patterns");
    const update = await fetch(String(json["registration_client_uri"]), {
      method: "PUT",
      headers: {
        authorization: `Bearer ${String(json["registration_access_token"])}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ ...metadata, client_id: json["client_id"] }),
    });
    expect((await update.json()) as Body).not.toHaveProperty("redirect_patterns");
    const visit = await new Browser(idp.issuer).open(
      shop.url({ client_id: String(json["client_id"]), redirect_uri: preview }),
    );
    expect(visit).toMatchObject({ status: 400, page: "error", left: null });
  });
  test("a metadata document is ignored too", async () => {
    const listener = createServer((req, res) => {
      const client_id = `http://${String(req.headers.host)}/client.json`;
      res.setHeader("content-type", "application/json");
      res.end(JSON.stringify({ client_id, client_name: "X", redirect_uris: [fixed], redirect_patterns: [pattern] }));
    });
    await new Promise<void>((resolve) => void listener.listen(0, "127.0.0.1", resolve));
    const { port } = listener.address() as { port: number };
    const settings = { client_metadata_documents: true, client_metadata_loopback: true };
    const other = await createIdp({ port: 0, settings, fixtures: { users: [{ username: "alice" }] } });
    try {
      const client_id = `http://127.0.0.1:${port}/client.json`;
      const at = (redirect_uri: string) =>
        fetch(
          `${other.issuer}/api/v2/oauth/authorize?${new URLSearchParams({ response_type: "code", client_id, redirect_uri, ...withPkce }).toString()}`,
          { redirect: "manual" },
        );
      expect((await at(preview)).status).toBe(400);
      expect((await at(fixed)).status).toBe(303);
    } finally {
      await other.close();
      listener.close();
    }
  });
});

describe("a pattern that leaves too much open is a problem", () => {
  test.each([
    ["http://*.preview.example.com/cb", /https/],
    ["HTTPS://*.preview.example.com/cb", /https/],
    ["*.preview.example.com/cb", /https/],
    ["https://*/cb", /one \*|form/],
    ["https://*.com/cb", /anybody can take below "com"/],
    ["https://app-*.com/cb", /anybody/],
    ["https://*.co.uk/cb", /anybody/],
    ["https://*.vercel.app/cb", /anybody can take below "vercel\.app"/],
    ["https://app-*.vercel.app/cb", /text on both sides/],
    ["https://*-team.vercel.app/cb", /text on both sides/],
    ["https://*.github.io/cb", /anybody/],
    ["https://*.pages.dev/cb", /anybody/],
    ["https://*.xn--p1ai/cb", /anybody/],
    ["https://*.kawasaki.jp/cb", /anybody/],
    ["https://*.internal/cb", /anybody/],
    ["https://a.*.example.com/cb", /leftmost/],
    ["https://*.*.example.com/cb", /one \*/],
    ["https://**.example.com/cb", /one \*/],
    ["https://app.example.com/*", /leftmost/],
    ["https://*.example.com/*", /one \*/],
    ["https://app.example.com/cb", /no \*/],
    ["https://*.example.com:8443/cb", /port/],
    ["https://*.example.com:*/cb", /port/],
    ["https://*@example.com/cb", /user info/],
    ["https://*.a@example.com/cb", /user info/],
    ["https://*.example.com/cb?a=1", /query/],
    ["https://*.example.com/cb#a", /fragment/],
    ["https://*.example.com/a/../cb", /form/],
    ["https://*.example.com./cb", /form/],
    ["https://*.Example.com/cb", /capital/],
    ["https://App-*.example.com/cb", /capital/],
    ["https://*.bücher.example/cb", /xn--/],
    ["https://xn--*.example.com/cb", /xn--/],
    ["https://-*.example.com/cb", /form/],
    ["https://*-.example.com/cb", /form/],
    ["https://*.0.0.1/cb", /form/],
    ["https://*.example.com\\@evil.test/cb", /character|form/],
    [`https://${"a".repeat(63)}*.example.com/cb`, /form/],
  ])("%s", async (one, message) => {
    const problem = await problemOf({ redirect_patterns: [one] });
    expect(problem).toMatch(/clients\[0\]\.redirect_patterns\[0\] /);
    expect(problem).toMatch(message);
  });
  test.each([
    "https://*.preview.example.com",
    pattern,
    "https://app-*-team.vercel.app/cb",
    "https://*.shop.pages.dev/cb",
  ])("%s is none", async (one) => {
    expect(await problemOf({ redirect_patterns: [one] })).toBe("");
  });
});

test("a pattern is not for CORS, and not for sign-out", async () => {
  const origin = new URL(preview).origin;
  const preflight = await fetch(`${idp.issuer}/api/v2/oauth/token`, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST" },
  });
  expect(preflight.headers.get("access-control-allow-origin")).not.toBe(origin);
  const asked = new URLSearchParams({ client_id: shop.credentials.client_id, post_logout_redirect_uri: preview });
  const visit = await new Browser(idp.issuer).open(`${idp.issuer}/api/v2/oauth/logout?${asked.toString()}`);
  expect(visit.left).toBeNull();
  expect(await problemOf({ post_logout_redirect_uris: [pattern] })).toMatch(/wildcard/);
  expect(await problemOf({ redirect_uris: [pattern] })).toMatch(/wildcard/);
});

describe("a new host", () => {
  const scope = "openid email";

  test("asks for consent again, by its whole name; prompt=none is refused until the user allowed it", async () => {
    const app = await previews();
    const browser = new Browser(idp.issuer);
    await app.signIn({ browser, scope, redirect_uri: fixed, ...withPkce });
    const silent = async (redirect_uri: string) =>
      (await open(app, redirect_uri, { scope, prompt: "none" }, browser)).left?.searchParams.get("error") ?? null;
    expect(await silent(fixed)).toBeNull();
    const hosts = ["app-one.preview.example.com", `app-${"x".repeat(59)}.preview.example.com`];
    for (const host of hosts) {
      const redirectUri = `https://${host}/callback`;
      expect(await silent(redirectUri)).toBe("consent_required");
      const page = await open(app, redirectUri, { scope }, browser);
      expect([page.page, page.state]).toEqual(["consent", "again"]);
      expect(page.body).toMatch(new RegExp(`id="consent-new-host"[^>]*>[^]*<bdi>${host}</bdi>`));
      expect(page.body).toMatch(new RegExp(`id="consent-redirect-host"[^>]*>[^]*<bdi>${host}</bdi>`));
      const done = await browser.press(page, "consent-allow");
      expect(done.left?.host).toBe(host);
      expect(await silent(redirectUri)).toBeNull();
    }
    expect(await silent(fixed)).toBeNull();
    expect(await silent(`https://${hosts[0] ?? ""}/callback`)).toBeNull();
  });

  test("is asked for after a denial, after a revocation, and for each user", async () => {
    const app = await previews();
    const browser = new Browser(idp.issuer);
    await app.signIn({ browser, scope, redirect_uri: fixed, ...withPkce });
    await browser.press(await open(app, preview, { scope }, browser), "consent-deny");
    expect((await open(app, preview, { scope }, browser)).page).toBe("consent");
    await app.signIn({ browser, scope, redirect_uri: preview, ...withPkce });
    expect((await open(app, preview, { scope }, browser)).left).not.toBeNull();
    await idp.call("revoke", { user: "alice", client: app.credentials.client_id });
    await app.signIn({ browser, scope, redirect_uri: fixed, ...withPkce });
    expect((await open(app, preview, { scope }, browser)).page).toBe("consent");
    await idp.call("issue.grant", { user: "bob", client: app.credentials.client_id, scope });
    const other = new Browser(idp.issuer);
    expect((await pick(other, await open(app, preview, { scope }, other), "bob")).page).toBe("consent");
  });

  test("is not asked for where consent is skipped", async () => {
    const app = await previews({ skip_consent: true });
    const browser = new Browser(idp.issuer);
    const visit = await pick(browser, await open(app, preview, { scope }, browser), "alice");
    expect(visit.left?.host).toBe(new URL(preview).host);
    expect(
      (await open(app, pattern.replace("*", "two"), { scope, prompt: "none" }, browser)).left?.searchParams.get(
        "error",
      ),
    ).toBeNull();
  });
});

test("the ledger says which pattern let an address in, and not that of a registered one", async () => {
  const app = await previews();
  const browser = new Browser(idp.issuer);
  await open(app, preview, { prompt: "none" }, browser);
  await app.signIn({ browser, redirect_uri: preview, ...withPkce });
  await app.signIn({ browser, redirect_uri: fixed, ...withPkce });
  const records = await idp.call("requests.list", { client: app.credentials.client_id });
  const outcomes = records
    .filter(({ endpoint }) => endpoint !== "login")
    .map(({ endpoint, outcome }) => [endpoint, outcome]);
  const said = `; redirect_uri let in by the pattern ${pattern}`;
  expect(outcomes).toEqual(
    expect.arrayContaining([
      ["authorize", `refused${said}`],
      ["authorize", `login page${said}`],
      ["consent", `back to the client with a code${said}`],
      ["authorize", "back to the client with a code"],
    ]),
  );
});
