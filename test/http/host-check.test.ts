import { request } from "node:http";
import { describe, expect, test } from "vitest";
import type { Idp } from "../../src/index.ts";
import { serve } from "../helpers/app.ts";
import { rawRequest } from "../helpers/raw-http.ts";
import { unescapeHtml } from "../helpers/html.ts";

/** The Host header: 421 for a name that is not ours, so that no foreign name can be pointed at this machine. */

const local = await serve();
const named = await serve({
  issuer: "https://idp.example.test/tenant",
  allowHosts: ["idp.internal", "Other.Internal", ".dev.test", "FD12::1"],
});

/** By hand: `fetch` sets its own Host. */
function ask(
  idp: Idp,
  host: string | null,
  path = "/_idp/health",
  headers: Record<string, string> = {},
  form?: Record<string, string>,
) {
  return new Promise<{ status: number; body: string; headers: Record<string, unknown> }>((resolve, reject) => {
    const sent = request(
      {
        host: "127.0.0.1",
        port: idp.port,
        path,
        setHost: false,
        method: form === undefined ? "GET" : "POST",
        headers: {
          ...(form !== undefined && { "content-type": "application/x-www-form-urlencoded" }),
          ...headers,
          ...(host !== null && { host }),
        },
      },
      (res) => {
        let body = "";
        res.on("data", (chunk: Buffer) => (body += chunk.toString()));
        res.on("end", () => {
          resolve({ status: res.statusCode ?? 0, body, headers: res.headers });
        });
      },
    );
    sent.on("error", reject).end(form === undefined ? undefined : new URLSearchParams(form).toString());
  });
}

describe("a loopback name and an IP address pass", () => {
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
    "192.168.0.1",
    "10.0.0.1:4370",
    "[fd12::1]:4370",
    "0.0.0.0",
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
    "192.168.0",
    "[::2",
    "",
    "*",
    "idp.example.test",
  ])("%j", async (host) => {
    const { status, body } = await ask(local, host, "/.well-known/openid-configuration");
    expect(status).toBe(421);
    expect(JSON.parse(body)).toMatchObject({
      error: "misdirected_request",
      error_description: `Host '${host}' is not a name of this server; --allow-host adds it`,
    });
  });

  test.each(["/", "/api/v2/oauth/token", "/.well-known/openid-configuration", "/_idp/api/users", "/account"])(
    "on every path: %s",
    async (path) => {
      expect((await ask(local, "evil.test", path)).status).toBe(421);
    },
  );

  test("a page for a browser, which names the flag that lets the name in", async () => {
    const { status, body } = await ask(local, "idp.internal:4370", "/account", { accept: "text/html" });
    expect(status).toBe(421);
    expect(body.replace(/<[^>]*>/g, "")).toContain("idp start --allow-host idp.internal");
  });

  test("a name that a shell would run stands beside that flag", async () => {
    const { body } = await ask(local, "$(id)", "/account", { accept: "text/html" });
    const text = unescapeHtml(body.replace(/<[^>]*>/g, ""));
    expect(text).toContain("idp start --allow-host VALUE");
    expect(text).toContain("VALUE is $(id)");
  });

  test("forwarded headers change nothing", async () => {
    const forwarded = { "x-forwarded-host": "localhost", forwarded: "host=localhost", "x-forwarded-proto": "https" };
    expect((await ask(local, "evil.test", "/account", forwarded)).status).toBe(421);
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
    "dev.test",
    "a.b.dev.test:80",
    "DEV.test",
    "localhost",
  ])("%s", async (host) => {
    const { status, body } = await ask(named, host, "/tenant/_idp/health");
    expect([status, JSON.parse(body)]).toMatchObject([200, { issuer: named.issuer }]);
  });

  test.each(["xdev.test", "dev.test.evil.test", "other.internal.evil.test", "sub.idp.internal"])(
    "%s does not",
    async (host) => {
      expect((await ask(named, host, "/tenant/account")).status).toBe(421);
    },
  );

  test("the issuer stays the same under every name", async () => {
    for (const host of ["idp.internal", "localhost"]) {
      const { body } = await ask(named, host, "/tenant/.well-known/openid-configuration");
      expect(JSON.parse(body)).toMatchObject({
        issuer: "https://idp.example.test/tenant",
        token_endpoint: "https://idp.example.test/tenant/api/v2/oauth/token",
      });
    }
  });
});

