import { describe, expect, test } from "vitest";
import { enroll, register, serve, type App } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** Revoking a grant kills every token and unused code of that user and client at once and permanently. */

const clock = testClock();
const idp = await serve({ now: clock.now });

const ways: [name: string, revoke: (app: App, browser: Browser) => Promise<unknown>][] = [
  ["library", (app) => idp.revoke({ user: "alice", client: app.credentials.client_id })],
  ["control API", (app) => api("/revoke", { user: "alice", client: app.credentials.client_id })],
  [
    "control API, by the grant's id",
    async (app) => {
      const [grant] = await idp.call("grants.list", { user: "alice", client: app.credentials.client_id });
      return api("/revoke", { grant: grant?.id });
    },
  ],
  [
    "account page",
    async (app, browser) => {
      const page = await browser.open(`/account/apps/${app.credentials.client_id}/remove`);
      return browser.press(page, "account-revoke-confirm");
    },
  ],
];

const api = (path: string, body: object) =>
  fetch(`${idp.issuer}/_idp/api${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${idp.adminToken}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

describe.each(ways)("by the %s", (_name, revoke) => {
  test("tokens, refreshed tokens and unused codes die at once, and stay dead after a new consent", async () => {
    const app = await register(idp);
    const { browser, code } = await app.signIn();
    const first = (await app.exchange(code)).json;
    const refreshed = (await app.refresh(first.refresh_token)).json;
    const { code: unused } = await app.signIn({ browser });

    await revoke(app, browser);
    const areDead = async () => {
      for (const token of [first.access_token, refreshed.access_token]) {
        expect((await userinfo(idp, token)).json).toEqual({
          error: "access_revoked",
          error_description: "Access revoked by user",
          message: "Access revoked by user",
        });
      }
      const refusal = await app.refresh(refreshed.refresh_token);
      expect([refusal.status, refusal.json.error]).toEqual([400, "invalid_grant"]);
      expect(refusal.json.error_description).toMatch(/Access revoked by user/);
      const redeemed = await app.exchange(unused);
      expect([redeemed.status, redeemed.json.error]).toEqual([400, "invalid_grant"]);
      expect(redeemed.json.error_description).toMatch(/Access revoked by user/);
    };
    await areDead();

    const consent = await browser.open(app.url());
    expect(consent.page).toBe("consent");
    const { left } = await browser.press(consent, "consent-allow");
    const fresh = (await app.exchange(left?.searchParams.get("code") ?? "")).json;
    expect((await userinfo(idp, fresh.access_token)).status).toBe(200);
    await areDead();
    expect((await userinfo(idp, fresh.access_token)).status).toBe(200);
  });

  test("the user's session stays: no sign-in is asked for", async () => {
    const app = await register(idp);
    const { browser } = await app.signIn();
    await revoke(app, browser);
    expect((await browser.open(app.url())).page).toBe("consent");
  });

  test("tokens of other users and of other clients live on", async () => {
    const [app, other] = [await register(idp), await register(idp)];
    const bob = await app.tokens({ user: "bob" });
    const { browser } = await app.signIn();
    const { access_token: elsewhere } = await other.tokens({ browser });
    await revoke(app, browser);
    const statuses = [await userinfo(idp, bob.access_token), await userinfo(idp, elsewhere)].map(
      ({ status }) => status,
    );
    expect(statuses).toEqual([200, 200]);
  });
});

describe("selection", () => {
  test("a user alone: all of that user's grants; a client alone: all of that client's", async () => {
    const user = await enroll(idp);
    const [one, two] = [await register(idp), await register(idp)];
    const tokens = [await one.tokens({ user }), await two.tokens({ user }), await one.tokens({ user: "bob" })];
    const statuses = async () =>
      Promise.all(tokens.map(async ({ access_token }) => (await userinfo(idp, access_token)).status));
    expect((await idp.revoke({ user })).revoked).toHaveLength(2);
    expect(await statuses()).toEqual([403, 403, 200]);
    expect((await idp.revoke({ client: one.credentials.client_id })).revoked).toHaveLength(1);
    expect(await statuses()).toEqual([403, 403, 403]);
  });

  test("known names without an active grant: nothing is revoked, without an error", async () => {
    const app = await register(idp);
    expect(await idp.revoke({ user: "alice", client: app.credentials.client_id })).toEqual({ revoked: [] });
    await app.signIn();
    expect((await idp.revoke({ client: app.credentials.client_id })).revoked).toHaveLength(1);
    expect(await idp.revoke({ client: app.credentials.client_id })).toEqual({ revoked: [] });
  });

  test.each([{ user: "nobody" }, { client: "nobody" }, { grant: "g_none" }, { user: "alice", client: "nobody" }])(
    "unknown names: %j",
    async (selection) => {
      await expect(idp.revoke(selection)).rejects.toMatchObject({ code: "not_found" });
    },
  );
});

test("a revoked grant says when; an active one does not", async () => {
  const app = await register(idp);
  const client = app.credentials.client_id;
  const { browser } = await app.signIn();
  clock.pass(10);
  const at = new Date(clock.now()).toISOString();
  const { revoked } = await idp.revoke({ client });
  expect(revoked).toMatchObject([{ status: "revoked", revokedAt: at, updatedAt: at }]);
  clock.pass(10);
  await app.signIn({ browser });
  const [again] = await idp.call("grants.list", { client });
  expect(again).toMatchObject({ id: revoked[0]?.id, status: "active", revokedAt: null });
});
