import { describe, expect, test } from "vitest";
import { tokenFlaws } from "../../src/core/testing/controls/faults/flaws/access-token.ts";
import { enroll, register, serve } from "../helpers/app.ts";
import { jwtPart, post, userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** Single tokens, good ones with other claims and bad ones: the latter are refused by this server too, now and later. */

const clock = testClock();
const idp = await serve({ now: clock.now });
const app = await register(idp);
const whose = { user: "alice", client: app.credentials.client_id };
const seconds = (): number => Math.floor(clock.now() / 1000);

const introspect = async (token: string): Promise<unknown> =>
  (await post(idp, "/api/v2/oauth/introspect", { ...app.credentials, token })).json["active"];

describe("a valid token", () => {
  test("carries claims, lifetime and audience as asked for, and is good for use", async () => {
    const claims = { tenant: "acme", roles: ["admin"], email: "other@example.com" };
    const issued = await idp.call("token.issue", { ...whose, claims, expires_in: 60, audience: "https://api.test" });
    expect(issued).toEqual({ token: expect.any(String), type: "access", expires_in: 60, warnings: [] });
    const payload = jwtPart(issued.token, 1);
    expect(payload).toMatchObject({ ...claims, aud: "https://api.test", iat: seconds(), exp: seconds() + 60 });
    expect((await userinfo(idp, issued.token)).status).toBe(200);
    clock.pass(60);
    expect((await userinfo(idp, issued.token)).status).toBe(401);
  });

  test("of a client that speaks for itself needs no user", async () => {
    const { token } = await idp.call("token.issue", { client: "demo-service", claims: { tenant: "acme" } });
    expect(jwtPart(token, 1)).toMatchObject({ sub: "demo-service", client_id: "demo-service", tenant: "acme" });
    expect(await introspect(token)).toBe(true);
  });

  test("an ID token with another nonce, and a refresh token that refreshes", async () => {
    const id = await idp.call("token.issue", { ...whose, type: "id", claims: { nonce: "n", acr: "2" } });
    expect(jwtPart(id.token, 1)).toMatchObject({ aud: whose.client, nonce: "n", acr: "2" });
    const { token } = await idp.call("token.issue", { ...whose, type: "refresh", expires_in: 60 });
    expect((await app.refresh(token)).status).toBe(200);
    clock.pass(60);
    expect((await app.refresh(token)).json.error).toBe("invalid_grant");
  });
});

describe("claims give a token no right that its grant does not hold", () => {
  test.each(
    "iss sub aud client_id scope exp iat nbf jti cnf act may_act events grant epoch client_epoch exchanged_from family era generation".split(
      " ",
    ),
  )("%s cannot be set", async (name) => {
    await expect(idp.call("token.issue", { ...whose, claims: { [name]: "x" } })).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining(`claims.${name} "${name}" cannot be set`),
    });
  });

  test("UserInfo follows the grant, whatever claims are set", async () => {
    const claims = { id: "1", user: { username: "bob" }, scopes: "email", email: "bob@example.com", __proto__: null };
    const { token } = await idp.call("token.issue", { ...whose, scope: "openid", claims });
    const { json } = await userinfo(idp, token);
    expect(json).toMatchObject({ id: "7123456789012345678", user: { username: "alice" } });
    expect(json["user"]).not.toHaveProperty("email");
  });
});

describe.each(tokenFlaws)("a token that is bad on purpose: %s", (flaw) => {
  test("an access token is refused here, at once and later", async () => {
    const { token, warnings } = await idp.call("token.issue", { ...whose, [flaw]: true });
    expect(warnings).toEqual([expect.stringContaining(`${flaw.replaceAll("_", "-")}: this token is bad on purpose`)]);
    for (const wait of [0, 3601]) {
      clock.pass(wait);
      expect((await userinfo(idp, token)).status).toBe(401);
      expect(await introspect(token)).toBe(false);
      expect(await idp.call("token.introspect", { token })).toMatchObject({ active: false });
      expect((await idp.call("token.verify", { token })).valid).toBe(false);
    }
  });

  test("it cannot be exchanged", async () => {
    const { token } = await idp.call("token.issue", { ...whose, [flaw]: true });
    const own = await register(idp, { grant_types: ["urn:ietf:params:oauth:grant-type:token-exchange"] });
    const { status, json } = await post(idp, "/api/v2/oauth/token", {
      ...own.credentials,
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: token,
      subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
    });
    expect([status, json.error]).toEqual([400, "invalid_request"]);
  });
});

