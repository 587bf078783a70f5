import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl, callback, jwtPart, pick, userinfo } from "../helpers/client.ts";

/** The spec's tables of the authorization endpoint, a test a row. */

const idp = await serve();

/** The page for a browser without a session. */
const open = (change: Parameters<typeof authorizeUrl>[1]) => new Browser(idp.issuer).open(authorizeUrl(idp, change));

describe("Authorization request", () => {
  test("`response_type`: `code` is taken, nothing else", async () => {
    expect((await open({ response_type: "code" })).page).toBe("login");
    const refused = await open({ response_type: "token" });
    expect(refused.left?.searchParams.get("error")).toBe("unsupported_response_type");
  });

  test("`client_id`: names the client application", async () => {
    expect((await open({ client_id: "demo-app" })).body).toContain("Demo App");
    expect(await open({ client_id: "no-such-app" })).toMatchObject({ page: "error", status: 400, left: null });
  });

  test("`redirect_uri`: where the user is sent back, and what the token endpoint wants repeated exactly", async () => {
    const app = await register(idp, { redirect_uris: ["http://localhost:3000/a?x=1", "http://localhost:3000/b"] });
    const { back, code } = await app.signIn({ redirect_uri: "http://localhost:3000/a?x=1" });
    expect(back.href.startsWith("http://localhost:3000/a?x=1&")).toBe(true);
    expect((await app.exchange(code, { redirect_uri: "http://localhost:3000/b" })).status).toBe(400);
    expect((await app.exchange(code, { redirect_uri: "http://localhost:3000/a?x=1" })).status).toBe(200);
  });

  test("`scope`: space-separated scope names", async () => {
    const app = await register(idp);
    expect((await app.tokens({ scope: "openid profile email" })).scope).toBe("openid profile email");
  });

  test.each(["af0ifjsldkj", "with spaces & signs = + % # ?", "ünïcödé ☃", "a\r\nSet-Cookie: b=c", "x".repeat(2000)])(
    "`state`: returned unchanged: %.30j",
    async (state) => {
      const app = await register(idp);
      expect((await app.signIn({ state })).back.searchParams.get("state")).toBe(state);
    },
  );

  test.each(["n-0S6_WzA2Mj", 'with spaces & signs = + % # ? "', "ünïcödé ☃"])(
    "`nonce`: copied into the ID token: %s",
    async (nonce) => {
      const app = await register(idp);
      expect(jwtPart((await app.tokens({ nonce })).id_token, 1)["nonce"]).toBe(nonce);
    },
  );
});

describe("Authorization response", () => {
  test("Approved: `code`, and the `state` that was sent", async () => {
    const app = await register(idp);
    const { back } = await app.signIn({ state: "s 1" });
    expect(back.href.startsWith(`${callback}?`)).toBe(true);
    expect(back.searchParams.get("code")).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(back.searchParams.get("state")).toBe("s 1");
  });

  test("Denied: `error` = `access_denied`, `error_description` URL-encoded, the `state` that was sent", async () => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    const consent = await pick(browser, await browser.open(app.url({ state: "s 1" })), "alice");
    const { left, headers } = await browser.press(consent, "consent-deny");
    expect(headers.get("location")).toContain(
      "error=access_denied&error_description=The+user+denied+the+request&state=s+1",
    );
    expect(Object.fromEntries(left?.searchParams ?? [])).toMatchObject({
      error: "access_denied",
      error_description: "The user denied the request",
      state: "s 1",
    });
    expect(left?.searchParams.has("code")).toBe(false);
  });
});

describe("Scopes named", () => {
  const base = ["displayName", "username", "avatar", "about"];
  test.each([
    ["openid", []],
    ["profile", []],
    ["email", ["email"]],
    ["details", ["website", "location", "birthDate"]],
    ["phone", ["phone"]],
    ["social", ["socialLinks"]],
  ])("`%s`: adds these fields to the base fields of UserInfo: %j", async (scope, fields) => {
    const app = await register(idp);
    const tokens = await app.tokens({ scope });
    const { json } = await userinfo(idp, tokens.access_token);
    expect(tokens.scope).toBe(scope);
    expect(Object.keys(json["user"] as object)).toEqual([...base, ...fields]);
  });
});
