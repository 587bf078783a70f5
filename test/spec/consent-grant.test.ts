import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { Browser, type Visit } from "../helpers/browser.ts";
import { pick, userinfo } from "../helpers/client.ts";

/** The spec's flow and its table of the states of a consent grant, a test a row. */

const idp = await serve();

/** The grants of a client, as an operator sees them. */
const grantsOf = async (client: string) =>
  (await idp.call("grants.list", { client })).map(({ user, scope, status }) => ({ user, scope, status }));

/** Removes the app on the account page, as its user does. */
async function removeApp(browser: Browser, client: string): Promise<Visit> {
  const asks = await browser.open(`/account/apps/${client}/remove`);
  return browser.press(asks, "account-revoke-confirm");
}

describe("Flow", () => {
  test("1 to 5: redirect, login, consent, code and state, tokens, UserInfo", async () => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    const login = await browser.open(app.url({ state: "s1", nonce: "n1" }));
    expect(login.page).toBe("login");
    const consent = await pick(browser, login, "alice");
    expect(consent.page).toBe("consent");
    const { left } = await browser.press(consent, "consent-allow");
    expect(left?.searchParams.get("state")).toBe("s1");
    const { json: tokens } = await app.exchange(left?.searchParams.get("code") ?? "");
    expect((await userinfo(idp, tokens.access_token)).json["user"]).toMatchObject({ username: "alice" });
  });
});

describe("Consent grant", () => {
  test("(none) → user approves → grant exists, scopes recorded; redirect with `code` and `state`; a return is seamless", async () => {
    const app = await register(idp);
    const { client_id: client } = app.credentials;
    expect(await grantsOf(client)).toEqual([]);
    const { browser, back } = await app.signIn({ scope: "openid email" });
    expect(back.searchParams.has("code")).toBe(true);
    expect(await grantsOf(client)).toEqual([{ user: "alice", scope: "openid email", status: "active" }]);
    const { left } = await browser.open(app.url({ scope: "openid email", state: "again" }));
    expect(left?.searchParams.get("state")).toBe("again");
    expect(left?.searchParams.has("code")).toBe(true);
  });

  test("(none) → user approves → condition: the user is authenticated", async () => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    const login = await browser.open(app.url());
    const straight = await browser.open(login.url.replace(/login$/, "consent"));
    expect(straight.page).toBe("login");
    expect(await grantsOf(app.credentials.client_id)).toEqual([]);
  });

  test("(none) → user denies → (none); redirect with `error=access_denied`, `error_description`, `state`", async () => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    const consent = await pick(browser, await browser.open(app.url({ state: "s1" })), "alice");
    const { left } = await browser.press(consent, "consent-deny");
    expect(Object.fromEntries(left?.searchParams ?? [])).toMatchObject({
      error: "access_denied",
      error_description: "The user denied the request",
      state: "s1",
    });
    expect(await grantsOf(app.credentials.client_id)).toEqual([]);
    expect((await browser.open(app.url())).page).toBe("consent");
  });

  test("Grant exists → user revokes in the account settings → Grant revoked; all tokens of that client and user die: 403", async () => {
    const app = await register(idp);
    const other = await register(idp);
    const { browser, code } = await app.signIn();
    const first = (await app.exchange(code)).json;
    const second = await app.tokens({ browser });
    const untouched = [await other.tokens({ browser }), await app.tokens({ user: "bob" })];
    expect((await removeApp(browser, app.credentials.client_id)).state).toBe("removed");
    for (const { access_token, refresh_token } of [first, second]) {
      const { status, json } = await userinfo(idp, access_token);
      expect([status, json["message"]]).toEqual([403, "Access revoked by user"]);
      expect((await app.refresh(refresh_token)).json.error).toBe("invalid_grant");
    }
    for (const { access_token } of untouched) expect((await userinfo(idp, access_token)).status).toBe(200);
    expect(await grantsOf(app.credentials.client_id)).toContainEqual(
      expect.objectContaining({ user: "alice", status: "revoked" }),
    );
  });

  test("Grant revoked → user re-authenticates through the authorization endpoint → Grant exists", async () => {
    const app = await register(idp);
    const { browser, code } = await app.signIn();
    const old = (await app.exchange(code)).json;
    await removeApp(browser, app.credentials.client_id);
    const asked = await browser.open(app.url());
    expect(asked.page).toBe("consent");
    const { left } = await browser.press(asked, "consent-allow");
    const fresh = (await app.exchange(left?.searchParams.get("code") ?? "")).json;
    expect((await userinfo(idp, fresh.access_token)).status).toBe(200);
    expect((await userinfo(idp, old.access_token)).status).toBe(403);
    expect(await grantsOf(app.credentials.client_id)).toEqual([expect.objectContaining({ status: "active" })]);
  });
});