// A refresh token has no audience.
test.each(tokenFlaws.filter((flaw) => !flaw.includes("audience")))(
  "a bad refresh token (%s) does not refresh, and the good ones stay valid",
  async (flaw) => {
    const good = await idp.call("token.issue", { ...whose, type: "refresh" });
    const { token } = await idp.call("token.issue", { ...whose, type: "refresh", [flaw]: true });
    for (const wait of [0, 3601]) {
      clock.pass(wait);
      expect((await app.refresh(token)).json.error).toBe("invalid_grant");
    }
    expect((await app.refresh(good.token)).status).toBe(200);
  },
);

test("a token can be bound to a key", async () => {
  const jkt = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I";
  const { token } = await idp.call("token.issue", { ...whose, dpop_jkt: jkt });
  expect(jwtPart(token, 1)).toMatchObject({ cnf: { jkt } });
});

test("a bad token is wrong only in the requested way", async () => {
  const made = async (change: object) => {
    const { token } = await idp.call("token.issue", { ...whose, ...change });
    return { header: jwtPart(token, 0), payload: jwtPart(token, 1), signature: token.split(".")[2] ?? "" };
  };
  const good = await made({});
  const now = seconds();
  expect((await made({ expired: true })).payload).toMatchObject({ iat: now - 5400, exp: now - 3600 });
  expect((await made({ expired_10m: true })).payload).toMatchObject({ iat: now - 2400, exp: now - 600 });
  expect((await made({ audience: ["https://api.test"] })).payload["aud"]).toEqual(["https://api.test"]);
  expect((await made({ not_yet_valid: true })).payload).toMatchObject({ iat: now, nbf: now + 3600, exp: now + 5400 });
  expect((await made({ wrong_issuer: true })).payload).toMatchObject({ iss: "https://wrong-issuer.invalid" });
  expect((await made({ wrong_audience: true })).payload).toMatchObject({ aud: "https://wrong-audience.invalid" });
  const { iss, aud } = good.payload;
  expect((await made({ issuer_prefix: true })).payload).toMatchObject({ iss: `${String(iss)}/more` });
  expect((await made({ issuer_slash: true })).payload).toMatchObject({ iss: `${String(iss)}/` });
  expect((await made({ audience_contains: true })).payload).toMatchObject({ aud: `${String(aud)}/more` });
  const critical = await made({ crit: true });
  expect(critical.header).toEqual({ ...good.header, crit: ["unknown-extension"], "unknown-extension": true });
  for (const [flaw, claim] of [
    ["missing_issuer", "iss"],
    ["missing_audience", "aud"],
    ["missing_expiry", "exp"],
  ] as const) {
    const { [claim]: _left, ...others } = good.payload;
    expect(Object.keys((await made({ [flaw]: true })).payload)).toEqual(Object.keys(others));
  }
  expect((await made({ wrong_type: true })).header).toEqual({ ...good.header, typ: "rt+jwt" });
  expect((await made({ bad_signature: true })).header).toEqual(good.header);
  const unknown = await made({ unknown_kid: true });
  expect(unknown.header["kid"]).not.toBe(good.header["kid"]);
  expect(unknown.signature).toHaveLength(good.signature.length);
  const none = await made({ alg_none: true });
  expect(none).toMatchObject({ header: { alg: "none", typ: "at+jwt" }, signature: "" });
  const both = await made({
    ...{ expired: true, wrong_issuer: true, wrong_audience: true, alg_none: true },
    ...{ expires_in: 60, audience: "https://api.test" },
  });
  expect(both.header["alg"]).toBe("none");
  expect(both.payload).toMatchObject({
    ...{ iat: now - 3660, exp: now - 3600 },
    ...{ iss: "https://wrong-issuer.invalid", aud: "https://wrong-audience.invalid" },
  });
});

