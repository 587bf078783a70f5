import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { describe, expect, onTestFinished, test } from "vitest";
import { enroll, register, type App } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { callback, paths, pick, post, userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** A change of an operator during a sign-in, or while tokens are valid, applies to these too. */

const clock = testClock();
const idp = await underAttack({ now: clock.now });
const edit = ({ credentials: { client_id } }: App, entry: Record<string, unknown>) =>
  idp.call("clients.edit", { ...entry, client_id });

describe("a client that changes between the pages", () => {
  const old = "http://localhost:3000/old";
  /** On the login page; on the consent page. */
  async function underway(change = {}) {
    const app = await register(idp, { redirect_uris: [callback, old] });
    const [asked, answered] = [new Browser(idp.issuer), new Browser(idp.issuer)];
    const url = app.url({ redirect_uri: old, ...change });
    const login = await asked.open(url);
    const consent = await pick(answered, await answered.open(url), await enroll(idp));
    expect([login.page, consent.page]).toEqual(["login", "consent"]);
    return { app, asked, login, answered, consent };
  }

  test.each<[what: string, change: (app: App) => Promise<unknown>]>([
    ["a redirect URI was taken away", (app) => edit(app, { redirect_uris: [callback] })],
    ["it was removed", ({ credentials: { client_id } }) => idp.call("clients.remove", { client_id })],
  ])("%s: no redirect goes there any more, with a code or without", async (_what, change) => {
    const { app, asked, login, answered, consent } = await underway();
    await change(app);
    for (const visit of [
      await answered.press(consent, "consent-deny"),
      await answered.press(consent, "consent-allow"),
      await answered.open(consent.url),
      await pick(asked, login, await enroll(idp)),
      await asked.press(login, "login-cancel"),
    ]) {
      expect(visit).toMatchObject({ status: 400, page: "error", left: null });
    }
  });

  test("a scope was taken away: it cannot be granted any more", async () => {
    const claims = JSON.stringify({ userinfo: { phone_number: null } });
    const { app, asked, login, answered, consent } = await underway({ scope: "openid email", claims });
    const user = await enroll(idp);
    await edit(app, { scope: "openid phone" });
    for (const { left } of [await answered.press(consent, "consent-allow"), await pick(asked, login, user)])
      expect(left?.searchParams.get("error")).toBe("invalid_scope");
    await edit(app, { scope: "openid email" });
    expect((await answered.press(consent, "consent-allow")).left?.searchParams.get("error")).toBe("invalid_scope");
    await edit(app, { scope: "openid email phone" });
    expect((await answered.press(consent, "consent-allow")).left?.searchParams.has("code")).toBe(true);
  });

  test("a client that may no longer use codes gets none", async () => {
    const { app, answered, consent } = await underway();
    await edit(app, { grant_types: ["refresh_token"] });
    const { left } = await answered.press(consent, "consent-allow");
    expect(left?.searchParams.get("error")).toBe("unauthorized_client");
  });
});

test("no redirect goes to a post-logout address that was removed meanwhile", async () => {
  const old = "http://localhost:3000/bye";
  const app = await register(idp, { post_logout_redirect_uris: [old, "http://localhost:3000/"] });
  const { browser } = await app.signIn();
  const { client_id } = app.credentials;
  const query = new URLSearchParams({ client_id, post_logout_redirect_uri: old, state: "x" });
  const asks = await browser.open(`/api/v2/oauth/logout?${query.toString()}`);
  await edit(app, { post_logout_redirect_uris: ["http://localhost:3000/"] });
  expect(await browser.press(asks, "logout-confirm")).toMatchObject({ page: "signed-out", left: null });
});

describe("a device that waits while its client changes", () => {
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  async function waiting(user: string) {
    const app = await register(idp, { grant_types: [grant_type], redirect_uris: [] });
    const sent = { scope: "openid email", ...app.credentials } as Record<string, string>;
    const init = { headers: {}, body: new URLSearchParams(sent) };
    const { json } = await post(idp, "/api/v2/oauth/device_authorization", {}, init);
    const browser = new Browser(idp.issuer);
    await pick(browser, await browser.open("/account"), user);
    const open = () => browser.open(`/device?user_code=${String(json["user_code"])}`);
    const poll = () =>
      post(idp, paths.token, { grant_type, device_code: String(json["device_code"]), ...app.credentials });
    return { app, browser, open, page: await open(), poll };
  }

  test("a scope was taken away: its user cannot grant it any more", async () => {
    const user = await enroll(idp);
    const { app, browser, page, poll } = await waiting(user);
    await edit(app, { scope: "openid phone" });
    await browser.press(page, "device-allow");
    expect((await poll()).json.scope).toBe("openid");
    expect(await idp.call("grants.list", { user })).toMatchObject([{ scope: "openid" }]);
    const nothing = await waiting(user);
    await edit(nothing.app, { scope: "phone" });
    expect((await nothing.open()).state).toBe("invalid");
    expect((await nothing.browser.press(nothing.page, "device-allow")).state).toBe("invalid");
  });

  test("a request of a removed client is refused for a new client of the same id", async () => {
    const { app, browser, open, page, poll } = await waiting(await enroll(idp));
    const { client_id, client_secret } = app.credentials;
    await idp.call("clients.remove", { client_id });
    await idp.call("clients.add", {
      client_id,
      client_secret: client_secret ?? "",
      grant_types: [grant_type],
    });
    expect((await browser.press(page, "device-allow")).state).toBe("invalid");
    expect((await open()).state).toBe("invalid");
    expect((await poll()).json.error).toBe("invalid_grant");
  });
});

describe("a proof that is replaced while it is checked", () => {
  test("the old password of a user signs nobody in", async () => {
    const [alice, other] = [await enroll(idp, { password: "old" }), await enroll(idp, { password: "x" })];
    const [browser, busy] = [new Browser(idp.issuer), new Browser(idp.issuer)];
    const [page, before] = [await browser.open("/account"), await busy.open("/account")];
    const guess = (who: Browser, at: typeof page, username: string, password: string) =>
      who.press(at, "login-submit", { username, password });
    // Passwords are worked out a few at a time: the last one waits for all of these.
    const others = Array.from({ length: 25 }, () => guess(busy, before, other, "wrong"));
    let isChanged = false;
    const last = guess(browser, page, alice, "old").then(({ status }) => ({ status, isChanged }));
    await others[0];
    await idp.call("users.edit", { username: alice, password: "new" });
    isChanged = true;
    expect(await last).toEqual({ status: 401, isChanged: true });
    await Promise.all(others);
    expect((await guess(browser, page, alice, "new")).page).toBe("account");
  });

  test("keys that were removed from a client while they were fetched are not accepted", async () => {
    const [old, current] = await Promise.all(
      [1, 2].map(async () => {
        const { publicKey, privateKey } = await generateKeyPair("ES256");
        return { jwks: { keys: [await exportJWK(publicKey)] }, privateKey };
      }),
    );
    let whileAsked = (): Promise<unknown> => Promise.resolve();
    const keys = createServer((_req, res) => {
      void whileAsked().then(() => res.end(JSON.stringify(old?.jwks)));
    });
    await new Promise<void>((resolve) => keys.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      keys.close();
    });
    const jwks_uri = `http://127.0.0.1:${(keys.address() as AddressInfo).port}/`;
    const app = await register(idp, {
      token_endpoint_auth_method: "private_key_jwt",
      grant_types: ["client_credentials"],
      jwks_uri,
    });
    const { client_id } = app.credentials;
    const ask = async () =>
      post(idp, paths.token, {
        grant_type: "client_credentials",
        client_id: null,
        client_secret: null,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: await new SignJWT({ jti: crypto.randomUUID() })
          .setProtectedHeader({ alg: "ES256" })
          .setIssuer(client_id)
          .setSubject(client_id)
          .setAudience(idp.issuer)
          .setExpirationTime(Math.floor(clock.now() / 1000) + 60)
          .sign(old?.privateKey ?? new Uint8Array()),
      });
    expect((await ask()).status).toBe(200);
    whileAsked = () => edit(app, { jwks_uri: null, jwks: current?.jwks });
    const { status, json } = await ask();
    expect({ status, error: json.error }).toEqual({ status: 401, error: "invalid_client" });
    expect(json.error_description).toContain("was changed while it was checked");
  });
});

