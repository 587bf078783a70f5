import { expect, test } from "vitest";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl, exchange, jwtPart, refresh, signIn, userinfo } from "../helpers/client.ts";
import { wordsOf } from "../helpers/html.ts";
import { serve } from "../helpers/app.ts";

/** OpenID Connect Core 5.5. */

const claims = JSON.stringify({ userinfo: { given_name: { essential: true }, name: null }, id_token: { email: null } });

test("single claims are on the consent page, and released once they are allowed", async () => {
  const idp = await serve();
  const browser = new Browser(idp.issuer);
  const login = await browser.open(authorizeUrl(idp, { scope: "openid", claims }));
  const consent = await browser.press(login, "login-as-alice");
  expect(consent.body).toContain('value="claim:given_name"');
  expect(wordsOf(consent.body)).toMatch(/claims\s+given_name name email\s/);
  expect(wordsOf(consent.body)).toMatch(/scope\s+openid\s/);
  const back = await browser.press(consent, "consent-allow", { scope: ["openid", "claim:name", "claim:email"] });
  const { json } = await exchange(idp, back.left?.searchParams.get("code") ?? "");
  expect(jwtPart(json["id_token"], 1)["email"]).toBe("alice@example.com");
  const body = (await userinfo(idp, json["access_token"])).json;
  expect(body["name"]).toBe("Alice Adams");
  expect(body).not.toHaveProperty("given_name");
});

test.each(["all", "minimal"] as const)(
  "each half goes where it says and nowhere else (id_token_claims: %s)",
  async (kind) => {
    const idp = await serve();
    await idp.call("clients.edit", { client_id: "demo-app", id_token_claims: kind, userinfo_format: "standard" });
    const asked = JSON.stringify({ userinfo: { name: { essential: true } }, id_token: { email: null } });
    const { code } = await signIn(idp, { scope: "openid", claims: asked });
    const first = (await exchange(idp, code)).json;
    const { json: refreshed } = await refresh(idp, first["refresh_token"]);
    for (const json of [first, refreshed]) {
      const idToken = jwtPart(json["id_token"], 1);
      expect([idToken["email"], idToken["name"]]).toEqual(["alice@example.com", undefined]);
      const body = (await userinfo(idp, json["access_token"])).json;
      expect([body["email"], body["name"]]).toEqual([undefined, "Alice Adams"]);
      expect(json["scope"]).toBe("openid");
      expect(jwtPart(json["access_token"], 1)["scope"]).toBe("openid");
      expect(jwtPart(json["refresh_token"], 1)["scope"]).toBe("openid");
    }
  },
);

test("a client with minimal ID tokens gets a claim it names, also one that a granted scope releases", async () => {
  const idp = await serve();
  await idp.call("clients.edit", { client_id: "demo-app", id_token_claims: "minimal" });
  const asked = JSON.stringify({ id_token: { email: null, roles: null } });
  const { code } = await signIn(idp, { scope: "openid email", claims: asked });
  const idToken = jwtPart((await exchange(idp, code)).json["id_token"], 1);
  expect(idToken).toMatchObject({ email: "alice@example.com", roles: ["admin"] });
  expect(idToken).not.toHaveProperty("email_verified");
});

test("a claim that the user unticks is in neither token nor UserInfo", async () => {
  const idp = await serve();
  const browser = new Browser(idp.issuer);
  const asked = JSON.stringify({ userinfo: { name: null }, id_token: { name: null } });
  const login = await browser.open(authorizeUrl(idp, { scope: "openid", claims: asked }));
  const consent = await browser.press(login, "login-as-alice");
  const back = await browser.press(consent, "consent-allow", { scope: ["openid"] });
  const { json } = await exchange(idp, back.left?.searchParams.get("code") ?? "");
  expect(jwtPart(json["id_token"], 1)).not.toHaveProperty("name");
  expect((await userinfo(idp, json["access_token"])).json).not.toHaveProperty("name");
});

test("claims of granted scopes need no consent, and unknown claims are ignored", async () => {
  const idp = await serve();
  await signIn(idp, { scope: "openid profile" });
  const asked = JSON.stringify({ userinfo: { name: null, "http://example.test/unknown": { essential: true } } });
  const { code } = await signIn(idp, { scope: "openid profile", claims: asked });
  expect((await exchange(idp, code)).json["scope"]).toBe("openid profile");
});

test("claims of scopes that were granted before need no consent either", async () => {
  const idp = await serve();
  const { browser } = await signIn(idp, { scope: "openid email" });
  const asked = JSON.stringify({ userinfo: { email: null }, id_token: { email: null } });
  const { left } = await browser.open(authorizeUrl(idp, { scope: "openid", claims: asked, prompt: "none" }));
  const { json } = await exchange(idp, left?.searchParams.get("code") ?? "");
  expect(json.scope).toBe("openid");
  expect(jwtPart(json.id_token, 1)["email"]).toBe("alice@example.com");
  expect((await userinfo(idp, json.access_token)).json["email"]).toBe("alice@example.com");
  // The consent page for another scope does not show it.
  const more = await browser.open(authorizeUrl(idp, { scope: "openid phone", claims: asked }));
  expect([more.page, more.body.includes("claim:email")]).toEqual(["consent", false]);
});

test("a client gets no claim of a scope that it may not ask for", async () => {
  const idp = await serve();
  await idp.call("clients.edit", { client_id: "demo-app", scope: "openid details" });
  const asked = JSON.stringify({ userinfo: { email: null, name: null, website: null }, id_token: { email: null } });
  await idp.call("users.edit", { username: "alice", website: "https://alice.example.test" });
  const { code } = await signIn(idp, { scope: "openid", claims: asked });
  const { json } = await exchange(idp, code);
  // In a native client it is `details` that releases the website.
  expect(json.scope).toBe("openid");
  expect(jwtPart(json.id_token, 1)).not.toHaveProperty("email");
  const body = (await userinfo(idp, json.access_token)).json;
  expect(body).toHaveProperty("website");
  expect(body).not.toHaveProperty("email");
  expect(body).not.toHaveProperty("name");
});

test("sub with a value: only that user will do", async () => {
  const idp = await serve();
  const [alice, bob] = await Promise.all(["alice", "bob"].map((username) => idp.call("users.show", { username })));
  const { browser } = await signIn(idp, { scope: "openid" });
  const only = (id = "") => ({
    scope: "openid",
    claims: JSON.stringify({ id_token: { sub: { value: id } } }),
    prompt: "none",
  });
  expect((await browser.open(authorizeUrl(idp, only(alice?.id)))).left?.searchParams.has("code")).toBe(true);
  expect((await browser.open(authorizeUrl(idp, only(bob?.id)))).left?.searchParams.get("error")).toBe("login_required");
  const hint = (await exchange(idp, (await signIn(idp, { scope: "openid", browser })).code)).json.id_token;
  for (const prompt of ["none", "login"]) {
    const both = authorizeUrl(idp, { ...only(bob?.id), id_token_hint: hint, prompt });
    expect((await browser.open(both)).left?.searchParams.get("error")).toBe("login_required");
  }
});

test.each(["{", "[]", '{"userinfo":[]}', '{"id_token":{"name":"yes"}}'])("claims=%s is refused", async (bad) => {
  const idp = await serve();
  const visit = await new Browser(idp.issuer).open(authorizeUrl(idp, { claims: bad }));
  expect(visit.left?.searchParams.get("error")).toBe("invalid_request");
});