test("an access token with crit is refused for it", async () => {
  const critical = await userinfo(idp, (await idp.call("token.issue", { ...whose, crit: true })).token);
  expect([critical.status, critical.json.error_description]).toEqual([
    401,
    "the token's header has 'crit', and no extension is known here",
  ]);
});

test("an ID token that is bad on purpose signs nobody out", async () => {
  for (const flaw of ["not_yet_valid", "wrong_issuer", "bad_signature", "unknown_kid", "alg_none"] as const) {
    const { token } = await idp.call("token.issue", { ...whose, type: "id", [flaw]: true });
    const { browser } = await app.signIn();
    const visit = await browser.open(`/api/v2/oauth/logout?id_token_hint=${token}`);
    expect([flaw, visit.status]).toEqual([flaw, 400]);
    expect((await browser.open("/account")).page).toBe("account");
  }
});

describe("contradictions are refused", () => {
  test.each([
    [{ expired: true, not_yet_valid: true }, "expired excludes not_yet_valid"],
    [{ bad_signature: true, alg_none: true }, "bad_signature excludes alg_none"],
    [{ unknown_kid: true, bad_signature: true }, "bad_signature excludes unknown_kid"],
    [{ type: "refresh", audience: "x" }, "audience is not for a refresh token"],
    [{ type: "refresh", wrong_audience: true }, "wrong_audience is not for a refresh token"],
    [{ type: "refresh", missing_audience: true }, "missing_audience is not for a refresh token"],
    [{ expired: true, missing_expiry: true }, "expired excludes missing_expiry"],
    [{ wrong_issuer: true, issuer_slash: true }, "wrong_issuer excludes issuer_slash"],
    [{ missing_audience: true, audience_contains: true }, "missing_audience excludes audience_contains"],
    [{ type: "refresh", audience_contains: true }, "audience_contains is not for a refresh token"],
    [{ type: "id", dpop_jkt: "x".repeat(43) }, "dpop_jkt is for an access token alone"],
    [{ dpop_jkt: "x" }, "dpop_jkt is not a SHA-256 thumbprint"],
    [{ type: "refresh", claims: { a: 1 } }, "claims are not for a refresh token"],
    [{ type: "opaque" }, 'type "opaque" is not one of access, id, refresh'],
    [{ claims: ["a"] }, "claims must be an object"],
    [{ expires_in: 0 }, "expires_in must be a whole number of at least 1"],
    [{ expires_in: 315_360_001 }, "expires_in must be a whole number of at most 315360000"],
    [{ expires_in: 1.5 }, "expires_in must be a whole number"],
    [{ user: undefined, client: "demo-service", type: "id" }, "type must be access for a client without a user"],
  ])("%j", async (change, message) => {
    await expect(idp.call("token.issue", { ...whose, ...(change as object) })).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining(message),
    });
  });

  test.each([
    [{ expires_in: 604_801 }, "expires_in is at most 604800 seconds"],
    [{ user: undefined }, "may not use client_credentials, so a user is needed"],
  ])("%j: the settings or the client do not allow it", async (change, message) => {
    await expect(idp.call("token.issue", { ...whose, ...change })).rejects.toMatchObject({
      code: "refused",
      message: expect.stringContaining(message),
    });
  });

  test("what the rules of a sign-in refuse", async () => {
    const user = await enroll(idp, { status: "suspended" });
    await expect(idp.call("token.issue", { ...whose, user })).rejects.toMatchObject({ code: "refused" });
    await expect(idp.call("token.issue", { ...whose, scope: "nonsense" })).rejects.toMatchObject({ code: "refused" });
  });
});
