import { describe, expect } from "vitest";
import type { Idp } from "../../src/index.ts";
import { idpTest } from "../../src/vitest.ts";

/** `dev-idp/vitest`: what a test is handed. */

const test = idpTest({
  fixtures: {
    users: [{ username: "erin" }],
    clients: [{ client_id: "shop", redirect_uris: ["http://localhost:3000/callback"] }],
  },
});

const seen: Idp[] = [];

test.beforeAll(async ({ idpOfFile }) => {
  expect(await (await fetch(`${idpOfFile.issuer}/_idp/health`)).json()).toMatchObject({ issuer: idpOfFile.issuer });
});

test("an idp with the fixtures that were given, on a port of its own", async ({ idp }) => {
  seen.push(idp);
  expect(idp.port).toBeGreaterThan(0);
  expect(await idp.issueTokens({ user: "erin", client: "shop" })).toMatchObject({ token_type: "Bearer" });
});

test("the same one in the next test", ({ idp, idpOfFile }) => {
  expect(seen).toEqual([idp]);
  expect(idp).toBe(idpOfFile);
});

test("a test may change what it likes", async ({ idp }) => {
  await idp.call("users.remove", { username: "erin" });
  await idp.call("users.add", { username: "frank" });
});

test("and the next one finds the fixtures again", async ({ idp }) => {
  expect((await idp.call("users.list", {})).map(({ username }) => username)).toEqual(["erin"]);
});

test("a test may move the clock, let tokens expire, and go back", async ({ idp }) => {
  const { access_token: token } = await idp.issueTokens({ user: "erin", client: "shop" });
  const isActive = async () => (await idp.call("token.introspect", { token })).active;
  await idp.snapshot("before");
  await idp.expire({ user: "erin" });
  expect(await isActive()).toBe(false);
  await idp.restore("before");
  expect(await isActive()).toBe(true);
  expect((await idp.clock.advance("1d")).offset).toBe(86_400);
});

test("and the next one finds the real time again", async ({ idp }) => {
  expect((await idp.clock.show()).offset).toBe(0);
});

describe("a test of its own kind, made of it", () => {
  const withToken = test.extend<{ token: string }>({
    token: async ({ idp }, use) => {
      await use((await idp.issueTokens({ user: "erin", client: "shop" })).access_token);
    },
  });
  withToken("is handed both", async ({ idp, token }) => {
    expect(await idp.call("token.verify", { token })).toMatchObject({ valid: true });
  });
});
