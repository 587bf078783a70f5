import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { jwtPart, paths, post, type Parameters } from "../helpers/client.ts";

/** The grant client_credentials (RFC 6749 4.4), and resource indicators (RFC 8707). */

const idp = await serve();
const service = await register(idp, { grant_types: ["client_credentials"], redirect_uris: [], scope: "email phone" });

const ask = (change: Parameters = {}, by = service) =>
  post(idp, paths.token, { grant_type: "client_credentials", ...by.credentials, ...change });

describe("client_credentials", () => {
  test("an access token of the client itself; no ID token, no refresh token", async () => {
    const { status, json, headers } = await ask();
    expect(status).toBe(200);
    expect(json).toEqual({
      access_token: expect.any(String) as string,
      token_type: "Bearer",
      expires_in: 1800,
      scope: "email phone",
    });
    expect(headers.get("cache-control")).toBe("no-store");
    const claims = jwtPart(json.access_token, 1);
    const { client_id } = service.credentials;
    expect(claims).toMatchObject({ sub: client_id, client_id, scope: "email phone", aud: idp.issuer, iss: idp.issuer });
    for (const name of ["email", "grant", "auth_time"]) expect(claims).not.toHaveProperty(name);
  });

  test("scope narrows to what is asked for, within the client's own", async () => {
    expect((await ask({ scope: "phone" })).json.scope).toBe("phone");
    for (const scope of ["phone social", "nonsense"]) {
      const { status, json } = await ask({ scope });
      expect([status, json.error]).toEqual([400, "invalid_scope"]);
    }
  });

  test("a client without a scope list and without a requested scope gets none", async () => {
    const open = await register(idp, { grant_types: ["client_credentials"], redirect_uris: [] });
    const { status, json } = await ask({}, open);
    expect(status).toBe(200);
    expect(json).not.toHaveProperty("scope");
  });

  test("refused: a client without the grant, a wrong secret, a public client", async () => {
    const app = await register(idp);
    expect((await ask({}, app)).json.error).toBe("unauthorized_client");
    expect(await ask({ client_secret: "wrong" })).toMatchObject({ status: 401, json: { error: "invalid_client" } });
    const spa = await register(idp, { token_endpoint_auth_method: "none" });
    expect((await ask({}, spa)).json.error).toBe("unauthorized_client");
    const metadata = { token_endpoint_auth_method: "none", grant_types: ["client_credentials"] } as const;
    await expect(register(idp, { ...metadata, grant_types: [...metadata.grant_types] })).rejects.toMatchObject({
      code: "invalid",
    });
  });
});

describe("resource", () => {
  const one = "https://api.example.test/one";
  const two = "https://api.example.test/two";
  const audOf = (token: string) => jwtPart(token, 1)["aud"];

  test("of the token request: the audience of the access token", async () => {
    expect(audOf((await ask({ resource: one })).json.access_token)).toBe(one);
  });

  test("several, in a form and in JSON alike: a list", async () => {
    const body = { grant_type: "client_credentials", ...service.credentials };
    const form = new URLSearchParams(Object.entries(body).map(([name, value]) => [name, value ?? ""]));
    for (const resource of [one, two]) form.append("resource", resource);
    const asForm = await post(idp, paths.token, {}, { body: form, headers: {} });
    const json = JSON.stringify({ ...body, resource: [one, two] });
    const asJson = await post(idp, paths.token, {}, { body: json });
    for (const { json: answer } of [asForm, asJson]) expect(audOf(answer.access_token)).toEqual([one, two]);
  });

  test("of the authorization request: holds for code and refresh, each of which may narrow it", async () => {
    const app = await register(idp);
    const url = `${app.url()}&${new URLSearchParams([
      ["resource", one],
      ["resource", two],
    ]).toString()}`;
    const { browser } = await app.signIn();
    const code = async () => (await browser.open(url)).left?.searchParams.get("code") ?? "";
    const all = (await app.exchange(await code())).json;
    expect(audOf(all.access_token)).toEqual([one, two]);
    const narrow = (await app.exchange(await code(), { resource: two })).json;
    expect(audOf(narrow.access_token)).toBe(two);
    const refreshed = (await app.refresh(narrow.refresh_token)).json;
    expect(audOf(refreshed.access_token)).toEqual([one, two]);
    expect(audOf((await app.refresh(refreshed.refresh_token, { resource: one })).json.access_token)).toBe(one);
  });

  test("missing: the client's audience, else the issuer", async () => {
    const app = await register(idp, { audience: ["https://a.test", "https://b.test"] });
    expect(audOf((await app.tokens()).access_token)).toEqual(["https://a.test", "https://b.test"]);
    expect(audOf((await app.tokens({ resource: one })).access_token)).toBe(one);
    expect(audOf((await (await register(idp)).tokens()).access_token)).toBe(idp.issuer);
  });

  test("audience means the same", async () => {
    expect(audOf((await ask({ audience: one })).json.access_token)).toBe(one);
    const app = await register(idp);
    expect(audOf((await app.tokens({ audience: one })).access_token)).toBe(one);
    const both = await app.tokens({ resource: one, audience: two });
    expect(audOf(both.access_token)).toEqual([one, two]);
    const narrowed = await app.refresh(both.refresh_token, { audience: two });
    expect(audOf(narrowed.json.access_token)).toBe(two);
    expect((await ask({ audience: "api" })).json.error).toBe("invalid_target");
  });

  test.each(["api", "/path", "https://api.example.test/#x"])("%s: invalid_target", async (resource) => {
    const { status, json } = await ask({ resource });
    expect([status, json.error]).toEqual([400, "invalid_target"]);
  });

  test("one that the authorization request did not name: invalid_target, and the code is not used up", async () => {
    const app = await register(idp);
    const { code } = await app.signIn({ resource: one });
    expect((await app.exchange(code, { resource: two })).json.error).toBe("invalid_target");
    expect((await app.exchange(code, { resource: one })).status).toBe(200);
  });
});
