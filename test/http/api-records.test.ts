import { expect, test } from "vitest";
import type { IdpOptions } from "../../src/index.ts";
import { signIn } from "../helpers/client.ts";
import { serve } from "../helpers/app.ts";

/** Users, clients, grants and sessions as REST: created, changed, deleted, and each refusal. */

async function connect(options: IdpOptions = {}) {
  const idp = await serve(options);
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${idp.issuer}/_idp/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${idp.adminToken}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : (JSON.parse(text) as unknown) };
  };
  const userInfo = async (token: string): Promise<number> =>
    (await fetch(`${idp.issuer}/api/v2/oauth/userinfo`, { headers: { authorization: `Bearer ${token}` } })).status;
  return { idp, call, userInfo };
}

test("users: 201, 200, 204, and 404, 409, 422 with every problem", async () => {
  const { idp, call, userInfo } = await connect();
  const created = await call("POST", "users", { username: "erin", password: "pw-of-erin", claims: { roles: ["x"] } });
  expect(created).toMatchObject({
    status: 201,
    body: { username: "erin", hasPassword: true, claims: { roles: ["x"] } },
  });
  expect(await call("POST", "users", { username: "erin" })).toMatchObject({ status: 409, body: { error: "conflict" } });
  expect(await call("POST", "users", { email: 1 })).toMatchObject({
    status: 422,
    body: { error: "usage", problems: [{ path: "username" }, { path: "email" }] },
  });
  expect(await call("PATCH", "users/erin", { displayName: "Erin Öz" })).toMatchObject({
    status: 200,
    body: { displayName: "Erin Öz", claims: { roles: ["x"] } },
  });
  expect(await call("PATCH", "users/erin", { status: "asleep" })).toMatchObject({ status: 422 });
  const rounded = { claims: { tenant: Number("7123456789012345678") } };
  for (const [method, path, body] of [
    ["PATCH", "users/erin", rounded],
    ["POST", "users", { username: "frank", ...rounded }],
  ] as const) {
    expect(await call(method, path, body)).toMatchObject({
      status: 422,
      body: { problems: [{ path: "claims.tenant", message: expect.stringContaining("put it in quotes") }] },
    });
  }
  expect(await call("PATCH", "users/nobody", {})).toMatchObject({ status: 404, body: { error: "not_found" } });
  const { access_token } = await idp.issueTokens({ user: "erin", client: "demo-app" });
  expect(await userInfo(access_token)).toBe(200);
  expect(await call("DELETE", "users/erin")).toEqual({ status: 204, body: null });
  expect(await userInfo(access_token)).toBe(401);
  expect(await call("DELETE", "users/erin")).toMatchObject({ status: 404 });
});

test("an import whose numbers would lose digits is refused with their place", async () => {
  const { call } = await connect();
  const state = (await call("GET", "export")).body as { users: { claims: object }[] };
  const [first, ...others] = state.users;
  const users = [{ ...first, claims: { tenant: Number("7123456789012345678") } }, ...others];
  expect(await call("POST", "import", { ...state, users })).toMatchObject({
    status: 422,
    body: { problems: [{ path: "users[0].claims.tenant" }] },
  });
});

test("clients: 201 with a secret that was made, 200, 204, and 404, 409, 422", async () => {
  const { idp, call, userInfo } = await connect();
  const shop = { client_id: "shop", redirect_uris: ["http://localhost:1/cb"] };
  expect(await call("POST", "clients", shop)).toMatchObject({
    status: 201,
    body: { client_secret: expect.any(String) },
  });
  expect(await call("POST", "clients", shop)).toMatchObject({ status: 409 });
  expect(await call("POST", "clients", { client_id: "x" })).toMatchObject({
    status: 422,
    body: { problems: [{ path: "redirect_uris" }] },
  });
  expect(await call("PATCH", "clients/shop", { client_name: "Shop" })).toMatchObject({
    status: 200,
    body: { client_name: "Shop", redirect_uris: shop.redirect_uris },
  });
  expect(await call("PATCH", "clients/shop", { client_id: "other" })).toMatchObject({ status: 409 });
  expect(await call("PATCH", "clients/nope", {})).toMatchObject({ status: 404 });
  const { access_token } = await idp.issueTokens({ user: "alice", client: "shop" });
  expect(await call("DELETE", "clients/shop")).toEqual({ status: 204, body: null });
  expect(await userInfo(access_token)).toBe(401);
  expect(await call("DELETE", "clients/shop")).toMatchObject({ status: 404 });
});

