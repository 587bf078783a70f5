import { expect, test } from "vitest";
import type { Idp } from "../../src/index.ts";
import { newFolder } from "../helpers/cli.ts";
import { serve } from "../helpers/app.ts";
import { testClock } from "../helpers/clock.ts";

/** RFC 7591 and RFC 7592. */

const path = "/api/v2/oauth/register";
const start = (): Promise<Idp> => serve({ dynamicRegistration: true });

async function send(url: string, method: string, body?: unknown, token?: string) {
  const response = await fetch(url, {
    method,
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown> };
}

const metadata = { client_name: "Registered", redirect_uris: ["https://app.example.test/cb"] };

test("it is off unless asked for: no endpoint, and discovery does not name one", async () => {
  const idp = await serve();
  expect((await send(idp.issuer + path, "POST", metadata)).status).toBe(404);
  expect((await send(`${idp.issuer}/.well-known/openid-configuration`, "GET")).json).not.toHaveProperty(
    "registration_endpoint",
  );
});

test("a client registers, reads, changes and removes itself", async () => {
  const idp = await start();
  const { status, json } = await send(idp.issuer + path, "POST", { ...metadata, unknown_metadata: 1 });
  expect(status).toBe(201);
  expect(json).toMatchObject({
    ...metadata,
    client_secret_expires_at: 0,
    token_endpoint_auth_method: "client_secret_basic",
  });
  expect(json).not.toHaveProperty("unknown_metadata");
  const uri = String(json["registration_client_uri"]);
  const token = String(json["registration_access_token"]);

  expect((await send(uri, "GET", undefined, token)).json).toMatchObject(metadata);
  const changed = { ...metadata, client_id: json["client_id"], client_name: "Renamed" };
  const update = await send(uri, "PUT", changed, token);
  expect(update.json).toMatchObject({ client_name: "Renamed", client_secret: json["client_secret"] });
  expect((await send(uri, "DELETE", undefined, token)).status).toBe(204);
  expect((await send(uri, "GET", undefined, token)).status).toBe(401);
});

test("unused metadata is not registered: features that this server lacks, algorithms that no assertion may have", async () => {
  const idp = await start();
  const idle = { frontchannel_logout_uri: "https://app.example.test/f", request_uris: ["https://app.example.test/r"] };
  const { status, json } = await send(idp.issuer + path, "POST", { ...metadata, ...idle });
  expect(status).toBe(201);
  for (const name of Object.keys(idle)) expect(json).not.toHaveProperty(name);
  const jwt = { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [] } };
  for (const alg of ["none", "HS256", "ES512"]) {
    const refused = await send(idp.issuer + path, "POST", {
      ...metadata,
      ...jwt,
      token_endpoint_auth_signing_alg: alg,
    });
    expect(refused, alg).toMatchObject({ status: 400, json: { error: "invalid_client_metadata" } });
  }
});

test("it is a generic client, unless it says otherwise", async () => {
  const idp = await serve({
    dynamicRegistration: true,
    settings: { userinfo_format: "combined", id_token_claims: "all" },
  });
  const { json } = await send(idp.issuer + path, "POST", metadata);
  expect(json).toMatchObject({ userinfo_format: "standard", id_token_claims: "minimal" });
  const own = { userinfo_format: "native", id_token_claims: "all" };
  const other = await send(idp.issuer + path, "POST", { ...metadata, ...own });
  expect(other.json).toMatchObject(own);
  const changed = { ...metadata, client_id: other.json["client_id"] };
  const uri = String(other.json["registration_client_uri"]);
  const { json: now } = await send(uri, "PUT", changed, String(other.json["registration_access_token"]));
  expect(now).toMatchObject({ userinfo_format: "standard", id_token_claims: "minimal" });
});

test("another token, or none, is refused", async () => {
  const idp = await start();
  const { json } = await send(idp.issuer + path, "POST", metadata);
  const uri = String(json["registration_client_uri"]);
  expect((await send(uri, "GET")).status).toBe(401);
  expect((await send(uri, "DELETE", undefined, "x".repeat(43))).status).toBe(401);
  const fixture = `${idp.issuer}${path}/demo-app`;
  expect((await send(fixture, "DELETE", undefined, String(json["registration_access_token"]))).status).toBe(401);
});

test.each([
  [
    "a redirect URI that cannot be registered",
    { redirect_uris: ["http://app.example.test/cb"] },
    "invalid_redirect_uri",
  ],
  [
    "an initiate_login_uri that is not https",
    { ...metadata, initiate_login_uri: "http://localhost:3000/login" },
    "invalid_client_metadata",
    /^initiate_login_uri 'http:\/\/localhost:3000\/login' is not https/,
  ],
  [
    "a back-channel address on plain http, in words that promise nothing",
    { ...metadata, backchannel_logout_uri: "http://app/logout" },
    "invalid_client_metadata",
    /not loopback; use https, or localhost, 127\.0\.0\.1 or \[::1\]$/,
  ],
  ["metadata of the wrong kind", { ...metadata, default_max_age: "soon" }, "invalid_client_metadata"],
  ["no redirect URI", { client_name: "x" }, "invalid_redirect_uri"],
  ["a list", [], "invalid_client_metadata"],
  [
    "HS256 without a secret",
    { ...metadata, id_token_signed_response_alg: "HS256", token_endpoint_auth_method: "none" },
    "invalid_client_metadata",
    /^id_token_signed_response_alg is 'HS256'.*ask for RS256/,
  ],
])("%s is refused", async (_what, body, error, description = /./) => {
  const idp = await start();
  const { status, json } = await send(idp.issuer + path, "POST", body);
  expect([status, json["error"]]).toEqual([400, error]);
  expect(json["error_description"]).toMatch(description);
});

