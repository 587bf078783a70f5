import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { callback, jwtPart, paths, userinfo, type Body } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** The grant authorization_code: a code is used once, by its client, in time. */

const clock = testClock();
const idp = await serve({ now: clock.now });
const app = await register(idp);

describe("a code", () => {
  test("is opaque: 256 random bits as base64url, another each time", async () => {
    const { browser, code } = await app.signIn();
    const codes = [code, (await app.signIn({ browser })).code, (await app.signIn({ browser })).code];
    for (const one of codes) expect(Buffer.from(one, "base64url")).toHaveLength(32);
    expect(new Set(codes).size).toBe(3);
  });

  test("lives 60 seconds, to the second", async () => {
    const { browser, code: lasts } = await app.signIn();
    const { code: ends } = await app.signIn({ browser });
    clock.pass(59);
    expect((await app.exchange(lasts)).status).toBe(200);
    clock.pass(1);
    const { status, json } = await app.exchange(ends);
    expect([status, json.error]).toEqual([400, "invalid_grant"]);
    expect(json.error_description).toBe("code expired 0 s ago: codes live 60 s");
  });

  test("lives as long as the setting code_ttl says", async () => {
    const quick = await serve({ now: clock.now, settings: { code_ttl: 5 } });
    const own = await register(quick);
    const { browser, code: lasts } = await own.signIn();
    const { code: ends } = await own.signIn({ browser });
    clock.pass(4);
    expect((await own.exchange(lasts)).status).toBe(200);
    clock.pass(1);
    expect((await own.exchange(ends)).json.error_description).toMatch(/codes live 5 s/);
  });

  test("is another client's: refused, and stays valid for its client", async () => {
    const stranger = await register(idp);
    const { code } = await app.signIn();
    expect((await stranger.exchange(code)).json.error).toBe("invalid_grant");
    expect((await app.exchange(code)).status).toBe(200);
  });

  test("gives what is granted now: a scope that was unticked meanwhile is in none of its tokens", async () => {
    const own = await register(idp);
    const { browser, code } = await own.signIn({ scope: "openid email phone" });
    const again = await browser.open(own.url({ scope: "openid email phone", prompt: "consent" }));
    await browser.press(again, "consent-allow", { scope: ["openid", "phone"] });
    const { json } = await own.exchange(code);
    expect(json.scope).toBe("openid phone");
    expect(jwtPart(json.access_token, 1)["scope"]).toBe("openid phone");
    expect(jwtPart(json.refresh_token, 1)["scope"]).toBe("openid phone");
    expect(jwtPart(json.id_token, 1)).not.toHaveProperty("email");
  });

  test("gives what its client may ask for now", async () => {
    const own = await register(idp);
    const { code } = await own.signIn({ scope: "openid email phone" });
    await idp.call("clients.edit", { client_id: own.credentials.client_id, scope: "openid phone" });
    expect((await own.exchange(code)).json.scope).toBe("openid phone");
  });

  test.each(["/more", "?a=1", "#", "/", " "])(
    "is exchanged with the very redirect_uri of its request, without %j after it",
    async (more) => {
      const { code } = await app.signIn();
      const { status, json } = await app.exchange(code, { redirect_uri: callback + more });
      expect([status, json]).toEqual([400, expect.objectContaining({ error: "invalid_grant" })]);
      expect((await app.exchange(code, { redirect_uri: callback.slice(0, -1) })).json.error).toBe("invalid_grant");
      expect((await app.exchange(code)).status).toBe(200);
    },
  );

  test("is in no refusal, and neither is a secret", async () => {
    const { code } = await app.signIn();
    const wrong = await app.exchange(code, { redirect_uri: "http://localhost:3000/other" });
    await app.exchange(code);
    const replay = await app.exchange(code);
    for (const { json } of [wrong, replay]) {
      expect(JSON.stringify(json)).not.toContain(code.slice(0, 12));
      expect(JSON.stringify(json)).not.toContain(app.credentials.client_secret ?? "-");
    }
  });
});

