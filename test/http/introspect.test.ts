import { describe, expect, test } from "vitest";
import { enroll, register, serve, type App } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { jwtPart, paths, post, type Parameters } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** Introspection (RFC 7662), with client authentication. */

const clock = testClock();
const idp = await serve({ now: clock.now });
const app = await register(idp);
const api = await register(idp);
const path = "/api/v2/oauth/introspect";

const introspect = (token: string | null, change: Parameters = {}, by: App = api) =>
  post(idp, path, { token, ...by.credentials, ...change });

describe("active", () => {
  test("an access token: what it says, and whose it is", async () => {
    const { access_token: token } = await app.tokens({ scope: "openid email" });
    const { status, json, headers } = await introspect(token);
    const { iat, exp, jti, auth_time } = jwtPart(token, 1);
    expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(json).toEqual({
      active: true,
      token_type: "Bearer",
      iss: idp.issuer,
      sub: "7123456789012345678",
      aud: idp.issuer,
      client_id: app.credentials.client_id,
      scope: "openid email",
      username: "alice",
      acr: "urn:idp:single-factor",
      auth_time,
      iat,
      exp,
      jti,
    });
  });

  test("a refresh token, by any hint", async () => {
    const { refresh_token: token } = await app.tokens();
    for (const hint of [null, "refresh_token", "access_token", "else"]) {
      expect((await introspect(token, { token_type_hint: hint })).json).toMatchObject({
        active: true,
        username: "alice",
      });
    }
  });

  test("a token without a user", async () => {
    const service = { client_id: "demo-service", client_secret: "demo-service-secret" };
    const { json } = await post(idp, paths.token, { grant_type: "client_credentials", ...service });
    const answer = (await introspect(json.access_token)).json;
    expect(answer).toMatchObject({ active: true, sub: "demo-service", client_id: "demo-service" });
    expect(answer).not.toHaveProperty("username");
  });

  test("the scope is what the grant still allows", async () => {
    const own = await register(idp);
    const { browser, code } = await own.signIn({ scope: "openid email", browser: new Browser(idp.issuer) });
    const { access_token: token } = (await own.exchange(code)).json;
    const consent = await browser.open(own.url({ scope: "openid email", prompt: "consent" }));
    await browser.press(consent, "consent-allow", { scope: ["openid"] });
    expect((await introspect(token)).json.scope).toBe("openid");
  });
});

describe("inactive: nothing but that", () => {
  test.each<[name: string, token: () => Promise<string>]>([
    ["no token of ours", async () => "x.y.z"],
    ["an ID token", async () => (await app.tokens()).id_token],
    ["a token of another server", async () => (await (await register(await serve())).tokens()).access_token],
    [
      "an expired one",
      async () => {
        const { access_token: token } = await app.tokens();
        clock.pass(1800);
        return token;
      },
    ],
    [
      "one its client revoked",
      async () => {
        const { access_token: token } = await app.tokens();
        await post(idp, paths.revoke, { token, ...app.credentials });
        return token;
      },
    ],
    [
      "one whose grant was revoked",
      async () => {
        const own = await register(idp);
        const { access_token: token } = await own.tokens();
        await idp.revoke({ client: own.credentials.client_id });
        return token;
      },
    ],
    [
      "one whose user is suspended",
      async () => {
        const user = await enroll(idp);
        const { access_token: token } = await app.tokens({ user });
        await idp.call("users.suspend", { username: user });
        return token;
      },
    ],
    [
      "a rotated refresh token",
      async () => {
        const { refresh_token: token } = await app.tokens();
        await app.refresh(token);
        return token;
      },
    ],
  ])("%s", async (_name, token) => {
    const { status, json } = await introspect(await token());
    expect([status, json]).toEqual([200, { active: false }]);
  });

  test("introspecting a rotated refresh token is not a reuse: its family lives on", async () => {
    const { refresh_token: first } = await app.tokens();
    const { refresh_token: second } = (await app.refresh(first)).json;
    await introspect(first);
    expect((await app.refresh(second)).status).toBe(200);
  });
});

describe("refusals", () => {
  test("a public client, which cannot prove who it is", async () => {
    const spa = await register(idp, { token_endpoint_auth_method: "none" });
    const { status, json } = await introspect("x.y.z", {}, spa);
    expect([status, json.error]).toEqual([401, "invalid_client"]);
  });

  test.each([
    ["no token", null, {}, 400, "invalid_request"],
    ["a wrong secret", "x.y.z", { client_secret: "wrong" }, 401, "invalid_client"],
    ["no client", "x.y.z", { client_id: null, client_secret: null }, 401, "invalid_client"],
  ])("%s", async (_name, token, change, status, error) => {
    const answer = await introspect(token, change);
    expect([answer.status, answer.json.error]).toEqual([status, error]);
  });
});
