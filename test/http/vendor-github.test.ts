import { beforeAll, describe, expect, test } from "vitest";
import type { Idp } from "../../src/index.ts";
import { serve } from "../helpers/app.ts";
import { callback, pkce } from "../helpers/client.ts";
import { addressOf, bearer, postForm, send, serveVendor, visit, type Parameters } from "../helpers/vendor-app.ts";

/** GitHub: OAuth 2.0 without OpenID Connect, and the part of its API that a sign-in needs. */

const secret = "the-secret-of-the-shop";
const baseOf = ({ issuer }: Idp): string => issuer.replace("/login/oauth", "");

const authorizeAt = (idp: Idp, change: Parameters = {}): string =>
  addressOf(`${baseOf(idp)}/login/oauth/authorize`, { client_id: "shop", state: "s1", ...change });

const exchange = (idp: Idp, code = "", change: Parameters = {}, accept = "application/json") =>
  postForm(
    `${baseOf(idp)}/login/oauth/access_token`,
    { client_id: "shop", client_secret: secret, code, ...change },
    { accept },
  );

async function tokenFor(idp: Idp, scope?: string, user = "alice"): Promise<string> {
  const { parameters } = await visit(authorizeAt(idp, scope === undefined ? {} : { scope }), { user });
  return (await exchange(idp, parameters["code"])).json.access_token;
}

const get = (idp: Idp, path: string, token: string, scheme = "Bearer") =>
  send(baseOf(idp) + path, bearer(token, scheme));

const ending = (idp: Idp, what: "token" | "grant", token: string, password = secret) =>
  send(`${baseOf(idp)}/applications/shop/${what}`, {
    method: "DELETE",
    headers: {
      authorization: `Basic ${Buffer.from(`shop:${password}`).toString("base64")}`,
      "content-type": "application/json; charset=utf-8",
    },
    body: JSON.stringify({ access_token: token }),
  });

