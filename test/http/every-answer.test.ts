import { request as httpRequest } from "node:http";
import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { paths } from "../helpers/client.ts";

/** Rules for every response: paths, methods, headers, and never a stack trace. */

const idp = await serve();
const app = await register(idp);

const send = (path: string, init: RequestInit = {}) => fetch(idp.issuer + path, { redirect: "manual", ...init });
const asBrowser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const stackTrace = /\n\s+at |node_modules|\.ts:\d|(Syntax|Type|URI)Error/;

describe("an unknown path: 404", () => {
  test.each(["/nothing", "/api/v2/oauth/nothing", "/api/v2/oauth/token/", "/API/v2/oauth/token", "/_idp/nothing"])(
    "%s as JSON",
    async (path) => {
      const response = await send(path);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({
        error: "not_found",
        error_description: expect.stringContaining(path) as string,
      });
    },
  );

  test.each([
    ["/oauth2/token", " Did you mean /api/v2/oauth/token?"],
    ["/api/v2/oauth/token/", " Did you mean /api/v2/oauth/token?"],
    ["/Authorize", " Did you mean /api/v2/oauth/authorize?"],
    ["/oauth/introspection", " Did you mean /api/v2/oauth/introspect?"],
    ["/acount", " Did you mean /account?"],
    ["/nothing", ""],
  ])("%s: the answer says where to look", async (path, meant) => {
    const { error_description: description } = (await (await send(path)).json()) as { error_description: string };
    const where = "All endpoints are listed at /.well-known/openid-configuration";
    expect(description).toBe(`there is nothing at ${path}.${meant} ${where}`);
  });

  test("as a page for a browser, but as JSON for API paths", async () => {
    const page = await send("/nothing", { headers: asBrowser });
    expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(await page.text()).toContain('data-page="error"');
    const api = await send("/api/v2/oauth/nothing", { headers: asBrowser });
    expect([api.status, api.headers.get("content-type")]).toEqual([404, "application/json; charset=utf-8"]);
  });
});

describe("a path with a parameter", () => {
  test.each([
    "/account/apps//remove",
    "/account/apps/x",
    "/account/apps/x/y/remove",
    "/account/apps/x/remove/",
    "/interaction/login",
    "/interaction//login",
    "/interaction/x",
    "/interaction/x/login/y",
    "/interaction/x/Login",
  ])("%s: 404", async (path) => {
    const response = await send(path);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain(`there is nothing at ${path}.`);
  });

  test("the segment is decoded, so that a slash may be in it", async () => {
    const browser = new Browser(idp.issuer);
    await browser.press(await browser.open(app.url()), "login-as-alice");
    await register(idp, { client_id: "an/app" });
    const page = await browser.open("/account/apps/an%2Fapp/remove");
    expect(page.url).toContain("/account?gone=an%2Fapp");
  });

  test.each(["%", "%E0%A4%A", "%c0%af"])("%s cannot be decoded: 400", async (segment) => {
    const response = await send(`/account/apps/${segment}/remove`, { headers: { accept: "application/json" } });
    expect([response.status, await response.json()]).toEqual([
      400,
      {
        error: "invalid_request",
        error_description: "the path cannot be decoded: it holds a % that does not begin a UTF-8 character",
      },
    ]);
  });

  test("another method is a 405", async () => {
    const response = await send("/account/apps/x/remove", { method: "PUT" });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, POST"]);
  });
});

describe("the issuer's own address", () => {
  test("responds with the addresses of everything else", async () => {
    const { issuer } = idp;
    for (const headers of [{}, { accept: "application/json, text/plain, */*" }]) {
      const response = await send("/", { headers });
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({
        issuer,
        discovery: `${issuer}/.well-known/openid-configuration`,
        account: `${issuer}/account`,
      });
    }
    expect((await send("/", { method: "HEAD" })).status).toBe(200);
  });

  test("shows the start page to a browser", async () => {
    const response = await send("/", { headers: asBrowser });
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('data-page="home"')]);
  });

  test("is the path of an issuer with a path", async () => {
    const below = await serve({ issuer: "http://localhost:4370/tenant" });
    const at = `http://localhost:${below.port}`;
    const response = await fetch(`${at}/tenant`);
    expect(await response.json()).toMatchObject({ account: "http://localhost:4370/tenant/account" });
    const page = await fetch(`${at}/tenant`, { redirect: "manual", headers: asBrowser });
    expect(await page.text()).toContain('href="/tenant/account"');
    expect((await fetch(at)).status).toBe(404);
  });
});

