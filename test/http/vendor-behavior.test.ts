import { describe, expect, test } from "vitest";
import type { FixtureClient } from "../../src/core/protocol/client-metadata/schema.ts";
import { register, serve } from "../helpers/app.ts";
import { Browser, formsOf } from "../helpers/browser.ts";
import { callback, jwtPart, type Body } from "../helpers/client.ts";
import type { Idp } from "../../src/index.ts";

/** What the endpoints of a vendor do beside being elsewhere. */

type Vendor = "auth0" | "okta" | "keycloak" | "cognito" | "entra";
const start = (endpoints: Vendor, issuer?: string) =>
  serve({ settings: { endpoints }, ...(issuer !== undefined && { issuer }) });

async function discoveryOf({ issuer }: Idp, at = issuer): Promise<Record<string, string>> {
  const response = await fetch(`${at.replace(/\/$/, "")}/.well-known/openid-configuration`);
  return (await response.json()) as Record<string, string>;
}

/** A client at a vendor's endpoints, which discovery names. */
async function appAt(idp: Idp, metadata: Partial<FixtureClient> = {}) {
  const at = await discoveryOf(idp);
  const { credentials } = await register(idp, metadata);
  const post = async (endpoint: string, parameters: Record<string, string>) => {
    const sent = { client_id: credentials.client_id, client_secret: credentials.client_secret ?? "", ...parameters };
    const response = await fetch(at[endpoint] ?? "", { method: "POST", body: new URLSearchParams(sent) });
    const text = await response.text();
    return {
      status: response.status,
      json: (text.startsWith("{") ? JSON.parse(text) : {}) as Body & Record<string, unknown>,
    };
  };
  const signIn = async (change: Record<string, string> = {}) => {
    const query = {
      response_type: "code",
      client_id: credentials.client_id,
      redirect_uri: callback,
      scope: "openid",
      ...change,
    };
    const browser = new Browser(idp.issuer);
    const login = await browser.open(`${at["authorization_endpoint"] ?? ""}?${new URLSearchParams(query).toString()}`);
    const consent = await browser.press(login, "login-as-alice");
    const { left } = await browser.press(consent, "consent-allow");
    const code = left?.searchParams.get("code") ?? "";
    const tokens = await post("token_endpoint", { grant_type: "authorization_code", code, redirect_uri: callback });
    return { browser, consent, ...tokens };
  };
  return { ...credentials, at, post, signIn };
}

describe.each<[Vendor, string]>([
  ["auth0", "JWT"],
  ["okta", "at+jwt"],
  ["keycloak", "JWT"],
  ["cognito", "at+jwt"],
  ["entra", "JWT"],
])("%s", (vendor, typ) => {
  test("access tokens are signed with the published key, and UserInfo has the claims alone", async () => {
    const idp = await start(vendor);
    const app = await appAt(idp);
    const { json } = await app.signIn({ scope: "openid profile email" });
    expect(jwtPart(json.access_token, 0)).toMatchObject({ alg: "RS256", typ });
    const headers = { authorization: `Bearer ${json.access_token}` };
    const info = (await (await fetch(app.at["userinfo_endpoint"] ?? "", { headers })).json()) as object;
    expect(info).toMatchObject({ name: "Alice Adams", email: "alice@example.com" });
    expect(info).not.toHaveProperty("user");
  });

  test("a setting wins over the vendor", async () => {
    const idp = await serve({
      settings: { endpoints: vendor, access_token_alg: "HS256", userinfo_format: "combined" },
    });
    const { json } = await (await appAt(idp)).signIn();
    expect(jwtPart(json.access_token, 0)["alg"]).toBe("HS256");
  });
});

test.each<[Vendor, path: string, kept: string]>([
  ["keycloak", "/realms/shop", "/realms/shop"],
  ["keycloak", "/auth/realms/shop", "/auth/realms/shop"],
  ["keycloak", "/base", "/base/realms/idp"],
  ["entra", "/contoso.onmicrosoft.com/v2.0", "/contoso.onmicrosoft.com/v2.0"],
  ["entra", "", "/common/v2.0"],
  ["entra", "/contoso", "/contoso/v2.0"],
  ["entra", "/contoso/", "/contoso/v2.0"],
  ["entra", "/contoso/v2.0/", "/contoso/v2.0"],
  ["entra", "/base/contoso", "/base/contoso/v2.0"],
  ["okta", "/oauth2/aus1", "/oauth2/aus1"],
  ["okta", "", "/oauth2/default"],
])("%s with the issuer …%s is …%s", async (vendor, path, kept) => {
  const idp = await start(vendor, `http://localhost:4370${path}`);
  expect(idp.issuer).toBe(`http://localhost:4370${kept}`);
  const at = await discoveryOf(idp, `http://localhost:${idp.port}${kept}`);
  expect(at["issuer"]).toBe(idp.issuer);
  expect(at["token_endpoint"]).toContain(kept.replace(/\/v2\.0$/, ""));
});

