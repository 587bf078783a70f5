import { describe, expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { jwtPart, userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** The grant refresh_token: rotation, grace, narrowing (RFC 6749 6, RFC 9700 4.14.2). */

const clock = testClock();
const idp = await serve({ now: clock.now });
const app = await register(idp);

describe("rotation", () => {
  test("each refresh gives a new refresh token, and the older access token stays good", async () => {
    const first = await app.tokens();
    const second = (await app.refresh(first.refresh_token)).json;
    const third = (await app.refresh(second.refresh_token)).json;
    expect(new Set([first, second, third].map((tokens) => tokens.refresh_token)).size).toBe(3);
    for (const { access_token } of [first, second, third]) expect((await userinfo(idp, access_token)).status).toBe(200);
  });

  test("the new refresh token lives 7 days from its own issue", async () => {
    const { refresh_token: first } = await app.tokens();
    clock.pass(604_799);
    const { refresh_token: second } = (await app.refresh(first)).json;
    clock.pass(604_799);
    expect((await app.refresh(second)).status).toBe(200);
  });

  test("reuse of a rotated one revokes its family: every token of it, not those of others", async () => {
    const [stolen, other] = [await app.tokens(), await app.tokens()];
    const second = (await app.refresh(stolen.refresh_token)).json;
    const reuse = await app.refresh(stolen.refresh_token);
    expect([reuse.status, reuse.json.error]).toEqual([400, "invalid_grant"]);
    expect(reuse.json.error_description).toMatch(/already rotated: .* every token of its family is revoked/);
    for (const { access_token } of [stolen, second]) expect((await userinfo(idp, access_token)).status).toBe(401);
    expect((await app.refresh(second.refresh_token)).json.error).toBe("invalid_grant");
    expect((await userinfo(idp, other.access_token)).status).toBe(200);
    expect((await app.refresh(other.refresh_token)).status).toBe(200);
  });

  test("also reuse of one that was rotated long ago", async () => {
    const { refresh_token: first } = await app.tokens();
    const { refresh_token: second } = (await app.refresh(first)).json;
    clock.pass(500_000);
    const third = (await app.refresh(second)).json;
    expect((await app.refresh(first)).json.error_description).toMatch(/already rotated/);
    expect((await userinfo(idp, third.access_token)).status).toBe(401);
  });
});

test("a rotated token that is used while its user is suspended revokes its family: restoring brings nothing back", async () => {
  const user = await enroll(idp);
  const { refresh_token: rotated } = await app.tokens({ user });
  const { access_token, refresh_token } = (await app.refresh(rotated)).json;
  await idp.call("users.suspend", { username: user });
  expect((await app.refresh(rotated)).json.error).toBe("invalid_grant");
  await idp.call("users.restore", { username: user });
  expect((await userinfo(idp, access_token)).status).toBe(401);
  expect((await app.refresh(refresh_token)).json.error).toBe("invalid_grant");
});

describe("refresh_rotation: off", () => {
  test("the refresh token stays the same, and passes as often as it likes", async () => {
    const still = await serve({ settings: { refresh_rotation: "off" } });
    const own = await register(still);
    const { refresh_token: token } = await own.tokens();
    for (let times = 0; times < 3; times += 1) {
      const { status, json } = await own.refresh(token);
      expect([status, json.refresh_token]).toEqual([200, token]);
      expect((await userinfo(still, json.access_token)).status).toBe(200);
    }
  });
});

describe("refresh_grace", () => {
  test("a rotated token still passes for so many seconds; after them it is a reuse", async () => {
    const lenient = await serve({ now: clock.now, settings: { refresh_grace: 10 } });
    const own = await register(lenient);
    const { refresh_token: first } = await own.tokens();
    const second = (await own.refresh(first)).json;
    clock.pass(9);
    const retry = await own.refresh(first);
    expect(retry.status).toBe(200);
    expect((await userinfo(lenient, second.access_token)).status).toBe(200);
    clock.pass(1);
    expect((await own.refresh(first)).json.error_description).toMatch(/already rotated/);
    for (const { access_token } of [second, retry.json]) {
      expect((await userinfo(lenient, access_token)).status).toBe(401);
    }
  });

  test("introspection calls it active for as long", async () => {
    const lenient = await serve({ now: clock.now, settings: { refresh_grace: 10 } });
    const own = await register(lenient);
    const { refresh_token: token } = await own.tokens();
    await own.refresh(token);
    const isActive = async () => (await lenient.call("token.introspect", { token })).active;
    clock.pass(9);
    expect(await isActive()).toBe(true);
    clock.pass(1);
    expect(await isActive()).toBe(false);
    expect((await own.refresh(token)).json.error_description).toMatch(/already rotated/);
  });

  test("apps that refresh in parallel go on with whichever token they got", async () => {
    const lenient = await serve({ now: clock.now, settings: { refresh_grace: 10 } });
    const own = await register(lenient);
    const { refresh_token: token } = await own.tokens();
    const answers = await Promise.all([own.refresh(token), own.refresh(token), own.refresh(token)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const { json } of answers) expect((await own.refresh(json.refresh_token)).status).toBe(200);
  });

  test("the token of each retry is good until it is used, however long the others have been rotated", async () => {
    const lenient = await serve({ now: clock.now, settings: { refresh_grace: 10 } });
    const own = await register(lenient);
    const { refresh_token: token } = await own.tokens();
    const [first, second, third] = await Promise.all([own.refresh(token), own.refresh(token), own.refresh(token)]);
    let { json: last } = await own.refresh(first.json.refresh_token);
    clock.pass(86_400);
    last = (await own.refresh(last.refresh_token)).json;
    clock.pass(86_400);
    const isActive = async (of: string) => (await lenient.call("token.introspect", { token: of })).active;
    const later = await own.refresh(second.json.refresh_token);
    expect(later.status).toBe(200);
    // It has a grace of its own.
    const retry = await own.refresh(second.json.refresh_token);
    expect(retry.status).toBe(200);
    clock.pass(86_400);
    const good = [last, later.json, retry.json, third.json].map(({ refresh_token }) => refresh_token);
    expect(await Promise.all(good.map(isActive))).toEqual([true, true, true, true]);
    expect((await own.refresh(third.json.refresh_token)).status).toBe(200);
    // One that was used is a reuse after the grace, and ends all.
    expect((await own.refresh(second.json.refresh_token)).json.error_description).toMatch(/already rotated/);
    expect(await Promise.all(good.map(isActive))).toEqual([false, false, false, false]);
    for (const left of good) expect((await own.refresh(left)).json.error).toBe("invalid_grant");
  });

  test("a refresh token from a retry lives its whole 7 days", async () => {
    const lenient = await serve({ now: clock.now, settings: { refresh_grace: 10 } });
    const own = await register(lenient);
    const { refresh_token: first } = await own.tokens();
    await own.refresh(first);
    clock.pass(9);
    const { refresh_token: retried } = (await own.refresh(first)).json;
    clock.pass(604_799);
    expect((await own.refresh(retried)).status).toBe(200);
  });

  test("only the last one rotated: the one before it is a reuse", async () => {
    const lenient = await serve({ now: clock.now, settings: { refresh_grace: 10 } });
    const own = await register(lenient);
    const { refresh_token: first } = await own.tokens();
    const { refresh_token: second } = (await own.refresh(first)).json;
    await own.refresh(second);
    expect((await own.refresh(first)).json.error_description).toMatch(/already rotated/);
  });
});

describe("the answer", () => {
  test("the ID token has no nonce and keeps auth_time, sub, sid and acr", async () => {
    const tokens = await app.tokens();
    clock.pass(100);
    const before = jwtPart(tokens.id_token, 1);
    const after = jwtPart((await app.refresh(tokens.refresh_token)).json.id_token, 1);
    expect(before["nonce"]).toBeDefined();
    expect(after).not.toHaveProperty("nonce");
    for (const claim of ["auth_time", "sub", "aud", "iss", "sid", "acr", "amr"]) {
      expect([claim, after[claim]]).toEqual([claim, before[claim]]);
    }
    expect(after["iat"]).toBe(Number(before["iat"]) + 100);
  });

  test("changes of the user are in it", async () => {
    const { refresh_token: token } = await app.tokens({ user: "bob" });
    await idp.call("seed", { users: [{ username: "bob", displayName: "Robert Brown", email: "robert@example.com" }] });
    const { json } = await app.refresh(token);
    expect(jwtPart(json.id_token, 1)["name"]).toBe("Robert Brown");
    expect(jwtPart(json.access_token, 1)["email"]).toBe("robert@example.com");
  });
});

describe("scope", () => {
  test("may narrow: for this access token, while the refresh token keeps them all", async () => {
    const { refresh_token: token } = await app.tokens({ scope: "openid email phone" });
    const narrow = (await app.refresh(token, { scope: "openid phone" })).json;
    expect(narrow.scope).toBe("openid phone");
    expect(jwtPart(narrow.access_token, 1)["scope"]).toBe("openid phone");
    const { user } = (await userinfo(idp, narrow.access_token)).json as { user?: object };
    expect(user).toHaveProperty("phone");
    expect(user).not.toHaveProperty("email");
    expect((await app.refresh(narrow.refresh_token)).json.scope).toBe("openid email phone");
  });

  test.each(["openid email phone social", "openid nonsense"])("never widens: %s", async (scope) => {
    const { refresh_token: token } = await app.tokens({ scope: "openid email" });
    const { status, json } = await app.refresh(token, { scope });
    expect([status, json.error]).toEqual([400, "invalid_scope"]);
    expect((await app.refresh(token)).status).toBe(200);
  });

  test("scopes that the client may no longer request are not in it, nor in UserInfo", async () => {
    const own = await register(idp);
    const { client_id } = own.credentials;
    const claims = JSON.stringify({ userinfo: { phone_number: null } });
    const { access_token, refresh_token } = await own.tokens({ scope: "openid email", claims });
    const before = (await userinfo(idp, access_token)).json;
    expect(before).toMatchObject({ user: { email: {} }, phone_number: expect.any(String) });
    await idp.call("clients.edit", { client_id, scope: "openid profile" });
    expect((await own.refresh(refresh_token)).json.scope).toBe("openid");
    const { user, ...claimsNow } = (await userinfo(idp, access_token)).json as { user?: object };
    expect(user).not.toHaveProperty("email");
    expect(claimsNow).not.toHaveProperty("phone_number");
  });

  test("scopes that the user withdrew are not in it", async () => {
    const { browser, code } = await app.signIn({
      scope: "openid email",
      user: "alice",
      browser: new Browser(idp.issuer),
    });
    const { refresh_token: token } = (await app.exchange(code)).json;
    const consent = await browser.open(app.url({ scope: "openid email", prompt: "consent" }));
    await browser.press(consent, "consent-allow", { scope: ["openid"] });
    expect((await app.refresh(token)).json.scope).toBe("openid");
  });

  test("where none is left, the answer has no scope member", async () => {
    const own = await register(idp);
    const { client_id: client } = own.credentials;
    const { refresh_token: token } = await own.tokens({ scope: "openid email" });
    await idp.call("clients.edit", { client_id: client, scope: "phone" });
    const { status, json } = await own.refresh(token);
    expect(status).toBe(200);
    expect(json).not.toHaveProperty("scope");
  });
});

describe("not a refresh token of this client", () => {
  test("an access token, an ID token, another client's, one of another server: invalid_grant", async () => {
    const { access_token: access, id_token: id } = await app.tokens();
    const { refresh_token: foreign } = await (await register(idp)).tokens();
    const elsewhere = await (await register(await serve())).tokens();
    for (const wrong of [access, id, foreign, elsewhere.refresh_token, "x.y.z"]) {
      const { status, json } = await app.refresh(wrong);
      expect([status, json.error]).toEqual([400, "invalid_grant"]);
      expect(json.error_description).not.toContain(wrong);
    }
    expect((await (await register(idp)).refresh(foreign)).json.error).toBe("invalid_grant");
  });

  test("a client without the grant may not refresh", async () => {
    const own = await register(idp, { grant_types: ["authorization_code"] });
    const { refresh_token: token } = await own.tokens();
    expect((await own.refresh(token)).json.error).toBe("unauthorized_client");
  });
});