describe("a wrong method: 405 with Allow", () => {
  test.each([
    ["GET", paths.token, "POST"],
    ["DELETE", paths.token, "POST"],
    ["GET", paths.revoke, "POST"],
    ["GET", "/api/v2/oauth/introspect", "POST"],
    ["GET", "/api/v2/oauth/par", "POST"],
    ["GET", "/api/v2/oauth/device_authorization", "POST"],
    ["PUT", paths.userinfo, "GET, HEAD, POST"],
    ["DELETE", paths.authorize, "GET, HEAD, POST"],
    ["PATCH", "/api/v2/oauth/logout", "GET, HEAD, POST"],
    ["POST", "/api/v2/oauth/jwks", "GET, HEAD"],
    ["POST", "/.well-known/openid-configuration", "GET, HEAD"],
    ["POST", "/.well-known/oauth-authorization-server", "GET, HEAD"],
    ["POST", "/_idp/health", "GET, HEAD"],
    ["POST", "/account", "GET, HEAD"],
    ["OPTIONS", paths.authorize, "GET, HEAD, POST"],
  ])("%s %s", async (method, path, allow) => {
    const response = await send(path, { method, headers: { accept: "application/json" } });
    expect([response.status, response.headers.get("allow")]).toEqual([405, allow]);
    expect(await response.json()).toMatchObject({ error: "method_not_allowed" });
  });

  test.each([paths.authorize, "/api/v2/oauth/logout"])(
    "%s: as JSON, and as a page where a browser asks",
    async (path) => {
      const typeOf = async (init: RequestInit) => {
        const response = await send(path, init);
        return [response.status, response.headers.get("content-type")?.split(";")[0]];
      };
      const xml = { "content-type": "text/xml", accept: "*/*" };
      expect(await typeOf({ method: "DELETE" })).toEqual([405, "application/json"]);
      expect(await typeOf({ method: "DELETE", headers: asBrowser })).toEqual([405, "text/html"]);
      expect(await typeOf({ method: "POST", body: "<a/>", headers: xml })).toEqual([415, "application/json"]);
      expect(await typeOf({ method: "POST", body: "<a/>", headers: { ...xml, ...asBrowser } })).toEqual([
        415,
        "text/html",
      ]);
    },
  );

  test.each([paths.userinfo, "/.well-known/openid-configuration", "/_idp/health", paths.authorize])(
    "HEAD %s is answered as GET without a body",
    async (path) => {
      const [head, get] = [await send(path, { method: "HEAD" }), await send(path)];
      expect([head.status, await head.text()]).toEqual([get.status, ""]);
    },
  );
});

describe("no stack trace, ever", () => {
  test.each([
    "/interaction/%E0%A4%A/login",
    "/account/apps/%/remove",
    "/%",
    "/api/v2/oauth/authorize?%",
    "//evil.test/%2e%2e",
  ])("%s", async (path) => {
    const response = await send(path, { headers: asBrowser });
    const text = await response.text();
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
    expect(text).not.toMatch(stackTrace);
  });

  test("no redirect to another host for a path with two slashes", async () => {
    expect((await send("//evil.test")).headers.get("location")).toBeNull();
  });
});

describe("headers", () => {
  const preflight = { "access-control-request-method": "POST" };
  const sorts: [name: string, path: string, init: RequestInit][] = [
    ["an API answer", "/_idp/health", {}],
    ["discovery", "/.well-known/openid-configuration", {}],
    ["a refusal of the API", paths.token, { method: "POST" }],
    ["a 404", "/nothing", {}],
    ["a 405", paths.token, {}],
    ["a redirect", "/account", { headers: asBrowser }],
    ["a preflight", paths.token, { method: "OPTIONS", headers: { origin: "http://localhost:3000", ...preflight } }],
    ["an error page", `${paths.authorize}?client_id=nobody`, { headers: asBrowser }],
  ];

  test.each(sorts)("%s: nosniff, no frames, no remote sources, no X-Powered-By", async (_name, path, init) => {
    const { headers } = await send(path, init);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toMatch(/^default-src 'none';.*frame-ancestors 'none'$/);
    expect(headers.get("content-security-policy")).not.toMatch(/form-action|https?:|\*/);
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    for (const name of ["x-powered-by", "etag", "server"]) expect([name, headers.get(name)]).toEqual([name, null]);
  });

  test("pages with forms say same-origin, so that browsers name the origin of the form; all are no-store", async () => {
    const browser = new Browser(idp.issuer);
    const login = await browser.open(app.url());
    const consent = await browser.press(login, "login-as-alice");
    for (const { page, headers } of [login, consent, await browser.open("/account"), await browser.open("/device")]) {
      expect([page, headers.get("referrer-policy")]).toEqual([page, "same-origin"]);
      expect([page, headers.get("cache-control")]).toEqual([page, "no-store"]);
    }
  });

  test.each([paths.token, paths.revoke, "/api/v2/oauth/introspect", paths.userinfo, "/api/v2/oauth/par"])(
    "%s: refusals are no-store",
    async (path) => {
      expect((await send(path, { method: "POST" })).headers.get("cache-control")).toBe("no-store");
    },
  );
});

test("health says the issuer and the version", async () => {
  const response = await send("/_idp/health");
  expect([response.status, await response.json()]).toEqual([
    200,
    { status: "ok", issuer: idp.issuer, version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string },
  ]);
});

test("both loopback addresses answer", async () => {
  const statuses = ["127.0.0.1", "::1"].map(
    (host) =>
      new Promise((resolve, reject) => {
        const sent = httpRequest({ host, port: idp.port, path: "/_idp/health" }, (res) => {
          res.resume();
          resolve(res.statusCode);
        });
        sent.on("error", reject).end();
      }),
  );
  expect(await Promise.all(statuses)).toEqual([200, 200]);
});