test("entra: a host of the tenant's name is not the tenant, nor is the path of another issuer", async () => {
  const idp = await start("entra", "http://common");
  expect(idp.issuer).toBe("http://common/common/v2.0");
  const first = await start("entra", "http://localhost:4370/contoso");
  const other = await first.issuers.add("shop", { fixtures: [] });
  await other.call("seed", { settings: { endpoints: "entra" } });
  expect((await other.call("status", {})).issuer).toBe("http://localhost:4370/i/shop/shop/v2.0");
});

describe("keycloak", () => {
  test("openid alone asks for profile and email too, within the client's scope; the consent page and the response say so", async () => {
    const idp = await start("keycloak");
    const { json, consent } = await (await appAt(idp)).signIn();
    expect(json.scope).toBe("openid profile email");
    expect(consent.body).toContain("consent-scope-email");
    expect((await (await appAt(idp, { scope: "openid email" })).signIn()).json.scope).toBe("openid email");
    expect((await (await appAt(idp)).signIn({ scope: "openid phone" })).json.scope).toBe("openid phone");
    expect((await (await appAt(await start("cognito"))).signIn()).json.scope).toBe("openid");
  });

  test("payloads have typ, and the realm describes itself", async () => {
    const idp = await start("keycloak");
    const { json } = await (await appAt(idp)).signIn();
    const types = [json.access_token, json.id_token, json.refresh_token].map((token) => jwtPart(token, 1)["typ"]);
    expect(types).toEqual(["Bearer", "ID", "Refresh"]);
    const realm = (await (await fetch(idp.issuer)).json()) as object;
    expect(realm).toMatchObject({
      realm: "idp",
      public_key: expect.stringMatching(/^MII[A-Za-z0-9+/]+=*$/) as string,
      "token-service": `${idp.issuer}/protocol/openid-connect`,
    });
  });

  test("access tokens name the user as the scopes do, and the client and the session", async () => {
    const idp = await start("keycloak");
    const app = await appAt(idp);
    const { json } = await app.signIn();
    const sid = jwtPart(json.id_token, 1)["sid"];
    const ofUser = {
      preferred_username: "alice",
      name: "Alice Adams",
      email: "alice@example.com",
      email_verified: true,
    };
    expect(jwtPart(json.access_token, 1)).toMatchObject({ ...ofUser, azp: app.client_id, sid });
    const email = jwtPart((await (await appAt(idp)).signIn({ scope: "openid email" })).json.access_token, 1);
    expect(email).toMatchObject({ email: "alice@example.com", email_verified: true });
    for (const name of ["preferred_username", "name"]) expect(email).not.toHaveProperty(name);
    const phone = jwtPart((await (await appAt(idp)).signIn({ scope: "openid phone" })).json.access_token, 1);
    for (const name of Object.keys(ofUser)) expect(phone).not.toHaveProperty(name);
    const elsewhere = jwtPart((await (await appAt(await start("cognito"))).signIn()).json.access_token, 1);
    for (const name of ["preferred_username", "azp", "sid"]) expect(elsewhere).not.toHaveProperty(name);
  });

  test("the token response has refresh_expires_in, session_state and not-before-policy", async () => {
    const idp = await start("keycloak");
    // What is left of the refresh token is counted in whole seconds.
    await idp.call("clock.freeze", {});
    const app = await appAt(idp, { grant_types: ["authorization_code", "refresh_token", "client_credentials"] });
    const { json } = await app.signIn();
    const members = {
      refresh_expires_in: 604_800,
      session_state: jwtPart(json.id_token, 1)["sid"],
      "not-before-policy": 0,
    };
    expect(json).toMatchObject(members);
    const refreshed = await app.post("token_endpoint", {
      grant_type: "refresh_token",
      refresh_token: json.refresh_token,
    });
    expect(refreshed.json).toMatchObject(members);
    const own = (await app.post("token_endpoint", { grant_type: "client_credentials" })).json;
    expect(own).toMatchObject({ refresh_expires_in: 0, "not-before-policy": 0 });
    expect(own).not.toHaveProperty("session_state");
    expect(jwtPart(own.access_token, 1)).toMatchObject({ azp: app.client_id });
    expect((await (await appAt(await start("cognito"))).signIn()).json).not.toHaveProperty("not-before-policy");
  });

  test("a refresh token, posted by its client, signs out: the session and its tokens", async () => {
    const idp = await start("keycloak");
    const app = await appAt(idp);
    const { json, browser } = await app.signIn();
    const foreign = await (await appAt(idp)).post("end_session_endpoint", { refresh_token: json.refresh_token });
    expect(foreign.status).toBe(400);
    expect(
      (await app.post("end_session_endpoint", { refresh_token: json.refresh_token, client_secret: "x" })).status,
    ).toBeGreaterThanOrEqual(400);
    expect((await app.post("end_session_endpoint", { refresh_token: `${json.refresh_token}x` })).status).toBe(400);
    expect((await browser.open("/account")).page).toBe("account");
    expect((await app.post("end_session_endpoint", { refresh_token: json.refresh_token })).status).toBe(204);
    expect((await browser.open("/account")).page).toBe("login");
    const again = await app.post("token_endpoint", { grant_type: "refresh_token", refresh_token: json.refresh_token });
    expect(again.json.error).toBe("invalid_grant");
    expect((await app.post("introspection_endpoint", { token: json.access_token })).json["active"]).toBe(false);
  });
});

