import { describe, expect, test } from "vitest";
import { enroll, register, serve, type App } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { callback, jwtPart, paths, pick, post, userinfo, type Answer } from "../helpers/client.ts";

/** Users and clients that are removed or changed while something is under way. */

const idp = await serve();
const removeUser = (username: string) => idp.call("users.remove", { username });
/** As an operator gives them. */
const credentialsOf = ({ credentials: { client_id, client_secret } }: App) => ({
  client_id,
  client_secret: client_secret ?? "",
});
const removeClient = ({ credentials: { client_id } }: App) => idp.call("clients.remove", { client_id });

const isDead = ({ status, json }: Answer): void => {
  expect([status, json.error]).toEqual([401, "invalid_token"]);
};

describe("a user is removed", () => {
  const app = { current: null as App | null };
  /** Tokens, an unused code, and a browser of a user who then is gone. */
  async function gone() {
    const own = (app.current ??= await register(idp));
    const user = await enroll(idp);
    const { browser, code } = await own.signIn({ user });
    const { json: tokens } = await own.exchange(code);
    const { code: unused } = await own.signIn({ user, browser });
    await removeUser(user);
    return { own, user, browser, tokens, unused };
  }

  test("UserInfo: 401", async () => {
    const { tokens } = await gone();
    isDead(await userinfo(idp, tokens.access_token));
  });

  test("neither code nor refresh token passes, and introspection says inactive", async () => {
    const { own, tokens, unused } = await gone();
    for (const { status, json } of [await own.exchange(unused), await own.refresh(tokens.refresh_token)]) {
      expect([status, json.error]).toEqual([400, "invalid_grant"]);
      expect(json.error_description).toMatch(/no longer exists/);
    }
    const { json } = await post(idp, "/api/v2/oauth/introspect", { token: tokens.access_token, ...own.credentials });
    expect(json).toEqual({ active: false });
  });

  test("the session is gone, and so are the grants", async () => {
    const { own, user, browser } = await gone();
    expect((await browser.open(own.url())).page).toBe("login");
    const grants = await idp.call("grants.list", { client: own.credentials.client_id });
    expect(grants.map((grant) => grant.user)).not.toContain(user);
  });

  test("a new user of the same name inherits nothing: no token, no session, no consent", async () => {
    const { own, user, browser, tokens } = await gone();
    await idp.call("users.add", { username: user });
    expect((await userinfo(idp, tokens.access_token)).status).not.toBe(200);
    expect((await own.refresh(tokens.refresh_token)).json.error).toBe("invalid_grant");
    const login = await browser.open(own.url());
    expect(login.page).toBe("login");
    expect((await pick(browser, login, user)).page).toBe("consent");
  });

  test("between the pages: login says that they do not match, consent does not go on", async () => {
    const own = await register(idp);
    const user = await enroll(idp);
    const browser = new Browser(idp.issuer);
    const login = await browser.open(own.url());
    const consent = await pick(browser, login, user);
    await removeUser(user);
    expect((await browser.press(consent, "consent-allow")).left).toBeNull();
    expect((await pick(new Browser(idp.issuer), login, user)).left).toBeNull();
    const again = await pick(browser, await browser.open(own.url()), user);
    expect([again.status, again.state]).toEqual([401, "error-credentials"]);
  });
});

