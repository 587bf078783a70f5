import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createIdp, type Idp } from "../../src/index.ts";

/** The control API as a script uses it. */

const adminToken = "the-admin-token-of-the-test";
const fixtures = {
  users: [{ username: "alice", password: "alice" }, { username: "bob" }, { username: "carol", status: "suspended" }],
  clients: [
    { client_id: "app", client_secret: "app-secret", redirect_uris: ["http://localhost:3000/callback"] },
    { client_id: "spa", redirect_uris: ["http://localhost:5173/callback"] },
  ],
} as const;

let idp: Idp;
beforeAll(async () => {
  idp = await createIdp({ fixtures: structuredClone(fixtures) as never, port: 0, adminToken });
});
afterAll(() => idp.close());

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = { authorization: `Bearer ${adminToken}` },
): Promise<Answer> {
  const response = await fetch(`${idp.issuer}/_idp/api/${path}`, {
    method,
    headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
}

const error = (code: string, description: unknown = expect.any(String)): unknown =>
  expect.objectContaining({ error: code, error_description: description });

describe("access", () => {
  test.each([
    ["no token", {}, "missing_token"],
    ["another token", { authorization: "Bearer the-admin-token-of-the-tesT" }, "invalid_token"],
    ["a longer token", { authorization: `Bearer ${adminToken}x` }, "invalid_token"],
    ["Basic", { authorization: `Basic ${btoa(`admin:${adminToken}`)}` }, "missing_token"],
  ])("%s", async (_who, headers, code) => {
    const { status, headers: answered, body } = await call("GET", "users", undefined, headers);
    expect(status).toBe(401);
    expect(answered.get("www-authenticate")).toMatch(/^Bearer /);
    expect(body).toEqual(error(code));
    expect(JSON.stringify(body)).not.toContain("the-admin");
  });

  test("a page of its own origin passes", async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { origin: idp.issuer, authorization: `Bearer ${adminToken}` };
      httpRequest(`${idp.issuer}/_idp/api/users`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end();
    });
    expect(status).toBe(200);
  });
});

describe("requests", () => {
  test("no such path: 404", async () => {
    expect(await call("GET", "nowhere")).toMatchObject({ status: 404, body: error("not_found") });
  });

  test("a form: 415", async () => {
    const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/x-www-form-urlencoded" };
    const response = await fetch(`${idp.issuer}/_idp/api/revoke`, { method: "POST", headers, body: "user=alice" });
    expect(response.status).toBe(415);
    expect(await response.json()).toEqual(error("invalid_request", expect.stringContaining("application/json")));
  });

  test.each([
    ["half a document", '{"user":', 400],
    ["text", '"alice"', 400],
    ["more than 102,400 bytes", JSON.stringify({ user: "a".repeat(102_400) }), 413],
    ["a list", "[]", 422],
    ["nothing of what is needed", "{}", 422],
    ["a number for a name", { user: 5, client: "app" }, 422],
    ["an object for a name", { user: { $ne: "" }, client: "app" }, 422],
    ["a field that is unknown", { user: "alice", client: "app", scop: "openid" }, 422],
    ["a prototype", '{"user":"alice","client":"app","__proto__":{"scope":"openid"}}', 422],
  ])("%s: %s", async (_what, body, status) => {
    const answer = await call("POST", "issue/tokens", body);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual(error(expect.any(String) as never));
  });

  test("every problem of an input is reported at once, with a suggestion", async () => {
    const { body } = await call("POST", "issue/tokens", { usr: "alice", scope: 1 });
    expect(body).toEqual({
      error: "usage",
      error_description: expect.stringContaining("user is missing"),
      problems: [
        { path: "user", message: "is missing" },
        { path: "client", message: "is missing" },
        { path: "scope", message: "must be text, not the number 1: put it in quotes" },
        { path: "usr", message: "is an unknown key. Did you mean user?" },
      ],
    });
  });

  test("responses are not cached", async () => {
    expect((await call("GET", "users")).headers.get("cache-control")).toBe("no-store");
    expect((await call("GET", "users", undefined, {})).headers.get("cache-control")).toBe("no-store");
  });
});

