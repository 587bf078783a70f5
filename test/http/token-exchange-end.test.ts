import { expect, test } from "vitest";
import { enroll } from "../helpers/app.ts";
import { jwtPart, paths, post, refresh, userinfo } from "../helpers/client.ts";
import { claimsOf, exchangeServer, expectRefusal, withActor } from "../helpers/exchange.ts";

/** When exchanged tokens end: with the subject token, its family, its grant and its client. */

const { clock, exchange, front, idp, orders, ownToken, service, stock, tokensOf } = await exchangeServer();

test("the new token lives no longer than those it was exchanged for", async () => {
  const { access_token } = await tokensOf();
  clock.pass(600);
  const answer = await exchange(orders, access_token);
  expect(answer.json["expires_in"]).toBe(1200);
  expect(claimsOf(answer)["exp"]).toBe(jwtPart(access_token, 1)["exp"]);
  const actor = await ownToken(orders);
  clock.pass(600);
  const fresh = await tokensOf();
  expect((await exchange(orders, fresh.access_token, withActor(actor))).json["expires_in"]).toBe(1200);
  clock.pass(600);
  expect((await userinfo(idp, answer.json.access_token)).status).toBe(401);
});

test("revoking the user's grant for the first client ends the exchanged tokens too", async () => {
  const user = await enroll(idp);
  const { access_token } = await tokensOf(user);
  const first = (await exchange(orders, access_token)).json.access_token;
  const second = (await exchange(stock, first)).json.access_token;
  expect((await userinfo(idp, second)).status).toBe(200);
  await idp.revoke({ user, client: "front" });
  for (const token of [first, second]) {
    const { status, json } = await userinfo(idp, token);
    expect({ status, error: json.error }).toEqual({ status: 403, error: "access_revoked" });
  }
  expectRefusal(await exchange(orders, access_token), "invalid_request", /subject_token .*Access revoked by user/);
  // For good: a new consent brings none of them back.
  await tokensOf(user);
  expect((await userinfo(idp, second)).status).toBe(403);
});

test("an exchanged token of a removed service is dead for a new one of the same client_id", async () => {
  const former = await service({ client_id: "former" });
  const token = (await exchange(former, (await tokensOf()).access_token)).json.access_token;
  expect((await userinfo(idp, token)).status).toBe(200);
  await idp.call("clients.remove", { client_id: "former" });
  await service({ client_id: "former", client_name: "Another" });
  expect((await userinfo(idp, token)).status).toBe(401);
});

test("the end of the family ends the exchanged tokens too", async () => {
  const { access_token, refresh_token = "" } = await tokensOf();
  const exchanged = (await exchange(orders, access_token)).json.access_token;
  expect((await refresh(idp, refresh_token, front.credentials)).status).toBe(200);
  expect((await userinfo(idp, exchanged)).status).toBe(200);
  // The reuse of a rotated refresh token.
  await refresh(idp, refresh_token, front.credentials);
  expect((await userinfo(idp, exchanged)).status).toBe(401);
  expectRefusal(await exchange(orders, access_token), "invalid_request", /subject_token .*was revoked/);
});

test("the revocation of the subject token ends the exchanged ones too, also those exchanged again", async () => {
  const { access_token } = await tokensOf();
  const token = (await exchange(orders, access_token)).json.access_token;
  const again = (await exchange(stock, token)).json.access_token;
  for (const one of [token, again]) expect((await userinfo(idp, one)).status).toBe(200);
  await post(idp, paths.revoke, { token: access_token, ...front.credentials });
  for (const one of [token, again]) {
    expect((await userinfo(idp, one)).status).toBe(401);
    expect((await idp.call("token.introspect", { token: one })).reason).toMatch(
      /from an exchange of a token that was revoked/,
    );
  }
});

test("the removal of the client of a subject token without a user ends the exchanged ones too, also where another takes its id", async () => {
  const speaker = await service({ client_id: "speaker" });
  const token = (await exchange(orders, await ownToken(speaker))).json.access_token;
  const again = (await exchange(stock, token)).json.access_token;
  const areActive = async (): Promise<boolean[]> => {
    const answers = await Promise.all([token, again].map((one) => idp.call("token.introspect", { token: one })));
    return answers.map(({ active }) => active);
  };
  expect(await areActive()).toEqual([true, true]);
  await idp.call("clients.remove", { client_id: "speaker" });
  expect(await areActive()).toEqual([false, false]);
  await service({ client_id: "speaker", client_name: "Another" });
  expect(await areActive()).toEqual([false, false]);
});

test("a subject token that its client revoked is refused; an exchanged one is revoked by the client that has it", async () => {
  const { access_token } = await tokensOf();
  const exchanged = (await exchange(orders, access_token)).json.access_token;
  await post(idp, paths.revoke, { token: exchanged, ...front.credentials });
  expect((await userinfo(idp, exchanged)).status).toBe(200);
  await post(idp, paths.revoke, { token: exchanged, ...orders.credentials });
  expect((await userinfo(idp, exchanged)).status).toBe(401);
  expect((await userinfo(idp, access_token)).status).toBe(200);
  await post(idp, paths.revoke, { token: access_token, ...front.credentials });
  expectRefusal(await exchange(orders, access_token), "invalid_request", /subject_token .*was revoked/);
});