describe("shorter lifetimes while tokens are out", () => {
  const settings = (refresh_token_ttl: number, access_token_ttl: number) =>
    idp.call("seed", { settings: { refresh_token_ttl, access_token_ttl } });

  test("a token that was rotated or revoked before stays dead for its whole former lifetime", async () => {
    const app = await register(idp);
    const [rotated, revoked, replayed] = [await app.tokens(), await app.tokens(), await app.signIn()];
    const { json: first } = await app.exchange(replayed.code);
    await settings(60, 60);
    expect((await app.refresh(rotated.refresh_token)).status).toBe(200);
    await post(idp, paths.revoke, { token: revoked.refresh_token, ...app.credentials });
    await app.exchange(replayed.code);
    clock.pass(120);
    for (const { access_token, refresh_token } of [revoked, first]) {
      expect((await userinfo(idp, access_token)).status).toBe(401);
      expect((await app.refresh(refresh_token)).json.error).toBe("invalid_grant");
    }
    expect((await app.refresh(rotated.refresh_token)).json.error_description).toMatch(/already rotated/);
    expect((await userinfo(idp, rotated.access_token)).status).toBe(401);
    await settings(604_800, 1800);
  });

  test("also where tokens lived for a month, and a replay gave the family away", async () => {
    const app = await register(idp);
    await settings(2_592_000, 2_592_000);
    const { code } = await app.signIn();
    const { json: first } = await app.exchange(code);
    await settings(60, 60);
    await app.exchange(code);
    clock.pass(8 * 86_400);
    expect((await userinfo(idp, first.access_token)).status).toBe(401);
    expect((await app.refresh(first.refresh_token)).json.error).toBe("invalid_grant");
    await settings(604_800, 1800);
  });

  test("a key that was rotated is kept for those it signed, of clients that speak for themselves too", async () => {
    const own = await underAttack({ now: clock.now });
    const app = await register(own, { grant_types: ["client_credentials"] });
    const lives = (access_token_ttl: number) => own.call("seed", { settings: { access_token_ttl } });
    await lives(2_592_000);
    const { json } = await post(own, paths.token, { grant_type: "client_credentials", ...app.credentials });
    await lives(60);
    await own.call("keys.rotate", {});
    clock.pass(8 * 86_400);
    const { json: told } = await post(own, "/api/v2/oauth/introspect", {
      token: json.access_token,
      ...app.credentials,
    });
    expect(told.active).toBe(true);
  });

  test("the record of a family expires with its longest-lived token", async () => {
    const short = await underAttack({ now: clock.now, settings: { refresh_token_ttl: 60, access_token_ttl: 60 } });
    const app = await register(short);
    const tokens = await app.tokens();
    await app.refresh(tokens.refresh_token);
    const document = (await short.call("export", {})) as {
      readonly families: readonly { readonly expiresAt: number }[];
    };
    // Their end is noted exact to a day.
    expect(document.families.map(({ expiresAt }) => expiresAt <= clock.now() + (61 + 86_400) * 1000)).toEqual([true]);
  });
});
