import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { paths } from "../helpers/client.ts";

/** CORS: public documents for any origin, the rest for origins of registered clients, on refusals too. */

const idp = await serve({ dynamicRegistration: true });
await register(idp, {
  redirect_uris: ["https://app.example.test/cb", "https://default.example.test:443/cb", "com.example.app:/cb"],
  allowed_origins: ["http://localhost:5174", "capacitor://localhost"],
});

const send = (path: string, origin: string | null, init: RequestInit = {}) =>
  fetch(idp.issuer + path, {
    ...init,
    headers: { ...(origin !== null && { origin }), ...(init.headers as Record<string, string> | undefined) },
    redirect: "manual",
  });
const preflight = (path: string, origin: string, method = "POST", more: Record<string, string> = {}) =>
  send(path, origin, { method: "OPTIONS", headers: { "access-control-request-method": method, ...more } });

const open = ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server", "/api/v2/oauth/jwks"];
const par = "/api/v2/oauth/par";
const device = "/api/v2/oauth/device_authorization";
const registration = "/api/v2/oauth/register";
const guarded = [paths.token, paths.userinfo, paths.revoke, par, device, registration, `${registration}/x`];
/** Take forms and JSON. */
const both: readonly string[] = [paths.token, paths.userinfo, paths.revoke];
/** What an empty request is answered. */
const empty: Readonly<Record<string, number>> = { [registration]: 400, [`${registration}/x`]: 405 };
const known = [
  "http://localhost:3000",
  "http://localhost:5174",
  "capacitor://localhost",
  "https://app.example.test",
  "https://default.example.test",
];
const unknown = [
  "https://evil.test",
  "http://localhost:3001",
  "https://localhost:3000",
  "http://app.example.test",
  "null",
  "*",
  "capacitor://localhost.evil.test",
];

describe.each(open)("%s", (path) => {
  test("any origin may read it", async () => {
    const { headers } = await send(path, "https://any.test");
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("access-control-allow-credentials")).toBeNull();
    const asked = await preflight(path, "https://any.test", "GET");
    expect(asked.headers.get("access-control-allow-credentials")).toBeNull();
    expect([asked.status, asked.headers.get("access-control-allow-methods")]).toEqual([204, "GET"]);
  });

  test("also where it is refused", async () => {
    const { status, headers } = await send(path, "https://any.test", { method: "POST" });
    expect([status, headers.get("access-control-allow-origin")]).toEqual([405, "*"]);
  });
});

describe.each(guarded)("%s", (path) => {
  test.each(known)("%s may read its answers, refusals too", async (origin) => {
    const { status, headers } = await send(path, origin, { method: "POST" });
    expect(status).toBe(empty[path] ?? 401);
    expect(headers.get("access-control-allow-origin")).toBe(origin);
    expect(headers.get("access-control-expose-headers")).toMatch(/\bWWW-Authenticate\b/);
    expect(headers.get("vary")).toMatch(/\bOrigin\b/);
    expect(headers.get("access-control-allow-credentials")).toBe("true");
  });

  test("on 405, 413 and 415 too", async () => {
    const refusals = [
      await send(path, known[0] ?? "", { method: "DELETE" }),
      await send(path, known[0] ?? "", { method: "POST", body: new URLSearchParams({ a: "x".repeat(102_400) }) }),
      await send(path, known[0] ?? "", { method: "POST", body: "x", headers: { "content-type": "text/plain" } }),
      await send(path, known[0] ?? "", { method: "POST", body: "{", headers: { "content-type": "application/json" } }),
    ];
    const statuses = refusals.map(({ status }) => status);
    if (both.includes(path)) expect(statuses).toEqual([405, 413, 415, 400]);
    expect(Math.min(...statuses)).toBeGreaterThanOrEqual(400);
    for (const { headers } of refusals) expect(headers.get("access-control-allow-origin")).toBe(known[0]);
  });

  test.each(known)("a preflight of %s passes", async (origin) => {
    const { status, headers } = await preflight(path, origin);
    expect(status).toBe(204);
    expect(headers.get("access-control-allow-origin")).toBe(origin);
    expect(headers.get("access-control-allow-credentials")).toBe("true");
    expect(headers.get("access-control-allow-methods")).toBe("GET, POST, PUT, DELETE");
    expect(headers.get("access-control-allow-headers")).toMatch(/Authorization, Content-Type/);
    const traced = await preflight(path, origin, "POST", { "access-control-request-headers": "traceparent,dpop" });
    expect(traced.headers.get("access-control-allow-headers")).toBe("traceparent,dpop");
  });

  test.each(unknown)("%s may not", async (origin) => {
    for (const { headers } of [await send(path, origin, { method: "POST" }), await preflight(path, origin)]) {
      expect(headers.get("access-control-allow-origin")).toBeNull();
      expect(headers.get("access-control-allow-methods")).toBeNull();
      expect(headers.get("access-control-allow-credentials")).toBeNull();
      expect(headers.get("vary")).toMatch(/\bOrigin\b/);
    }
  });

  test("without an Origin there are no CORS headers", async () => {
    const { headers } = await send(path, null, { method: "POST" });
    expect(headers.get("access-control-allow-origin")).toBeNull();
  });
});

test.each(["/api/v2/oauth/introspect", paths.authorize, "/api/v2/oauth/logout", "/account", "/_idp/health"])(
  "%s: no CORS",
  async (path) => {
    const { status, headers } = await preflight(path, known[0] ?? "");
    expect([status, headers.get("access-control-allow-origin")]).toEqual([405, null]);
    expect((await send(path, known[0] ?? "")).headers.get("access-control-allow-origin")).toBeNull();
  },
);

test("an origin is known from the moment its client is", async () => {
  const origin = "https://late.example.test";
  expect((await preflight(paths.token, origin)).headers.get("access-control-allow-origin")).toBeNull();
  await register(idp, { redirect_uris: [`${origin}/cb`] });
  expect((await preflight(paths.token, origin)).headers.get("access-control-allow-origin")).toBe(origin);
});