test("a grant: its scopes are set, UserInfo follows, and DELETE revokes it", async () => {
  const { idp, call, userInfo } = await connect();
  const { access_token } = await idp.issueTokens({ user: "alice", client: "demo-app", scope: "openid email phone" });
  const [grant] = await idp.call("grants.list", { user: "alice", client: "demo-app" });
  const path = `grants/${grant?.id}`;
  expect(await call("PATCH", path, { scope: "openid email" })).toMatchObject({
    status: 200,
    body: { scope: "openid email" },
  });
  const introspected = await call("POST", "token/introspect", { token: access_token });
  expect(introspected).toMatchObject({ status: 200, body: { active: true, scope: "openid email" } });
  expect(await call("PATCH", path, { scope: "openid nonsense" })).toMatchObject({ status: 409 });
  expect(await call("PATCH", path, { scope: "" })).toMatchObject({ status: 422 });
  expect(await call("PATCH", path, {})).toMatchObject({ status: 422, body: { problems: [{ path: "scope" }] } });
  expect(await call("DELETE", path)).toEqual({ status: 204, body: null });
  expect(await userInfo(access_token)).toBe(403);
  expect(await call("GET", path)).toMatchObject({ body: { status: "revoked" } });
  expect(await call("PATCH", path, { scope: "openid" })).toMatchObject({ status: 409 });
  expect(await call("DELETE", "grants/g_nope")).toMatchObject({ status: 404 });
});

test("a session: DELETE ends it, and 404 where nobody has it", async () => {
  const { idp, call } = await connect({ settings: { login: "auto:alice", consent: "skip" } });
  const query = new URLSearchParams({
    response_type: "code",
    client_id: "demo-app",
    redirect_uri: "http://localhost:3000/callback",
  }).toString();
  await fetch(`${idp.issuer}/api/v2/oauth/authorize?${query}`, { redirect: "manual" });
  const [session] = await idp.call("sessions.list", {});
  expect(session).toMatchObject({ user: "alice" });
  expect(await call("DELETE", `sessions/${session?.id}`)).toEqual({ status: 204, body: null });
  expect(await idp.call("sessions.list", {})).toEqual([]);
  expect(await call("DELETE", `sessions/${session?.id}`)).toMatchObject({ status: 404, body: { error: "not_found" } });
});

test("grants, sessions and keys are found by id; a grant is made by POST; 404 for an unknown id", async () => {
  const { idp, call } = await connect();
  await signIn(idp);
  const made = await call("POST", "grants", { user: "bob", client: "demo-app", scope: "openid email" });
  expect(made).toMatchObject({ status: 201, body: { user: "bob", scope: "openid email", status: "active" } });
  expect(await call("POST", "grants", { user: "bob", client: "nope" })).toMatchObject({ status: 404 });
  for (const [path, id] of [
    ["grants", "id"],
    ["sessions", "id"],
    ["keys", "kid"],
  ] as const) {
    const { body } = await call("GET", path);
    const [first] = body as readonly Readonly<Record<string, string>>[];
    expect(await call("GET", `${path}/${first?.[id]}`)).toEqual({ status: 200, body: first });
    expect(await call("GET", `${path}/nope`)).toMatchObject({ status: 404, body: { error: "not_found" } });
  }
});

