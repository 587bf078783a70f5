import { describe, expect, test } from "vitest";
import { register } from "../helpers/app.ts";
import { foreignOrigins, innards, underAttack } from "../helpers/attack.ts";

/** The control API, attacked from a page and by what is sent to it. */

const adminToken = "an-admin-token-of-these-tests";
const idp = await underAttack({ adminToken });
const app = await register(idp);

const { access_token: userToken } = await app.tokens();

describe("the control API", () => {
  const call = (path: string, headers: Record<string, string>, init: RequestInit = {}): Promise<Response> =>
    fetch(`${idp.issuer}/_idp/api${path}`, { headers, ...init });
  test.each<[name: string, headers: Record<string, string>, status: number]>([
    ["no token", {}, 401],
    ["an empty token", { authorization: "Bearer " }, 401],
    ["another token", { authorization: `Bearer ${adminToken}x` }, 401],
    ["the beginning of the token", { authorization: `Bearer ${adminToken.slice(0, -1)}` }, 401],
    ["a user's token", { authorization: `Bearer ${userToken}` }, 401],
    ["the token as Basic", { authorization: `Basic ${Buffer.from(`:${adminToken}`).toString("base64")}` }, 401],
    ["the token as cookie", { cookie: `token=${adminToken}` }, 401],
    ...[...foreignOrigins(idp), ""].map((origin): [string, Record<string, string>, number] => [
      `the token, and Origin ${origin}`,
      { authorization: `Bearer ${adminToken}`, origin },
      403,
    ]),
  ])("%s", async (_name, headers, status) => {
    for (const path of ["/users", "/keys", "/clients?secrets=true", "/nothing"]) {
      const answer = await call(path, headers);
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    }
    expect((await call("/reset", headers, { method: "POST" })).status).toBe(status);
    expect((await call("/users", headers, { method: "OPTIONS" })).status).toBe(status);
  });

  test("the token in the query opens nothing", async () => {
    expect((await call(`/users?access_token=${adminToken}&token=${adminToken}`, {})).status).toBe(401);
  });

  test.each([
    '{"user":{"$ne":null},"client":["demo-app"]}',
    '{"__proto__":{"user":"alice"},"client":"demo-app"}',
    '{"constructor":{"prototype":{"admin":true}}}',
    '{"user":"__proto__","client":"constructor"}',
    '{"user":"alice","client":"demo-app","scope":"\\ud800"}',
    "[]",
    "null",
    "7",
    "{",
    '{"user":1e999}',
  ])("%s to each operation that issues or seeds", async (body) => {
    const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
    for (const path of [
      "/issue/tokens",
      "/issue/grant",
      "/issue/code",
      "/revoke",
      "/seed",
      "/token/verify",
      "/sessions/end",
      "/keys",
    ]) {
      const answer = await call(path, headers, { method: "POST", body });
      expect([path, answer.status]).toEqual([path, expect.toSatisfy((status: number) => status < 500)]);
      expect(await answer.text()).not.toMatch(innards);
    }
    expect(Object.hasOwn(Object.prototype, "user")).toBe(false);
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
  });

  test("endlessly nested claims of a token", async () => {
    const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
    const body = `{"user":"alice","client":"demo-app","claims":{"x":${"[".repeat(40_000)}${"]".repeat(40_000)}}}`;
    expect((await call("/token/issue", headers, { method: "POST", body })).status).toBe(400);
  });

  test.each<[fixtures: string, status: number]>([
    ['{"users":[{"username":"__proto__"}]}', 200],
    ['{"users":[{"username":"eve","claims":{"__proto__":{"admin":true},"iss":"x","grant":"g","exp":1}}]}', 422],
    ['{"users":[{"__proto__":{"username":"eve"}}]}', 422],
    [
      '{"clients":[{"client_id":"evil","redirect_uris":["http://localhost:3000/\\r\\nX: y"],"post_logout_redirect_uris":["javascript:alert(1)"]}]}',
      422,
    ],
    ['{"clients":[{"client_id":"__proto__","redirect_uris":["http://localhost/"]}]}', 200],
    ['{"scopes":{"__proto__":{"description":{"en":"x"}},"constructor":{}}}', 422],
    ['{"users":[{"username":"eve","displayName":"\\ud800"}]}', 200],
    ['{"settings":{"__proto__":{"login":"auto:alice"}}}', 422],
    ['{"users":{"length":1e9}}', 422],
  ])("seed %s", async (body, status) => {
    const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
    const answer = await call("/seed", headers, { method: "POST", body });
    expect(answer.status).toBe(status);
    expect(await answer.text()).not.toMatch(innards);
    for (const path of ["/users", "/clients", "/users/__proto__", "/clients/constructor"]) {
      expect((await call(path, headers)).status).toBeLessThan(500);
    }
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
  });
});
