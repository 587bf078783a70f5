import { expect, test } from "vitest";
import { exchange, paths, signIn, userinfo } from "../helpers/client.ts";
import { serve } from "../helpers/app.ts";
import { testClock } from "../helpers/clock.ts";
import { heapInUse } from "../helpers/heap.ts";

/** A token that passed once is checked again the next time. */

test("an access token that was accepted is refused once it has expired", async () => {
  const clock = testClock();
  const idp = await serve({ now: clock.now });
  const { access_token: token } = (await exchange(idp, (await signIn(idp)).code)).json;
  expect((await userinfo(idp, token)).status).toBe(200);
  clock.pass(1799);
  expect((await userinfo(idp, token)).status).toBe(200);
  clock.pass(1);
  expect((await userinfo(idp, token)).status).toBe(401);
});

test("an access token that was accepted is refused once its key is gone", async () => {
  const clock = testClock();
  const idp = await serve({ now: clock.now, settings: { access_token_ttl: 10_000_000, refresh_token_ttl: 60 } });
  const { access_token: token } = (await exchange(idp, (await signIn(idp)).code)).json;
  await idp.call("keys.rotate", {});
  expect((await userinfo(idp, token)).status).toBe(200);
  await idp.call("reset", { keys: true });
  expect((await userinfo(idp, token)).status).toBe(401);
});

test("an access token of one server is refused by another one in the same process with the same issuer", async () => {
  const issuer = "http://idp.example.test";
  const [idp, other] = [await serve({ issuer }), await serve({ issuer })];
  const at = (port: number) => ({ issuer: `http://localhost:${port}` });
  const { access_token: token } = await idp.issueTokens({ user: "alice", client: "demo-app", scope: "openid" });
  expect((await userinfo(at(idp.port), token)).status).toBe(200);
  expect((await userinfo(at(other.port), token)).status).toBe(401);
});

test("the record of an accepted access token is small, however large the token or its body", async () => {
  const idp = await serve();
  const send = async (claims: Readonly<Record<string, unknown>>, pad: string): Promise<void> => {
    const { token } = await idp.call("token.issue", { user: "alice", client: "demo-app", scope: "openid", claims });
    const body = `access_token=${token}&pad=${pad}`;
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const answer = await fetch(idp.issuer + paths.userinfo, { method: "POST", headers, body });
    expect([answer.status, await answer.json()]).toEqual([200, expect.anything()]);
  };
  const [pad, long] = ["x".repeat(90_000), { long: "x".repeat(60_000) }];
  for (let warm = 0; warm < 20; warm += 1) await send({}, pad);
  // What waits to become a record, up to 8 million characters, does so when the records are read.
  const recorded = async (): Promise<number> => {
    await idp.call("requests.list", {});
    return heapInUse();
  };
  const before = await recorded();
  for (let i = 0; i < 50; i += 1) await send({}, pad);
  for (let i = 0; i < 50; i += 1) await send(long, "");
  // Less than a third of what was sent.
  expect((await recorded()) - before).toBeLessThan(50 * 50_000);
});