describe("probes", () => {
  test.each(["evil.test", "pod-17.cluster.local:4370"])(
    "the health is answered under %s, and nothing else",
    async (host) => {
      const { status, body } = await ask(local, host);
      expect([status, body]).toEqual([200, '{"status":"ok"}']);
      expect((await ask(local, host, "/_idp/health/")).status).toBe(421);
    },
  );

  test("HTTP/1.0 may leave Host out, HTTP/1.1 may not", async () => {
    const old = await rawRequest(local.port, "GET /_idp/health HTTP/1.0\r\n\r\n");
    expect([old.status, JSON.parse(old.body)]).toMatchObject([200, { issuer: local.issuer }]);
    const request = "GET /_idp/health HTTP/1.1\r\nConnection: close\r\n\r\n";
    expect((await rawRequest(local.port, request)).status).toBe(400);
  });
});

describe("--allow-host *", async () => {
  const open = await serve({ allowHosts: ["*", "listed.test"] });

  test("answers every name, and stays one issuer", async () => {
    const { status, body } = await ask(open, "anything.test", "/.well-known/openid-configuration");
    expect([status, JSON.parse(body)]).toMatchObject([200, { issuer: open.issuer }]);
  });

  /** A person on the login page under a name. @returns sends its form, as a page of this name does */
  async function atLogin(name: string) {
    const to = await ask(open, name, "/account");
    const cookie = [to.headers["set-cookie"]]
      .flat()
      .map((one) => String(one).split(";")[0])
      .join("; ");
    const path = String(to.headers["location"]).replace(/^https?:\/\/[^/]+/, "");
    const { body } = await ask(open, name, path, { cookie, accept: "text/html" });
    const csrf = /name="csrf" value="([^"]+)"/.exec(body)?.[1] ?? "";
    const send = (form: Record<string, string>, headers: Record<string, string> = {}) =>
      ask(open, name, path, { cookie, origin: `http://${name}`, ...headers }, { csrf, ...form });
    return { body, send };
  }

  test("offers no picker", async () => {
    const { body, send } = await atLogin("localhost");
    expect(body).not.toContain("login-as-alice");
    expect((await send({ username: "alice", pick: "1" })).status).toBe(401);
    expect((await send({ username: "alice", password: "alice" })).status).toBe(303);
  });

  test("allows no more origins: forms and the control API accept pages of listed names only", async () => {
    const api = async (name: string) => {
      const headers = { origin: `http://${name}`, authorization: `Bearer ${open.adminToken}` };
      return (await ask(open, name, "/_idp/api/users", headers)).status;
    };
    const form = async (name: string, headers: Record<string, string> = {}) =>
      (await (await atLogin(name)).send({ username: "alice", password: "alice" }, headers)).status;
    for (const name of ["listed.test", "localhost:1", "192.168.0.1", "127.0.0.1:4370"]) {
      expect([name, await api(name), await form(name)]).toEqual([name, 200, 303]);
    }
    expect([await api("foreign.test"), await form("foreign.test")]).toEqual([403, 403]);
    expect(await form("foreign.test", { origin: "null", "sec-fetch-site": "same-origin" })).toBe(403);
  });
});

test.each([
  "http://idp.test",
  "idp.test:4370",
  "idp.test/",
  "a.test,b.test",
  "*.test",
  "",
  "a b",
  "*.",
  "[x]",
  "4370",
  ".",
  "bücher.test",
])("--allow-host %j can never match, and is refused", async (given) => {
  await expect(serve({ allowHosts: [given] })).rejects.toMatchObject({ code: "usage" });
});
