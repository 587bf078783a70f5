import { describe, expect, test } from "vitest";
import type { Settings } from "../../src/core/admin/settings/table.ts";
import type { Idp } from "../../src/index.ts";
import { register, serve } from "../helpers/app.ts";
import { jwtPart, paths, post } from "../helpers/client.ts";

/** Where refresh tokens depend on `offline_access`, and tokens without scopes. */

const openid = { user: "alice", client: "demo-app", scope: "openid" };
const offline = { ...openid, scope: "openid offline_access" };
const lastOutcome = async (idp: Idp): Promise<string> => (await idp.requests.list()).at(-1)?.outcome ?? "";

describe("refresh_requires_offline_access", () => {
  test("the code gives a refresh token only where offline_access was granted, and the ledger says why there is none", async () => {
    const idp = await serve({ settings: { refresh_requires_offline_access: true } });
    const app = await register(idp);
    const without = await app.exchange((await app.signIn({ scope: "openid email" })).code);
    expect(Object.keys(without.json).sort()).toEqual(["access_token", "expires_in", "id_token", "scope", "token_type"]);
    expect(await lastOutcome(idp)).toBe(
      'authorization_code: access, id for "openid email"; no refresh token: offline_access was not granted, and the setting refresh_requires_offline_access is on',
    );
    const { refresh_token: first } = await app.tokens({ scope: "openid email offline_access" });
    // A refresh that asks for less keeps what the token family was granted.
    const { refresh_token: second } = (await app.refresh(first, { scope: "openid" })).json;
    expect((await app.refresh(second)).status).toBe(200);
    expect(await lastOutcome(idp)).not.toContain("no refresh token");
  });

  test("a refresh token from before gives no other one", async () => {
    const idp = await serve();
    const app = await register(idp);
    const { refresh_token: before } = await app.tokens({ scope: "openid" });
    await idp.call("seed", { settings: { refresh_requires_offline_access: true } });
    const { status, json } = await app.refresh(before);
    expect([status, Object.keys(json)]).toEqual([200, expect.not.arrayContaining(["refresh_token"])]);
  });

  test.each<["auth0" | "okta" | "entra" | "keycloak" | "cognito", boolean]>([
    ["auth0", true],
    ["okta", true],
    ["entra", true],
    ["keycloak", false],
    ["cognito", false],
  ])("at %s: %s", async (endpoints, isOn) => {
    const idp = await serve({ settings: { endpoints } });
    expect("refresh_token" in (await idp.issueTokens(openid))).toBe(!isOn);
    expect("refresh_token" in (await idp.issueTokens(offline))).toBe(true);
    const off = await serve({ settings: { endpoints, refresh_requires_offline_access: false } });
    expect("refresh_token" in (await off.issueTokens(openid))).toBe(true);
  });

  test("where rotation is off, the token that is kept is not repeated either", async () => {
    const settings: Partial<Settings> = { refresh_rotation: "off", refresh_requires_offline_access: true };
    const idp = await serve({ settings });
    const app = await register(idp);
    const { refresh_token: kept } = await app.tokens({ scope: "openid offline_access" });
    expect((await app.refresh(kept)).json.refresh_token).toBe(kept);
  });
});

test("without the setting, a sign-in for openid alone has a refresh token", async () => {
  expect(await (await serve()).issueTokens(openid)).toHaveProperty("refresh_token");
});

test("a token without scopes has no scope claim, counts as good, and introspection says no scope", async () => {
  const idp = await serve();
  const grant_type = "client_credentials";
  const service = await register(idp, { grant_types: [grant_type], redirect_uris: [] });
  const { json } = await post(idp, paths.token, { grant_type, ...service.credentials });
  expect(json).not.toHaveProperty("scope");
  expect(jwtPart(json.access_token, 1)).not.toHaveProperty("scope");
  const shown = (await post(idp, "/api/v2/oauth/introspect", { token: json.access_token, ...service.credentials }))
    .json;
  expect(shown["active"]).toBe(true);
  expect(shown).not.toHaveProperty("scope");
  const { token } = await idp.call("token.issue", { client: service.credentials.client_id });
  expect(jwtPart(token, 1)).not.toHaveProperty("scope");
});
