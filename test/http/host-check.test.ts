import { request } from "node:http";
import { describe, expect, test } from "vitest";
import type { Idp } from "../../src/index.ts";
import { serve } from "../helpers/app.ts";
import { unescapeHtml } from "../helpers/html.ts";

/** The Host header (CONTRACT 1): 421 for a name that is not ours, so that no foreign name can be pointed at this machine. */

const local = await serve();
const named = await serve({
  issuer: "https://idp.example.test/tenant",
  allowHosts: ["idp.internal", "Other.Internal:8080", "FD12::1", "[fd12::2]", "::2"],
});

/** By hand: `fetch` sets its own Host. */
function ask(idp: Idp, host: string | null, path = "/_idp/health", headers: Record<string, string> = {}) {
  return new Promise<{ status: number; body: string; headers: Record<string, unknown> }>((resolve, reject) => {
    const sent = request(
      {
        host: "127.0.0.1",
        port: idp.port,
        path,
        setHost: false,
        headers: { ...headers, ...(host !== null && { host }) },
      },
      (res) => {
        let body = "";
        res.on("data", (chunk: Buffer) => (body += chunk.toString()));
        res.on("end", () => {
          resolve({ status: res.statusCode ?? 0, body, headers: res.headers });
        });
      },
    );
    sent.on("error", reject).end();
  });
}

describe("a loopback name passes", () => {
  test.each([
    "localhost",
    "localhost:1",
    "LOCALHOST",
    "app.localhost:4370",
    "my_app.test.localhost",
    "127.0.0.1",
    "127.0.0.1:4370",
    "127.1.2.3",
    "[::1]",
    "[::1]:4370",
  ])("%s", async (host) => {
    expect((await ask(local, host)).status).toBe(200);
  });
});

describe("any other name gets 421", () => {
  test.each([
    "evil.test",
    "evil.test:4370",
    "localhost.evil.test",
    "evillocalhost",
    "127.0.0.1.evil.test",
    "192.168.0.1",
    "[::2]",
    "0.0.0.0",
    "",
    "idp.example.test",
  ])("%j", async (host) => {
    const { status, body } = await ask(local, host);
    expect(status).toBe(421);
    expect(JSON.parse(body)).toMatchObject({
      error: "misdirected_request",
      error_description: `Host "${host}" is not a name of this server`,
    });
  });

  test.each(["/", "/api/v2/oauth/token", "/.well-known/openid-configuration", "/_idp/api/users", "/account"])(
    "wherever it goes: %s",
    async (path) => {
      expect((await ask(local, "evil.test", path)).status).toBe(421);
    },
  );

  test("a page for a browser, which names the flag that lets the name in", async () => {
    const { status, body } = await ask(local, "idp.internal:4370", "/account", { accept: "text/html" });
    expect(status).toBe(421);
    expect(body.replace(/<[^>]*>/g, "")).toContain("idp start --allow-host idp.internal");
  });

  test("a name that a shell would run is quoted in that flag", async () => {
    const { body } = await ask(local, "$(id)", "/account", { accept: "text/html" });
    expect(unescapeHtml(body.replace(/<[^>]*>/g, ""))).toContain("idp start --allow-host '$(id)'");
  });

  test("forwarded headers change nothing", async () => {
    const forwarded = { "x-forwarded-host": "localhost", forwarded: "host=localhost", "x-forwarded-proto": "https" };
    expect((await ask(local, "evil.test", "/_idp/health", forwarded)).status).toBe(421);
    const { body } = await ask(local, "localhost", "/_idp/health", { ...forwarded, "x-forwarded-host": "evil.test" });
    expect(JSON.parse(body)).toMatchObject({ issuer: local.issuer });
  });
});

describe("the issuer's name and those of --allow-host pass", () => {
  test.each([
    "idp.example.test",
    "idp.example.test:443",
    "idp.internal",
    "idp.internal:9999",
    "other.internal",
    "[fd12::1]:4370",
    "[fd12::2]",
    "[::2]:4370",
    "localhost",
  ])("%s", async (host) => {
    expect((await ask(named, host, "/tenant/_idp/health")).status).toBe(200);
  });

  test("the issuer stays what it is, under whichever name it is asked", async () => {
    for (const host of ["idp.internal", "localhost"]) {
      const { body } = await ask(named, host, "/tenant/.well-known/openid-configuration");
      expect(JSON.parse(body)).toMatchObject({
        issuer: "https://idp.example.test/tenant",
        token_endpoint: "https://idp.example.test/tenant/api/v2/oauth/token",
      });
    }
  });
});
