import { expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { paths, post, userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** The injected clock is set back: revoked tokens stay revoked, and the others are valid again. */

const days = 86_400;
const clock = testClock();
const idp = await serve({ now: clock.now });
const app = await register(idp);

/** Far ahead, with enough activity for every expired record to be removed if it may be; and back again. */
async function thereAndBack(): Promise<void> {
  clock.pass(30 * days);
  for (let i = 0; i < 30; i++) {
    await idp.issueTokens({ user: "alice", client: app.credentials.client_id });
    await idp.call("users.edit", { username: "alice", displayName: `Alice ${i}` });
  }
  clock.pass(-30 * days);
}

test("a revoked access token stays revoked, and another one is good again", async () => {
  const { access_token: revoked } = await app.tokens();
  const { access_token: good } = await app.tokens();
  await post(idp, paths.revoke, { token: revoked, ...app.credentials });
  await thereAndBack();
  expect((await userinfo(idp, revoked)).status).toBe(401);
  expect((await userinfo(idp, good)).status).toBe(200);
});

test("a revoked family stays dead, and a rotated refresh token rotated", async () => {
  const dead = await app.tokens();
  await post(idp, paths.revoke, { token: dead.refresh_token, ...app.credentials });
  const first = await app.tokens();
  const second = (await app.refresh(first.refresh_token)).json;
  await thereAndBack();
  expect((await userinfo(idp, dead.access_token)).status).toBe(401);
  expect((await app.refresh(dead.refresh_token)).status).toBe(400);
  expect((await app.refresh(second.refresh_token)).status).toBe(200);
  expect((await app.refresh(first.refresh_token)).status).toBe(400);
});

test("the record of a token outlives the token if it was issued ahead of time", async () => {
  clock.pass(30 * days);
  const { refresh_token: ahead } = await app.tokens();
  clock.pass(-30 * days);
  expect((await app.refresh(ahead)).status).toBe(200);
  const { families } = (await idp.call("export", {})) as { readonly families: readonly { expiresAt: number }[] };
  expect(families.at(-1)?.expiresAt).toBeGreaterThanOrEqual(clock.now() + 37 * days * 1000);
});