describe("keycloak: a logout by refresh token is answered to a program, whatever Accept says", () => {
  const logout = async (parameters: Record<string, string>, headers: Record<string, string>, twice = false) => {
    const idp = await start("keycloak");
    const app = await appAt(idp);
    const { json } = await app.signIn();
    const { client_id, client_secret } = app;
    const sent = { client_id, client_secret: client_secret ?? "", refresh_token: json.refresh_token, ...parameters };
    const body = new URLSearchParams(sent);
    if (twice) body.append("refresh_token", "again");
    const response = await fetch(app.at["end_session_endpoint"] ?? "", { method: "POST", headers, body });
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    const { error } = (await response.json()) as Body;
    return { status: response.status, error, authenticate: response.headers.get("www-authenticate") };
  };
  const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

  test.each([{}, { accept: "*/*" }, browser])("%j", async (headers) => {
    expect(await logout({ client_secret: "wrong" }, headers)).toMatchObject({ status: 401, error: "invalid_client" });
    expect(await logout({ refresh_token: "x" }, headers)).toMatchObject({ status: 400, error: "invalid_grant" });
    expect(await logout({}, headers, true)).toMatchObject({ status: 400, error: "invalid_request" });
  });

  test("with Basic, a 401 names that scheme", async () => {
    const headers = { ...browser, authorization: `Basic ${btoa("nobody:wrong")}` };
    const { status, authenticate } = await logout({ client_id: "", client_secret: "" }, headers);
    expect([status, authenticate]).toEqual([401, expect.stringMatching(/^Basic /)]);
  });
});

describe("what APIs read in the access tokens of a vendor, of a user and of a client that speaks for itself", () => {
  test.each<[Vendor, string, (app: string, sub: string) => object, (app: string) => object]>([
    ["auth0", "ver scp cid", (app) => ({ azp: app }), (app) => ({ azp: app })],
    [
      "okta",
      "azp",
      (app, sub) => ({ ver: 1, cid: app, uid: sub, scp: ["openid", "phone"] }),
      (app) => ({ ver: 1, cid: app, scp: ["openid", "phone"] }),
    ],
    [
      "entra",
      "cid uid",
      (app) => ({ ver: "2.0", azp: app, scp: "openid phone" }),
      (app) => ({ ver: "2.0", azp: app, roles: ["openid", "phone"] }),
    ],
  ])("%s", async (vendor, without, ofUser, ofClient) => {
    const idp = await start(vendor);
    const scope = "openid phone";
    const app = await appAt(idp);
    const token = jwtPart((await app.signIn({ scope })).json.access_token, 1);
    expect(token).toMatchObject(ofUser(app.client_id, String(token["sub"])));
    const service = await appAt(idp, { grant_types: ["client_credentials"], redirect_uris: [], scope });
    const grant = {
      grant_type: "client_credentials",
      ...(vendor === "entra" ? { scope: "api://a/.default" } : { scope }),
    };
    const own = jwtPart((await service.post("token_endpoint", grant)).json.access_token, 1);
    expect(own).toMatchObject(ofClient(service.client_id));
    for (const name of [...without.split(" "), "uid"]) expect(own).not.toHaveProperty(name);
    for (const name of without.split(" ")) expect(token).not.toHaveProperty(name);
    // Her own ones.
    expect(token["roles"]).toEqual(["admin"]);
    if (vendor === "entra") expect(own).not.toHaveProperty("scp");
  });
});