test("a member that is an empty string counts as left out, as the MCP Inspector and the Python SDK send it", async () => {
  const idp = await start();
  // The Inspector's registration.
  const inspector = {
    client_name: "inspector",
    redirect_uris: ["http://127.0.0.1:6274/oauth/callback"],
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  };
  const without = await send(idp.issuer + path, "POST", inspector);
  const empty = { scope: "", client_uri: "", logo_uri: "", jwks_uri: "", software_id: "", initiate_login_uri: "" };
  const { status, json } = await send(idp.issuer + path, "POST", { ...inspector, ...empty });
  expect(status).toBe(201);
  expect(Object.keys(json).sort()).toEqual(Object.keys(without.json).sort());
  const { json: confidential } = await send(idp.issuer + path, "POST", { ...metadata, token_endpoint_auth_method: "" });
  expect(confidential).toMatchObject({ token_endpoint_auth_method: "client_secret_basic" });
  const uri = String(json["registration_client_uri"]);
  const changed = { ...inspector, ...empty, client_id: json["client_id"], client_secret: "", scope: " " };
  const update = await send(uri, "PUT", changed, String(json["registration_access_token"]));
  expect([update.status, update.json["scope"]]).toEqual([200, undefined]);
  const noAddress = await send(idp.issuer + path, "POST", { ...metadata, redirect_uris: "" });
  expect(noAddress.json["error"]).toBe("invalid_redirect_uri");
});

test.each(["  openid   email ", "openid email", " openid email"])(
  "spaces around and between scopes count as one: %j",
  async (scope) => {
    const idp = await start();
    const { status, json } = await send(idp.issuer + path, "POST", { ...metadata, scope });
    expect([status, json["scope"]]).toEqual([201, "openid email"]);
  },
);

test("scopes that are all undefined are left out, with a remark in the log", async () => {
  const lines: string[] = [];
  const idp = await serve({ dynamicRegistration: true, log: (line) => lines.push(line) });
  const { status, json } = await send(idp.issuer + path, "POST", { ...metadata, scope: "mcp:read  mcp:write" });
  expect(status).toBe(201);
  expect(json).not.toHaveProperty("scope");
  expect(lines.join("\n")).toContain('none of its scopes "mcp:read mcp:write" is defined here');
  const shown = await idp.call("clients.show", { client_id: String(json["client_id"]) });
  expect(shown).not.toHaveProperty("scope");
  const some = await send(idp.issuer + path, "POST", { ...metadata, scope: "openid mcp:read" });
  expect(some.json["scope"]).toBe("openid mcp:read");
});

test("metadata that this server does not support is not registered", async () => {
  const idp = await start();
  const asked = { ...metadata, userinfo_signed_response_alg: "RS256", id_token_encrypted_response_alg: "RSA-OAEP" };
  const { status, json } = await send(idp.issuer + path, "POST", asked);
  expect(status).toBe(201);
  expect(json).not.toHaveProperty("userinfo_signed_response_alg");
  expect(json).not.toHaveProperty("id_token_encrypted_response_alg");
});

test("too much metadata is refused, and so are too many registrations", async () => {
  const clock = testClock();
  const idp = await serve({ dynamicRegistration: true, now: clock.now });
  const large = await send(idp.issuer + path, "POST", { ...metadata, software_id: "x".repeat(16_384) });
  expect([large.status, large.json["error"]]).toEqual([400, "invalid_client_metadata"]);
  // Every one counts, also one that is refused.
  // Few at a time: of a thousand connections, some wait until the server closes them as idle, just as they are used again.
  const statuses: number[] = [];
  const sendOneByOne = async (): Promise<void> => {
    while (statuses.length < 1000) statuses.push((await send(idp.issuer + path, "POST", [])).status);
  };
  await Promise.all(Array.from({ length: 5 }, sendOneByOne));
  expect(statuses.filter((status) => status === 400)).toHaveLength(999);
  expect(statuses.filter((status) => status === 429)).toHaveLength(statuses.length - 999);
  expect((await send(idp.issuer + path, "POST", metadata)).status).toBe(429);
  clock.pass(10);
  expect((await send(idp.issuer + path, "POST", metadata)).status).toBe(201);
});

test("a secret that is rotated while the client changes itself stays rotated", async () => {
  const idp = await serve({ dynamicRegistration: true, data: newFolder() });
  for (let round = 0; round < 10; round += 1) {
    const { json } = await send(idp.issuer + path, "POST", metadata);
    const id = String(json["client_id"]);
    const own = String(json["registration_access_token"]);
    const change = () => send(`${idp.issuer}${path}/${id}`, "PUT", { ...metadata, client_id: id }, own);
    const rotate = () => send(`${idp.issuer}/_idp/api/clients/${id}/rotate-secret`, "POST", {}, idp.adminToken);
    const [, , rotated] = await Promise.all([change(), change(), rotate(), change(), change(), change()]);
    const { client_secret: now } = await idp.call("clients.show", { client_id: id, secrets: true });
    expect(now).toBe(rotated.json["client_secret"]);
  }
});

test("a client cannot exempt itself from consent", async () => {
  const idp = await start();
  const { json } = await send(idp.issuer + path, "POST", { ...metadata, skip_consent: true, client_id: "demo-app" });
  expect(json).not.toHaveProperty("skip_consent");
  expect(json["client_id"]).not.toBe("demo-app");
});