test("keys: a retired one is taken back, and what it signed is refused at once; one that signs is not: 409", async () => {
  const { idp, call, userInfo } = await connect();
  const published = async (): Promise<readonly string[]> => {
    const answer = await fetch(`${idp.issuer}/api/v2/oauth/jwks`);
    return ((await answer.json()) as { readonly keys: readonly { readonly kid: string }[] }).keys.map(({ kid }) => kid);
  };
  const { access_token } = await idp.issueTokens({ user: "alice", client: "demo-app" });
  const old = await idp.call("keys.list", {});
  for (const { kid } of old) {
    expect(await call("DELETE", `keys/${kid}`)).toMatchObject({ status: 409, body: { error: "conflict" } });
  }
  expect(await call("POST", "keys", {})).toMatchObject({ status: 201 });
  expect(await userInfo(access_token)).toBe(200);
  for (const { kid } of old) expect(await call("DELETE", `keys/${kid}`)).toEqual({ status: 204, body: null });
  expect(await userInfo(access_token)).toBe(401);
  const kids = old.map(({ kid }) => kid);
  expect((await published()).filter((kid) => kids.includes(kid))).toEqual([]);
  expect(await call("GET", `keys/${kids[0]}`)).toMatchObject({ status: 404 });
  const { access_token: signedAnew } = await idp.issueTokens({ user: "alice", client: "demo-app" });
  expect(await userInfo(signedAnew)).toBe(200);
});

test("a key of a new kind is made by POST", async () => {
  const { idp, call } = await connect();
  expect(await call("POST", "keys", { alg: "EdDSA" })).toMatchObject({ status: 201 });
  expect((await idp.call("keys.list", {})).map(({ alg }) => alg)).toContain("EdDSA");
});

test("422 names the field of every problem", async () => {
  const { call } = await connect();
  const answer = await call("POST", "keys", { alg: "RS1" });
  expect(answer).toMatchObject({
    status: 422,
    body: { problems: [{ path: "alg", message: expect.stringContaining('"RS1" is not one of RS256') as unknown }] },
  });
});

test("the body of GET can be sent back by PATCH; a wrong `public` is a 409 that names the field that decides", async () => {
  const { call } = await connect();
  const get = async (path: string) => (await call("GET", path)).body as Readonly<Record<string, unknown>>;
  for (const path of ["users/alice", "users/carol", "clients/demo-app", "clients/demo-spa", "clients/demo-service"]) {
    const shown = await get(path);
    expect(await call("PATCH", path, shown)).toEqual({ status: 200, body: shown });
  }
  const wrong = (path: string, message: string) => ({
    status: 409,
    body: { error: "conflict", problems: [{ path, message: expect.stringContaining(message) as unknown }] },
  });
  const decides = "token_endpoint_auth_method";
  expect(await call("PATCH", "clients/demo-app", { public: true })).toMatchObject(wrong("public", decides));
  expect(await call("PATCH", "clients/demo-app", { public: "no" })).toMatchObject({ status: 422 });
  expect(await call("PATCH", "clients/demo-spa", { public: false })).toMatchObject(wrong("public", "would be true"));
  expect(await get("clients/demo-app")).toMatchObject({ public: false });
  // What counts is the client as it will be.
  expect(await call("PATCH", "clients/demo-app", { client_secret: null, public: true })).toMatchObject({ status: 200 });
  expect(await call("PATCH", "users/alice", { hasPassword: false })).toMatchObject(
    wrong("hasPassword", "would be true"),
  );

  const app = { client_id: "app", redirect_uris: ["http://localhost:1/cb"] };
  expect(await call("POST", "clients", { ...app, public: true })).toMatchObject(wrong("public", decides));
  expect(await call("POST", "clients", { ...app, token_endpoint_auth_method: "none", public: true })).toMatchObject({
    status: 201,
    body: { public: true },
  });
  expect(await call("POST", "users", { username: "erin", hasPassword: true })).toMatchObject(
    wrong("hasPassword", "password"),
  );
  expect(await call("POST", "users", { username: "erin", hasPassword: false })).toMatchObject({ status: 201 });
  expect(await call("PATCH", "users/erin", { hasPassword: true })).toMatchObject(
    wrong("hasPassword", "would be false"),
  );
  expect(await call("PATCH", "users/erin", { password: "pw-of-erin", hasPassword: true })).toMatchObject({
    status: 200,
    body: { hasPassword: true },
  });
});