describe("operations", () => {
  test("users are listed, shown, suspended and restored", async () => {
    const list = await call("GET", "users");
    expect(list).toMatchObject({
      status: 200,
      body: [{ username: "alice" }, { username: "bob" }, { username: "carol" }],
    });
    expect(await call("GET", "users?limit=1")).toMatchObject({ body: [{ username: "alice" }] });
    expect((await call("GET", "users?limit=1")).body).toHaveLength(1);
    expect(JSON.stringify(list.body)).not.toMatch(/scrypt|passwordHash|passwordPending/);
    expect(await call("POST", "users/bob/suspend")).toMatchObject({ status: 200, body: { status: "suspended" } });
    expect(await call("GET", "users/bob")).toMatchObject({ body: { status: "suspended", hasPassword: false } });
    expect(await call("POST", "users/bob/restore", {})).toMatchObject({ status: 200, body: { status: "active" } });
  });

  test("an unknown user is 404 with a suggestion, a conflict 409", async () => {
    expect(await call("GET", "users/alcie")).toMatchObject({
      status: 404,
      body: { error: "not_found", error_description: 'no user "alcie"', hint: expect.stringContaining("alice") },
    });
    await call("POST", "users/carol/ban");
    expect(await call("POST", "users/carol/suspend")).toMatchObject({ status: 409, body: error("conflict") });
  });

  test("secrets of clients are shown only when they are asked for", async () => {
    expect(await call("GET", "clients/app")).toMatchObject({ status: 200, body: { client_id: "app", public: false } });
    expect((await call("GET", "clients/app")).body).not.toHaveProperty("client_secret");
    expect(await call("GET", "clients/app?secrets=true")).toMatchObject({ body: { client_secret: "app-secret" } });
    expect((await call("GET", "clients?secrets=maybe")).status).toBe(422);
    expect(JSON.stringify((await call("GET", "clients")).body)).not.toContain("app-secret");
  });

  test("a grant is issued, listed, shown and revoked; its tokens verify until then", async () => {
    const granted = await call("POST", "issue/grant", { user: "alice", client: "app", scope: "openid email" });
    expect(granted).toMatchObject({ status: 201, body: { user: "alice", client: "app", scope: "openid email" } });
    const { id } = granted.body as { id: string };
    expect((await call("GET", `grants/${id}`)).body).toEqual(granted.body);
    expect((await call("GET", "grants?user=alice&client=app")).body).toEqual([granted.body]);
    expect((await call("GET", "grants?user=bob")).body).toEqual([]);

    const issued = await call("POST", "issue/tokens", { user: "alice", client: "app", nonce: "n1" });
    expect(issued).toMatchObject({ status: 201, body: { token_type: "Bearer", scope: "openid" } });
    const { access_token: token } = issued.body as { access_token: string };
    expect(await call("POST", "token/verify", { token })).toMatchObject({ status: 200, body: { valid: true } });

    expect(await call("POST", "revoke", { user: "alice", client: "app" })).toMatchObject({
      status: 200,
      body: { revoked: [{ id, status: "revoked" }] },
    });
    expect((await call("POST", "revoke", { grant: id })).body).toEqual({ revoked: [] });
    expect(await call("POST", "token/verify", { token })).toMatchObject({ status: 200, body: { valid: false } });
    expect((await call("POST", "revoke", {})).status).toBe(422);
    expect((await call("POST", "revoke", { user: "nobody" })).status).toBe(404);
  });

  test("a code is issued and can be redeemed", async () => {
    const { status, body } = await call("POST", "issue/code", { user: "alice", client: "app", state: "s1" });
    expect(status).toBe(201);
    const { code, redirect_uri } = body as { code: string; redirect_uri: string };
    const response = await fetch(`${idp.issuer}/api/v2/oauth/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        grant_type: "authorization_code",
        code,
        redirect_uri,
        client_id: "app",
        client_secret: "app-secret",
      }),
    });
    expect(response.status).toBe(200);
  });

  test("one token is revoked by the operator", async () => {
    const { body } = await call("POST", "issue/tokens", { user: "alice", client: "spa" });
    const { access_token: token } = body as { access_token: string };
    const revoked = { revoked: "access_token", client: "spa" };
    expect(await call("POST", "token/revoke", { token })).toMatchObject({ status: 200, body: revoked });
    expect(await call("POST", "token/verify", { token })).toMatchObject({ status: 200, body: { valid: false } });
    expect(await call("POST", "token/revoke", { token: "x.y.z" })).toMatchObject({
      status: 200,
      body: { revoked: null },
    });
  });

  test("fixtures are applied whole or not at all: 422 with every problem", async () => {
    const wrong = { users: [{ username: "eve" }, { username: "x", email: "nonsense" }, { usrname: "y" }] };
    const refused = await call("POST", "seed", wrong);
    expect(refused).toMatchObject({ status: 422, body: error("invalid") });
    expect((refused.body as { problems: readonly { path: string }[] }).problems.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["users[1].email"]),
    );
    expect((await call("GET", "users/eve")).status).toBe(404);
    expect(await call("POST", "seed", { users: [{ username: "eve" }] })).toMatchObject({
      status: 200,
      body: { users: { added: ["eve"] } },
    });
    expect((await call("GET", "users/eve")).status).toBe(200);
  });

  test("a seed may be larger than other bodies; its texts say where they are wrong", async () => {
    const users = Array.from({ length: 3000 }, (_, at) => ({ username: `user${at}`, about: "x".repeat(100) }));
    expect(JSON.stringify({ users }).length).toBeGreaterThan(102_400);
    expect((await call("POST", "seed", { users })).status).toBe(200);
    const sources = [{ name: "a.yaml", text: "users:\n  - username: 5\n" }];
    expect(await call("POST", "seed", { sources })).toMatchObject({
      status: 422,
      body: { problems: [{ file: "a.yaml", line: 2, column: 15, path: "users[0].username" }] },
    });
    expect((await call("POST", "seed", { sources: ["a.yaml"] })).status).toBe(422);
    for (const [path, input] of [
      ["seed", { sources: [], users: [] }],
      ["reset", { sources: [], fixtures: {} }],
    ] as const) {
      expect(await call("POST", path, input)).toMatchObject({
        status: 422,
        body: { error: "usage", error_description: expect.stringContaining("not both") },
      });
    }
  });

  test("status tells who and what", async () => {
    const { status, body } = await call("GET", "status");
    expect(status).toBe(200);
    expect(body).toMatchObject({ issuer: idp.issuer, data: "memory", clients: 2, server: { pid: process.pid } });
  });
});

test("stop answers, and then ends the server", async () => {
  const other = await createIdp({ port: 0, adminToken });
  const response = await fetch(`${other.issuer}/_idp/api/stop`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminToken}` },
  });
  expect(await response.json()).toEqual({ stopping: true, pid: process.pid });
  await other.closed;
  await expect(fetch(`${other.issuer}/_idp/health`)).rejects.toThrow();
});
