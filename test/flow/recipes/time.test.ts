import { join } from "node:path";
import * as client from "openid-client";
import { afterAll, beforeEach, expect, test } from "vitest";
import { createIdp } from "../../../src/index.ts";
import { newFolder } from "../../helpers/cli.ts";
import { recipesOf } from "./guide.ts";
import { openidApp } from "./openid-app.ts";

/** The recipes of docs/testing.md on time and on snapshots, against openid-client 6. */

const data = join(newFolder(afterAll), ".idp");
const idp = await createIdp({ data });
afterAll(() => idp.close());
await idp.snapshot("fresh");
beforeEach(async () => {
  await idp.restore("fresh");
  await idp.clock.reset();
  await idp.requests.clear();
});
const { follow, asked, allTested } = recipesOf("When time passes", data);
const subOf = "7123456789012345678";
const userInfo = async (config: client.Configuration, { access_token: token }: client.TokenEndpointResponse) =>
  (await client.fetchUserInfo(config, token, subOf)).sub;

test("expired access token mid-session", async () => {
  const { config, tokens } = await openidApp(idp.issuer);
  const first = await tokens();
  await follow("expired access token mid-session");
  await expect(userInfo(config, first)).rejects.toMatchObject({ status: 401 });
  const renewed = await client.refreshTokenGrant(config, first.refresh_token ?? "");
  expect(await userInfo(config, renewed)).toBe(subOf);
  await asked(
    "userinfo --status 401 --times 1",
    "userinfo --status 200 --times 1",
    "token --grant-type refresh_token --status 200 --times 1",
  );
});

test("refresh token expired", async () => {
  const { config, tokens } = await openidApp(idp.issuer);
  const first = await tokens();
  await follow("refresh token expired");
  await expect(userInfo(config, first)).rejects.toMatchObject({ status: 401 });
  const refreshing = client.refreshTokenGrant(config, first.refresh_token ?? "");
  await expect(refreshing).rejects.toMatchObject({ error: "invalid_grant" });
  expect(await userInfo(config, await tokens())).toBe(subOf);
  await asked("token --grant-type refresh_token --status 400 --times 1", "authorize --times 2");
});

test("session at idp expired", async () => {
  const { config, signIn, tokens } = await openidApp(idp.issuer);
  const first = await tokens();
  const silent = async () => (await signIn({ prompt: "none" }))();
  await silent();
  await follow("session at idp expired");
  await expect(silent()).rejects.toMatchObject({ error: "login_required" });
  expect(await userInfo(config, first)).toBe(subOf);
  await asked("authorize --param prompt=none --times 2", "token --times 2", "userinfo --status 200 --times 1");
});

test("code too old", async () => {
  const { signIn, tokens } = await openidApp(idp.issuer);
  const redeem = await signIn();
  await follow("code too old");
  await expect(redeem()).rejects.toMatchObject({ error: "invalid_grant" });
  await idp.clock.reset();
  expect((await tokens()).access_token).toBeDefined();
  await asked("token --status 400 --times 1", "token --status 200 --times 1", "authorize --times 2");
});

test("every recipe is tested", allTested);

test("tests in parallel: each on a server of its own, with tokens that a restore makes good again", async () => {
  await Promise.all(
    Array.from({ length: 4 }, async (_, index) => {
      await using own = { idp: await createIdp(), [Symbol.asyncDispose]: () => own.idp.close() };
      const { config, tokens: signIn } = await openidApp(own.idp.issuer);
      const tokens = await signIn();
      await own.idp.snapshot("signed-in");
      for (let round = 0; round <= index; round++) {
        await own.idp.restore("signed-in");
        const { refresh_token: next } = await client.refreshTokenGrant(config, tokens.refresh_token ?? "");
        await own.idp.revoke({ user: "alice", client: "demo-app" });
        await expect(client.refreshTokenGrant(config, next ?? "")).rejects.toMatchObject({ error: "invalid_grant" });
        await own.idp.restore("signed-in");
        // What the test was issued is no good, and does no harm.
        await expect(client.refreshTokenGrant(config, next ?? "")).rejects.toMatchObject({ error: "invalid_grant" });
        expect(await userInfo(config, tokens)).toBe(subOf);
      }
    }),
  );
});
