import { expect, test } from "vitest";
import { exchange, jwtPart, refresh, signIn, userinfo } from "../helpers/client.ts";
import { startIdp, testClock } from "../helpers/idp.ts";

test("a code becomes tokens as the spec's token response says, and scope", async () => {
  const idp = await startIdp();
  const { code } = await signIn(idp);
  const { status, json, headers } = await exchange(idp, code);
  expect(status).toBe(200);
  expect(json).toMatchObject({ token_type: "Bearer", expires_in: 1800, scope: "openid profile email" });
  expect(jwtPart(json["id_token"], 1)["nonce"]).toBe("n-0S6_WzA2Mj");
  expect(headers.get("cache-control")).toBe("no-store");
});

test("fifty at the same moment: exactly one gets tokens, and the replays kill those", async () => {
  const idp = await startIdp();
  const { code } = await signIn(idp);
  const answers = await Promise.all(Array.from({ length: 50 }, () => exchange(idp, code)));
  const won = answers.filter(({ status }) => status === 200);
  expect(won).toHaveLength(1);
  expect(answers.filter(({ json }) => json["error"] === "invalid_grant")).toHaveLength(49);
  const [tokens] = won;
  expect((await userinfo(idp, tokens?.json.access_token ?? "")).status).toBe(401);
  expect((await refresh(idp, tokens?.json.refresh_token ?? "")).json["error"]).toBe("invalid_grant");
});

test("a rotated refresh token that comes again kills its family", async () => {
  const idp = await startIdp();
  const { code } = await signIn(idp);
  const first = (await exchange(idp, code)).json;
  const second = (await refresh(idp, first["refresh_token"])).json;
  expect((await userinfo(idp, second["access_token"])).status).toBe(200);
  expect((await refresh(idp, first["refresh_token"])).json["error_description"]).toMatch(/already rotated/);
  expect((await userinfo(idp, second["access_token"])).status).toBe(401);
  expect((await refresh(idp, second["refresh_token"])).status).toBe(400);
});

test("a code lives 60 seconds, an access token 30 minutes, a refresh token 7 days: to the second", async () => {
  const clock = testClock();
  const idp = await startIdp({ now: clock.now, settings: { session_ttl: 10_000_000 } });
  const { browser, code } = await signIn(idp);
  clock.pass(60);
  expect((await exchange(idp, code)).json["error_description"]).toMatch(/code expired/);
  const { code: another } = await signIn(idp, { browser });
  clock.pass(59);
  const { json } = await exchange(idp, another);
  clock.pass(1799);
  expect((await userinfo(idp, json["access_token"])).status).toBe(200);
  clock.pass(1);
  expect((await userinfo(idp, json["access_token"])).status).toBe(401);
  clock.pass(604_800 - 1801);
  const refreshed = await refresh(idp, json["refresh_token"]);
  expect(refreshed.status).toBe(200);
  clock.pass(604_800);
  expect((await refresh(idp, refreshed.json["refresh_token"])).json["error_description"]).toMatch(/expired/);
});