describe("used twice", () => {
  test("invalid_grant, and the tokens of the first use are dead: access, refresh, and what came of the refresh", async () => {
    const { code } = await app.signIn();
    const first = (await app.exchange(code)).json;
    const refreshed = (await app.refresh(first.refresh_token)).json;
    clock.pass(3);
    const replay = await app.exchange(code);
    expect([replay.status, replay.json.error]).toEqual([400, "invalid_grant"]);
    expect(replay.json.error_description).toMatch(
      /^code was already used 3 s ago; the tokens of its first use are revoked/,
    );
    for (const { access_token } of [first, refreshed]) {
      const { status, json, headers } = await userinfo(idp, access_token);
      expect([status, json.error]).toEqual([401, "invalid_token"]);
      expect(headers.get("www-authenticate")).toMatch(/^Bearer .*error="invalid_token"/);
    }
    expect((await app.refresh(refreshed.refresh_token)).json.error).toBe("invalid_grant");
  });

  test("after its 60 seconds too", async () => {
    const { code } = await app.signIn();
    const { access_token: token } = (await app.exchange(code)).json;
    clock.pass(120);
    expect((await app.exchange(code)).json.error_description).toMatch(/already used/);
    expect((await userinfo(idp, token)).status).toBe(401);
  });

  test("by another client: its own tokens live on", async () => {
    const stranger = await register(idp);
    const { code } = await app.signIn();
    const { access_token: token } = (await app.exchange(code)).json;
    expect((await stranger.exchange(code)).json.error).toBe("invalid_grant");
    expect((await userinfo(idp, token)).status).toBe(200);
  });

  test("the tokens of the user's other codes live on", async () => {
    const { browser, code } = await app.signIn();
    const other = (await app.exchange((await app.signIn({ browser })).code)).json;
    await app.exchange(code);
    await app.exchange(code);
    expect((await userinfo(idp, other.access_token)).status).toBe(200);
  });
});

describe("the answer", () => {
  test("form and JSON bodies mean the same", async () => {
    const members = [];
    for (const encoding of ["json", "form"]) {
      const { code } = await app.signIn();
      const body = { grant_type: "authorization_code", code, redirect_uri: callback, ...app.credentials } as Record<
        string,
        string
      >;
      const response = await fetch(idp.issuer + paths.token, {
        method: "POST",
        ...(encoding === "form"
          ? { body: new URLSearchParams(body) }
          : { body: JSON.stringify(body), headers: { "content-type": "application/json; charset=utf-8" } }),
      });
      expect(response.status).toBe(200);
      expect([response.headers.get("cache-control"), response.headers.get("pragma")]).toEqual(["no-store", "no-cache"]);
      const json = (await response.json()) as Body;
      expect(jwtPart(json.id_token, 1)["nonce"]).toBe("n-0S6_WzA2Mj");
      members.push(Object.keys(json));
    }
    expect(members[0]).toEqual(members[1]);
  });

  test("an ID token without a nonce where the request had none", async () => {
    expect(jwtPart((await app.tokens({ nonce: null })).id_token, 1)).not.toHaveProperty("nonce");
  });

  test("an ID token also where openid was not asked for, as the spec says", async () => {
    expect(jwtPart((await app.tokens({ scope: "email" })).id_token, 1)["aud"]).toBe(app.credentials.client_id);
  });

  test("the user's session may be over: the code still counts", async () => {
    const { browser, code } = await app.signIn();
    await browser.press(await browser.open("/account"), "account-signout");
    expect((await app.exchange(code)).status).toBe(200);
  });
});

describe("grant_type", () => {
  test.each([
    [null, "invalid_request", /grant_type is missing; send one of: authorization_code, refresh_token/],
    ["password", "unsupported_grant_type", /'password' is not supported/],
    [
      "refresh",
      "unsupported_grant_type",
      /'refresh' is not supported. Did you mean refresh_token\? Use one of: authoriz/,
    ],
    ["authorisation_code", "unsupported_grant_type", /^grant_type '...' .* Did you mean authorization_code\?/],
    ["authorization-code", "unsupported_grant_type", /^grant_type '...' .* Did you mean authorization_code\?/],
    [
      "client_credential",
      "unsupported_grant_type",
      /Did you mean client_credentials\? .*refresh_token, client_credentials, /,
    ],
    ["constructor", "unsupported_grant_type", /'constructor' is not supported/],
    [
      "client_credentials",
      "unauthorized_client",
      /may not use grant_type 'client_credentials': .* 'authorization_code refresh_token'$/,
    ],
  ])("%s: %s", async (grantType, error, description) => {
    const { status, json } = await app.exchange("x", { grant_type: grantType });
    expect([status, json.error]).toEqual([400, error]);
    expect(json.error_description).toMatch(description);
  });
});