describe("entra", () => {
  test("client credentials with RESOURCE/.default: all scopes of the client, for that resource", async () => {
    const idp = await start("entra");
    const app = await appAt(idp, { grant_types: ["client_credentials"], redirect_uris: [], scope: "openid phone" });
    const { json } = await app.post("token_endpoint", {
      grant_type: "client_credentials",
      scope: "api://orders/.default",
    });
    expect(json.scope).toBe("openid phone");
    const claims = jwtPart(json.access_token, 1);
    expect(claims).toMatchObject({ aud: "api://orders", tid: "common", oid: app.client_id, ver: "2.0" });
    const ask = (scope: string) => app.post("token_endpoint", { grant_type: "client_credentials", scope });
    for (const resource of ["4f1b8f6e-0c2f-4a6b-9a5e-3f6f3c1d2e10", "orders-api", "https://graph.example.test"]) {
      const { json: named } = await ask(`${resource}/.default`);
      expect(jwtPart(named.access_token, 1)["aud"]).toBe(resource);
    }
    for (const wrong of ["not a resource/.default", "/.default", "api://orders#part/.default"])
      expect((await ask(wrong)).status).toBe(400);
    // Elsewhere it is a scope, which nobody has.
    const elsewhere = await appAt(await start("okta"), { grant_types: ["client_credentials"], redirect_uris: [] });
    const refused = await elsewhere.post("token_endpoint", {
      grant_type: "client_credentials",
      scope: "orders/.default",
    });
    expect(refused.json.error).toBe("invalid_scope");
  });

  test("tokens of a user have tid, oid and ver; claims of the user win", async () => {
    const idp = await start("entra");
    await idp.call("seed", { users: [{ username: "alice", claims: { tid: "own" } }] });
    const { json } = await (await appAt(idp)).signIn();
    for (const token of [json.access_token, json.id_token])
      expect(jwtPart(token, 1)).toMatchObject({ tid: "own", oid: jwtPart(token, 1)["sub"], ver: "2.0" });
  });

  test("a logout without a hint returns to an address of exactly one client, after a page that names it", async () => {
    const idp = await start("entra");
    const [one, both] = ["http://localhost:3000/one", "http://localhost:3000/both"];
    const app = await appAt(idp, { client_name: "The shop", post_logout_redirect_uris: [one, both] });
    await appAt(idp, { post_logout_redirect_uris: [both] });
    const { browser } = await app.signIn();
    const logout = (uri: string) =>
      browser.open(
        `${app.at["end_session_endpoint"] ?? ""}?${new URLSearchParams({ post_logout_redirect_uri: uri }).toString()}`,
      );
    for (const uri of [both, "http://localhost:3000/nobody"]) {
      const page = await logout(uri);
      expect(page.left).toBeNull();
      expect(page.body).not.toContain("The shop");
    }
    const page = await logout(one);
    expect([page.page, page.left]).toEqual(["logout", null]);
    expect(page.body).toContain("The shop");
    expect(formsOf(page.body)).not.toEqual([]);
    expect((await browser.press(page, "logout-confirm")).left?.href).toBe(one);
  });
});

test("auth0: audience takes any string, at other endpoints only a URI", async () => {
  const app = await appAt(await start("auth0"));
  const { json } = await app.signIn({ audience: "my-api" });
  expect(jwtPart(json.access_token, 1)["aud"]).toBe("my-api");
  const own = await appAt(await start("auth0"), { grant_types: ["client_credentials"], redirect_uris: [] });
  const made = await own.post("token_endpoint", { grant_type: "client_credentials", audience: "my-api" });
  expect(jwtPart(made.json.access_token, 1)["aud"]).toBe("my-api");
  const other = await appAt(await start("okta"), { grant_types: ["client_credentials"], redirect_uris: [] });
  expect(
    (await other.post("token_endpoint", { grant_type: "client_credentials", audience: "my-api" })).json.error,
  ).toBe("invalid_target");
});