describe("a client is removed", () => {
  test("its tokens are dead, and it is unknown at every endpoint", async () => {
    const own = await register(idp);
    const { browser, code } = await own.signIn();
    const { json: tokens } = await own.exchange(code);
    const { code: unused } = await own.signIn({ browser });
    await removeClient(own);
    isDead(await userinfo(idp, tokens.access_token));
    for (const { status, json } of [await own.exchange(unused), await own.refresh(tokens.refresh_token)]) {
      expect([status, json.error]).toEqual([401, "invalid_client"]);
    }
    expect(await browser.open(own.url())).toMatchObject({ status: 400, page: "error" });
    const logout = await browser.open(`/api/v2/oauth/logout?id_token_hint=${tokens.id_token}`);
    expect(logout).toMatchObject({ status: 400, page: "error" });
  });

  test("its tokens stay dead after a new client of the same id, and are not reported as revoked", async () => {
    const own = await register(idp);
    const tokens = await own.tokens();
    await removeClient(own);
    await idp.call("clients.add", { ...credentialsOf(own), redirect_uris: [callback] });
    isDead(await userinfo(idp, tokens.access_token));
    await own.tokens();
    isDead(await userinfo(idp, tokens.access_token));
  });

  test("the account page no longer lists it", async () => {
    const own = await register(idp);
    const { browser } = await own.signIn();
    await removeClient(own);
    expect((await browser.open("/account")).body).not.toContain(own.credentials.client_id);
  });

  test("between the pages: an error page, never a redirect", async () => {
    const own = await register(idp);
    const browser = new Browser(idp.issuer);
    const login = await browser.open(own.url());
    const consent = await pick(browser, await browser.open(own.url()), "alice");
    await removeClient(own);
    const visits = [
      await pick(browser, login, "alice"),
      await browser.press(consent, "consent-allow"),
      await browser.open(consent.url),
    ];
    for (const visit of visits) expect(visit).toMatchObject({ status: 400, page: "error", left: null });
  });

  test("its origins are unknown again", async () => {
    const own = await register(idp, { redirect_uris: ["https://gone.example.test/cb"] });
    const allowed = async () => {
      const response = await fetch(idp.issuer + paths.token, {
        method: "POST",
        headers: { origin: "https://gone.example.test" },
      });
      return response.headers.get("access-control-allow-origin");
    };
    expect(await allowed()).toBe("https://gone.example.test");
    await removeClient(own);
    expect(await allowed()).toBeNull();
  });

  test("a new client of the same id inherits nothing", async () => {
    const own = await register(idp);
    const { browser, code } = await own.signIn();
    const { json: tokens } = await own.exchange(code);
    await removeClient(own);
    const { client_id, client_secret } = own.credentials;
    await idp.call("clients.add", {
      client_id,
      client_secret: client_secret ?? "",
      redirect_uris: [callback],
    });
    expect((await userinfo(idp, tokens.access_token)).status).not.toBe(200);
    expect((await own.refresh(tokens.refresh_token)).json.error).toBe("invalid_grant");
    expect((await browser.open(own.url())).page).toBe("consent");
  });

  test("nor the tokens of the client itself", async () => {
    const own = await register(idp, { grant_types: ["client_credentials"], redirect_uris: [] });
    const issued = () => post(idp, paths.token, { grant_type: "client_credentials", ...own.credentials });
    const token = (await issued()).json.access_token;
    const { client_id } = own.credentials;
    await idp.call("clients.edit", { client_id, client_name: "Changed" });
    expect(await idp.call("token.introspect", { token })).toMatchObject({ active: true });
    await removeClient(own);
    await idp.call("clients.add", { ...credentialsOf(own), grant_types: ["client_credentials"] });
    const reason = "it was issued to an earlier client of the same client_id";
    expect(await idp.call("token.introspect", { token })).toEqual({ active: false, reason });
    expect(await idp.call("token.introspect", { token: (await issued()).json.access_token })).toMatchObject({
      active: true,
    });
  });
});

describe("a change applies at once", () => {
  test("a new secret: the old one is refused", async () => {
    const own = await register(idp);
    const { client_id } = own.credentials;
    await idp.call("clients.rotate-secret", { client_id, client_secret: "the new secret" });
    expect((await own.refresh("x.y.z")).json.error).toBe("invalid_client");
    expect((await own.refresh("x.y.z", { client_secret: "the new secret" })).json.error).toBe("invalid_grant");
  });

  test("a redirect URI that was taken away is refused", async () => {
    const own = await register(idp, { redirect_uris: [callback, "http://localhost:3000/old"] });
    const { client_id } = own.credentials;
    const open = () =>
      new Browser(idp.issuer).open(own.url({ redirect_uri: "http://localhost:3000/old", prompt: "none" }));
    expect((await open()).left).not.toBeNull();
    await idp.call("clients.edit", { client_id, redirect_uris: [callback] });
    expect(await open()).toMatchObject({ status: 400, page: "error" });
  });

  test("a scope that was taken from the grant is gone from UserInfo and from the next token", async () => {
    const own = await register(idp);
    const tokens = await own.tokens({ scope: "openid email phone" });
    const { grant } = jwtPart(tokens.access_token, 1);
    await idp.call("grants.edit", { id: String(grant), scope: "openid phone" });
    const { user } = (await userinfo(idp, tokens.access_token)).json as { user?: object };
    expect(user).not.toHaveProperty("email");
    expect((await own.refresh(tokens.refresh_token)).json.scope).toBe("openid phone");
  });
});