describe("github", () => {
  let idp: Idp;
  beforeAll(async () => {
    idp = await serveVendor("github");
  });

  test("the issuer is below the address, and its metadata is that of OAuth alone", async () => {
    const base = baseOf(idp);
    expect(idp.issuer).toBe(`${base}/login/oauth`);
    for (const path of ["", "/login/oauth"])
      expect((await send(`${base}${path}/.well-known/openid-configuration`)).status).toBe(404);
    const { json } = await send(`${base}/.well-known/oauth-authorization-server/login/oauth`);
    expect(json).toMatchObject({
      issuer: idp.issuer,
      authorization_endpoint: `${base}/login/oauth/authorize`,
      token_endpoint: `${base}/login/oauth/access_token`,
    });
    expect(json).not.toHaveProperty("jwks_uri");
  });

  test("response_type, grant_type, redirect_uri and scope may be left out", async () => {
    const { parameters } = await visit(authorizeAt(idp));
    expect(parameters).toMatchObject({ state: "s1", iss: idp.issuer });
    const { json } = await exchange(idp, parameters["code"]);
    expect(json).toEqual({
      access_token: expect.stringMatching(/^gho_[\w-]{43}$/) as string,
      scope: "",
      token_type: "bearer",
    });
  });

  test("the token response is a form, unless JSON is asked for", async () => {
    const { parameters } = await visit(authorizeAt(idp, { scope: "read:user user:email" }));
    const { headers, text } = await exchange(idp, parameters["code"], {}, "*/*");
    expect(headers.get("content-type")).toContain("application/x-www-form-urlencoded");
    expect(Object.fromEntries(new URLSearchParams(text))).toMatchObject({ scope: "read:user,user:email" });
  });

  test("scopes are separated by commas or spaces, and any is granted", async () => {
    const { parameters } = await visit(authorizeAt(idp, { scope: "repo,read:org gist" }));
    expect((await exchange(idp, parameters["code"])).json["scope"]).toBe("repo,read:org,gist");
  });

  test("/user has GitHub's members, for Bearer and token, and below /api/v3", async () => {
    const token = await tokenFor(idp, "read:user");
    const user = {
      login: "alice",
      id: 583231,
      node_id: "MDQ6VXNlcjU4MzIzMQ==",
      name: "Alice Adams",
      email: null,
      avatar_url: expect.stringContaining("/avatars/") as string,
      type: "User",
    };
    for (const [path, scheme] of [
      ["/user", "Bearer"],
      ["/user", "token"],
      ["/api/v3/user", "token"],
    ] as const)
      expect((await get(idp, path, token, scheme)).json).toEqual(user);
    // A number that follows from the user, the same every time.
    const [one, other] = [await tokenFor(idp, "", "bob"), await tokenFor(idp, "", "bob")];
    const { id } = (await get(idp, "/user", one)).json;
    expect(id).toBeGreaterThan(0);
    expect(id).toBeLessThan(2 ** 31);
    expect((await get(idp, "/user", other)).json["id"]).toBe(id);
  });

  test("the e-mail address is public only by the claim, and /user/emails needs its scope", async () => {
    const token = await tokenFor(idp, "user:email");
    expect((await get(idp, "/user/emails", token)).json).toEqual([
      { email: "alice@example.com", primary: true, verified: true, visibility: "private" },
    ]);
    expect(await get(idp, "/user/emails", await tokenFor(idp, "read:org"))).toMatchObject({
      status: 404,
      json: { message: "Not Found" },
    });
    await idp.call("users.edit", { username: "bob", claims: { github_public_email: true } });
    const ofBob = await tokenFor(idp, "user", "bob");
    expect((await get(idp, "/user", ofBob)).json["email"]).toBe("bob@example.org");
    expect((await get(idp, "/user/emails", ofBob)).json).toMatchObject([{ visibility: "public" }]);
  });

  test("/user/orgs lists the claim github_orgs with read:org or user, and else none", async () => {
    const orgs = [{ login: "octo-org", id: expect.any(Number) as number }];
    for (const scope of ["read:org", "user"])
      expect((await get(idp, "/user/orgs", await tokenFor(idp, scope))).json).toEqual(orgs);
    expect((await get(idp, "/user/orgs", await tokenFor(idp, "read:user"))).json).toEqual([]);
  });

  test.each([
    ["bad_verification_code", { code: "nonsense" }],
    ["incorrect_client_credentials", { client_secret: "wrong" }],
    ["incorrect_client_credentials", { client_id: "nobody" }],
    ["redirect_uri_mismatch", { redirect_uri: "http://localhost:3000/other" }],
  ])("%s is an answer with the status 200", async (error, change) => {
    const { parameters } = await visit(authorizeAt(idp));
    const answer = await exchange(idp, parameters["code"], change);
    expect(answer).toMatchObject({ status: 200, json: { error } });
    expect(answer.json["error_uri"]).toContain(error.replaceAll("_", "-"));
    const last = ((await idp.call("requests.list", { endpoint: "token" })) as readonly { error: string }[]).at(-1);
    expect(last?.error).not.toBe(null);
  });

  test("a refusal without JSON is a form too", async () => {
    const { text } = await exchange(idp, "nonsense", {}, "*/*");
    expect(new URLSearchParams(text).get("error")).toBe("bad_verification_code");
  });

  test("a redirect URI that is not registered is the error page, never a redirect", async () => {
    const page = await send(authorizeAt(idp, { redirect_uri: "http://localhost:3000/callback/below" }), {
      redirect: "manual",
    });
    expect(page.status).toBe(400);
  });

  test("PKCE is optional, and what was promised is checked", async () => {
    const { verifier, challenge } = pkce();
    const begin = async () =>
      (await visit(authorizeAt(idp, { code_challenge: challenge, code_challenge_method: "S256" }))).parameters["code"];
    expect((await exchange(idp, await begin(), { code_verifier: verifier })).json).toHaveProperty("access_token");
    expect((await exchange(idp, await begin())).json.error).toBe("bad_verification_code");
  });

  test("a token that is unknown, revoked, or of a suspended user gets 401 Bad credentials", async () => {
    const refused = { status: 401, json: { message: "Bad credentials" } };
    expect(await get(idp, "/user", `gho_${"x".repeat(36)}`)).toMatchObject(refused);
    expect(await send(`${baseOf(idp)}/user`)).toMatchObject({
      status: 401,
      json: { message: "Requires authentication" },
    });
    const token = await tokenFor(idp, "user", "bob");
    await idp.call("users.suspend", { username: "bob" });
    expect(await get(idp, "/user", token)).toMatchObject(refused);
    await idp.call("users.restore", { username: "bob" });
    expect((await get(idp, "/user", token)).status).toBe(200);
    await idp.revoke({ user: "bob", client: "shop" });
    expect(await get(idp, "/user/emails", token)).toMatchObject(refused);
  });

  test("the app ends a token, or the grant with every token of it", async () => {
    const [one, other] = [await tokenFor(idp, "user"), await tokenFor(idp, "user")];
    expect((await ending(idp, "token", one, "wrong")).status).toBe(401);
    expect((await ending(idp, "token", one)).status).toBe(204);
    expect((await get(idp, "/user", one)).status).toBe(401);
    expect((await ending(idp, "token", one)).status).toBe(404);
    expect((await get(idp, "/user", other)).status).toBe(200);
    expect((await ending(idp, "grant", other)).status).toBe(204);
    expect((await get(idp, "/user", other)).status).toBe(401);
    expect(await idp.call("grants.list", { user: "alice", client: "shop" })).toMatchObject([{ status: "revoked" }]);
  });

  test("another client cannot end a token", async () => {
    const token = await tokenFor(idp, "user");
    await idp.call("clients.add", { client_id: "other", redirect_uris: [callback], client_secret: secret });
    const authorization = `Basic ${Buffer.from(`other:${secret}`).toString("base64")}`;
    for (const path of ["other", "shop"]) {
      const answer = await send(`${baseOf(idp)}/applications/${path}/token`, {
        method: "DELETE",
        headers: { authorization, "content-type": "application/json" },
        body: JSON.stringify({ access_token: token }),
      });
      expect(answer.status).toBe(404);
    }
    expect((await get(idp, "/user", token)).status).toBe(200);
  });

  test("a request without state gets a remark in the ledger", async () => {
    const remarkOf = async () =>
      ((await idp.call("requests.list", { endpoint: "authorize" })) as readonly { outcome: string }[]).at(-1)?.outcome;
    await send(addressOf(`${baseOf(idp)}/login/oauth/authorize`, { client_id: "shop" }), { redirect: "manual" });
    expect(await remarkOf()).toContain("no state was sent");
    await send(authorizeAt(idp), { redirect: "manual" });
    expect(await remarkOf()).not.toContain("no state");
  });

  test("no token is in the ledger", async () => {
    const token = await tokenFor(idp, "user");
    await get(idp, "/user", token, "token");
    await ending(idp, "token", token);
    expect(JSON.stringify(await idp.call("requests.list", {}))).not.toContain(token.slice(4));
  });
});

test("the tokens of github do not expire", async () => {
  let time = Date.parse("2026-01-15T12:00:00Z");
  const idp = await serveVendor("github", {}, { now: () => time });
  const token = await tokenFor(idp, "user");
  time += 5 * 365 * 86_400_000;
  expect((await get(idp, "/user", token)).status).toBe(200);
});

test("a client without a secret is a problem in fixtures, and when it is added", async () => {
  const open = { client_id: "open", redirect_uris: [callback] };
  const problem = { problems: [{ message: "is missing: every app has one at GitHub" }] };
  const idp = await serveVendor("github");
  await expect(idp.call("clients.add", { ...open, token_endpoint_auth_method: "none" })).rejects.toMatchObject(problem);
  const fixtures = [{ clients: [open], settings: { endpoints: "github" as const } }];
  await expect(serve({ fixtures })).rejects.toThrow(/every app has one at GitHub/);
});
