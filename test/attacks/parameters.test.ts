import { describe, expect, test } from "vitest";
import { register } from "../helpers/app.ts";
import { innards, underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { callback, paths, pkce, post, type Answer } from "../helpers/client.ts";
import { newProofKey, tokenHash } from "../helpers/dpop.ts";

/** Parameters sent twice, mixed, of another type, or by another client than the one they belong to. */

const idp = await underAttack({ dynamicRegistration: true });
const app = await register(idp, { token_endpoint_auth_method: undefined });
const { client_id: clientId, client_secret: secret } = app.credentials;
const clientSecret = secret ?? "";
const other = await register(idp);
const endpoints = [
  paths.token,
  paths.revoke,
  paths.userinfo,
  "/api/v2/oauth/introspect",
  "/api/v2/oauth/par",
  "/api/v2/oauth/device_authorization",
  "/api/v2/oauth/register",
];

async function send(
  path: string,
  body: BodyInit,
  headers: Record<string, string> = {},
): Promise<Answer & { text: string }> {
  const response = await fetch(idp.issuer + path, { method: "POST", headers, body });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as Answer["json"] };
}
const jsonHeaders = { "content-type": "application/json" };
const basic = (id: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(password)}`).toString("base64")}`,
});

describe("JSON of another type is refused at every endpoint", () => {
  const values = [
    7,
    true,
    null,
    {},
    { $ne: "" },
    [],
    ["a", "b"],
    [["a"]],
    1e308,
    "\ud800",
    "\0",
    "__proto__",
    "constructor",
  ];
  test.each(endpoints)("%s", async (path) => {
    const names = [
      "grant_type",
      "client_id",
      "client_secret",
      "code",
      "refresh_token",
      "token",
      "scope",
      "resource",
      "redirect_uris",
      "access_token",
    ];
    const valid = { grant_type: "authorization_code", client_id: clientId, client_secret: clientSecret };
    for (const name of names) {
      for (const value of values) {
        const { status, text } = await send(path, JSON.stringify({ ...valid, [name]: value }), jsonHeaders);
        expect([name, value, status]).toEqual([name, value, expect.toSatisfy((one: number) => one < 500)]);
        expect(text).not.toMatch(innards);
        expect(text).not.toContain(clientSecret);
      }
    }
    for (const body of [
      '{"__proto__":{"client_id":"demo-app","client_secret":"demo-secret"}}',
      "[]",
      '{"a":1,"a":2}',
      `{"client_id":"${"a".repeat(90_000)}"}`,
    ]) {
      expect((await send(path, body, jsonHeaders)).status).toBeLessThan(500);
    }
    expect((await send(path, `{"a":"${"a".repeat(102_400)}"}`, jsonHeaders)).status).toBeGreaterThanOrEqual(413);
  });
});

describe("a parameter that is sent twice", () => {
  test.each(["grant_type", "code", "redirect_uri", "client_id", "client_secret", "code_verifier"])(
    "%s at the token endpoint",
    async (name) => {
      const { code } = await app.signIn();
      const once = {
        grant_type: "authorization_code",
        code,
        redirect_uri: callback,
        client_id: clientId,
        client_secret: clientSecret,
      };
      const body = new URLSearchParams(once);
      body.append(name, Object.hasOwn(once, name) ? once[name as keyof typeof once] : "a");
      body.append(name, "a");
      expect((await send(paths.token, body)).json.error).toBe("invalid_request");
      expect((await app.exchange(code)).status).toBe(200);
    },
  );

  test.each([
    "response_type",
    "scope",
    "state",
    "nonce",
    "code_challenge",
    "prompt",
    "response_mode",
    "request_uri",
    "claims",
  ])("%s at the authorization endpoint", async (name) => {
    const url = new URL(app.url({ prompt: "none" }));
    url.searchParams.append(name, "x");
    url.searchParams.append(name, "y");
    const { left } = await new Browser(idp.issuer).open(url.href);
    expect(left?.searchParams.get("error")).toBe("invalid_request");
  });

  test.each(["client_id", "redirect_uri"])("%s there: nobody is sent anywhere", async (name) => {
    const url = new URL(app.url({ prompt: "none" }));
    url.searchParams.append(name, "https://evil.test/");
    expect(await new Browser(idp.issuer).open(url.href)).toMatchObject({ status: 400, page: "error", left: null });
  });

  test("names that a parser could take for another's", async () => {
    const names = [
      "client_id[]",
      "client_id[0]",
      "client_id.x",
      "Client_Id",
      " client_id",
      "client_id\0",
      "__proto__[client_id]",
    ];
    for (const name of names) {
      const query = new URLSearchParams({ response_type: "code", redirect_uri: callback, [name]: clientId });
      const visit = await new Browser(idp.issuer).open(`${paths.authorize}?${query.toString()}`);
      expect(visit).toMatchObject({ status: 400, page: "error", left: null });
    }
  });
});

describe("client authentication", () => {
  const grant = { grant_type: "refresh_token", refresh_token: "x" };
  test.each<[name: string, body: Record<string, string>, headers: Record<string, string>, error: string]>([
    [
      "Basic and a secret",
      { client_id: clientId, client_secret: clientSecret },
      basic(clientId, clientSecret),
      "invalid_request",
    ],
    [
      "Basic of one client, client_id of another",
      { client_id: other.credentials.client_id },
      basic(clientId, clientSecret),
      "invalid_request",
    ],
    [
      "a secret and an assertion",
      {
        client_id: clientId,
        client_secret: clientSecret,
        client_assertion: "x",
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      },
      {},
      "invalid_request",
    ],
    [
      "another client's secret",
      { client_id: other.credentials.client_id, client_secret: clientSecret },
      {},
      "invalid_client",
    ],
    ["no secret", { client_id: clientId }, {}, "invalid_client"],
    ["an empty secret", { client_id: clientId, client_secret: "" }, {}, "invalid_client"],
    ["Basic with an empty secret", {}, basic(clientId, ""), "invalid_client"],
    ["a secret for a public client", { client_id: "demo-spa", client_secret: "x" }, {}, "invalid_client"],
    ["Basic with a secret for a public client", {}, basic("demo-spa", "x"), "invalid_client"],
    [
      "the beginning of the secret",
      { client_id: clientId, client_secret: clientSecret.slice(0, -1) },
      {},
      "invalid_client",
    ],
    ["the secret and a zero byte", { client_id: clientId, client_secret: `${clientSecret}\0` }, {}, "invalid_client"],
    [
      "an assertion of no signature",
      {
        client_assertion: `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from(JSON.stringify({ sub: clientId, iss: clientId })).toString("base64url")}.`,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      },
      {},
      "invalid_client",
    ],
  ])("%s", async (_name, body, headers, error) => {
    for (const path of [paths.token, paths.revoke, "/api/v2/oauth/introspect", "/api/v2/oauth/par"]) {
      const answer = await send(path, new URLSearchParams({ ...grant, token: "x", ...body }), headers);
      expect([path, answer.json.error]).toEqual([path, error]);
      expect(answer.text).not.toContain(clientSecret);
    }
  });

  test("what of one client another asks about or revokes", async () => {
    const tokens = await app.tokens();
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      expect((await post(idp, paths.revoke, { ...other.credentials, token })).json).toEqual({});
    }
    expect((await other.refresh(tokens.refresh_token)).json.error).toBe("invalid_grant");
    expect((await app.refresh(tokens.refresh_token)).status).toBe(200);
  });
});

describe("pushed requests", () => {
  const push = (by: typeof app): Promise<Answer> =>
    send(
      "/api/v2/oauth/par",
      new URLSearchParams({
        client_id: by.credentials.client_id,
        client_secret: by.credentials.client_secret ?? "",
        response_type: "code",
        redirect_uri: callback,
        scope: "openid",
      }),
    );
  const uriOf = async (by: typeof app): Promise<string> => String((await push(by)).json["request_uri"]);
  const open = (query: Record<string, string>) =>
    new Browser(idp.issuer).open(`${paths.authorize}?${new URLSearchParams(query).toString()}`);

  test("another client cannot use one, nor use it up", async () => {
    const uri = await uriOf(app);
    expect(await open({ client_id: other.credentials.client_id, request_uri: uri })).toMatchObject({
      page: "error",
      left: null,
    });
    expect((await open({ client_id: clientId, request_uri: uri })).page).toBe("login");
    expect(await open({ client_id: clientId, request_uri: uri })).toMatchObject({ page: "error", left: null });
  });

  test("parameters beside it change nothing", async () => {
    const uri = await uriOf(app);
    const visit = await open({
      client_id: clientId,
      request_uri: uri,
      redirect_uri: "https://evil.test/",
      scope: "openid email phone",
      prompt: "none",
    });
    expect(visit.page).toBe("login");
  });

  test.each([
    "https://evil.test/request",
    "http://127.0.0.1:1/",
    "file:///etc/passwd",
    "urn:ietf:params:oauth:request_uri:",
    "urn:ietf:params:oauth:request_uri:__proto__",
  ])("%s is never fetched", async (uri) => {
    const visit = await open({
      client_id: clientId,
      redirect_uri: callback,
      response_type: "code",
      request_uri: uri,
      prompt: "none",
    });
    const error = visit.left?.searchParams.get("error");
    expect(error).toBe(uri.startsWith("urn") ? "invalid_request_uri" : "request_uri_not_supported");
  });
});

describe("DPoP", () => {
  test("a proof passes once, for its own request, key and token", async () => {
    const [key, thief] = [await newProofKey(), await newProofKey()];
    const url = idp.issuer + paths.token;
    const redeem = async (code: string, dpop: string): Promise<Answer> =>
      send(
        paths.token,
        new URLSearchParams({
          grant_type: "authorization_code",
          code,
          redirect_uri: callback,
          client_id: clientId,
          client_secret: clientSecret,
        }),
        { dpop },
      );
    const proof = await key.prove(url);
    const first = await redeem((await app.signIn()).code, proof);
    expect(first.status).toBe(200);
    const refused = [
      proof,
      await key.prove(url, { htm: "GET" }),
      await key.prove(`${url}/`),
      await key.prove("\u0130"),
      await key.prove(url, { jti: undefined }),
      await key.prove(url, {}, { typ: "JWT" }),
      await key.prove(url, {}, { jwk: thief.publicJwk }),
      await key.prove(url, {}, { jwk: key.privateJwk }),
      await key.prove(url, { iat: 1 }),
      await key.prove(url, { iat: 1e300 }),
      await key.prove(url, { htu: ["x"] }),
    ];
    const { code } = await app.signIn();
    for (const dpop of refused) expect((await redeem(code, dpop)).json.error).toBe("invalid_dpop_proof");
    expect((await redeem(code, await key.prove(url))).status).toBe(200);

    const token = first.json.access_token;
    const at = idp.issuer + paths.userinfo;
    const ask = async (scheme: string, dpop?: string): Promise<number> =>
      (await fetch(at, { headers: { authorization: `${scheme} ${token}`, ...(dpop === undefined ? {} : { dpop }) } }))
        .status;
    const good = await key.prove(at, { htm: "GET", ath: tokenHash(token) });
    expect(await ask("DPoP", good)).toBe(200);
    expect(await ask("DPoP", good)).toBe(401);
    expect(await ask("Bearer")).toBe(401);
    expect(await ask("DPoP")).toBe(401);
    expect(await ask("DPoP", await thief.prove(at, { htm: "GET", ath: tokenHash(token) }))).toBe(401);
    expect(await ask("DPoP", await key.prove(at, { htm: "GET", ath: tokenHash("x") }))).toBe(401);
    expect(await ask("DPoP", await key.prove("\u0130\r\n", { htm: "\u0130", ath: tokenHash(token) }))).toBe(401);
  });
});

describe("device codes", () => {
  const grantType = "urn:ietf:params:oauth:grant-type:device_code";
  test("are good for their client, once, and only after their user said yes", async () => {
    const device = await register(idp, { grant_types: [grantType], redirect_uris: [] });
    const thief = await register(idp, { grant_types: [grantType], redirect_uris: [] });
    const begun = (
      await post(
        idp,
        "/api/v2/oauth/device_authorization",
        {},
        {
          headers: {},
          body: new URLSearchParams({
            client_id: device.credentials.client_id,
            client_secret: device.credentials.client_secret ?? "",
            scope: "openid",
          }),
        },
      )
    ).json;
    const poll = (by: typeof device): Promise<Answer> =>
      post(idp, paths.token, { ...by.credentials, grant_type: grantType, device_code: String(begun["device_code"]) });
    expect((await poll(thief)).json.error).toBe("invalid_grant");
    expect((await poll(device)).json.error).toBe("authorization_pending");
    const { browser } = await app.signIn();
    const page = await browser.open(`/device?user_code=${String(begun["user_code"])}`);
    for (const origin of ["https://evil.test", "http://localhost:1"]) {
      expect((await browser.press(page, "device-allow", {}, { origin })).status).toBe(403);
    }
    expect((await browser.press(page, "device-allow", { csrf: "x" })).status).toBe(403);
    expect((await poll(device)).json.error).toBe("slow_down");
    expect((await browser.press(page, "device-allow")).status).toBe(200);
    expect((await browser.press(page, "device-deny")).status).toBe(400);
    expect((await poll(thief)).json.error).toBe("invalid_grant");
    const answers = await Promise.all(Array.from({ length: 20 }, () => poll(device)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe("registration loosens nothing", () => {
  const path = "/api/v2/oauth/register";
  const good = { redirect_uris: ["https://app.example.test/cb"] };
  test("of what is ours alone", async () => {
    const { json } = await send(
      path,
      JSON.stringify({
        ...good,
        client_id: "demo-app",
        client_secret: "chosen by me",
        skip_consent: true,
        allowed_origins: ["https://evil.test"],
        audience: "x",
        id_token_claims: "all",
        createdAt: "x",
        registrationTokenHash: "x",
        __proto__: { x: 1 },
        constructor: 1,
      }),
      jsonHeaders,
    );
    expect(json["client_id"]).not.toBe("demo-app");
    expect(json["client_secret"]).not.toBe("chosen by me");
    for (const name of ["skip_consent", "audience", "registrationTokenHash"]) expect(json).not.toHaveProperty(name);
    const spare = await send(path, JSON.stringify(good), jsonHeaders);
    const foreign = await fetch(String(json["registration_client_uri"]), {
      headers: { authorization: `Bearer ${String(spare.json["registration_access_token"])}` },
    });
    expect(foreign.status).toBe(401);
    expect((await fetch(`${idp.issuer}${path}/demo-app`, { headers: { authorization: "Bearer x" } })).status).toBe(401);
    expect((await fetch(`${idp.issuer}${path}/__proto__`, { headers: { authorization: "Bearer x" } })).status).toBe(
      401,
    );
  });
  test.each([
    "javascript:alert(1)",
    "data:text/html,x",
    "http://evil.test/",
    "https://a@b.test/",
    "https://a.test/#x",
    "https://a.test/\r\nX: y",
    "https://a.test/../x",
    "file:///etc/passwd",
    "https://*.test/",
    "https://a.test:*/",
    "//evil.test/",
    "",
  ])("redirect URI %j", async (uri) => {
    const { status, json } = await send(path, JSON.stringify({ redirect_uris: [uri] }), jsonHeaders);
    expect([status, json.error]).toEqual([400, "invalid_redirect_uri"]);
  });
  test.each([
    [{ post_logout_redirect_uris: ["javascript:alert(1)"] }],
    [{ jwks_uri: "file:///etc/passwd" }],
    [{ backchannel_logout_uri: "javascript:x" }],
    [{ client_uri: "javascript:x" }],
    [{ logo_uri: "javascript:x" }],
    [{ grant_types: ["password"] }],
    [{ scope: 'a"b' }],
    [{ jwks: { keys: [{ kty: "oct", k: "x" }] } }],
    [{ client_name: {} }],
    [{ redirect_uris: { length: 1 } }],
  ])("%j", async (metadata) => {
    const { status } = await send(path, JSON.stringify({ ...good, ...metadata }), jsonHeaders);
    expect(status).toBe(400);
  });
});

test("an API of no registered origin reads nothing: no CORS", async () => {
  for (const origin of ["https://evil.test", "null", "http://localhost:3000.evil.test", "com.example.app:"]) {
    for (const path of [paths.token, paths.userinfo, paths.revoke]) {
      const { headers } = await fetch(idp.issuer + path, { method: "POST", headers: { origin } });
      expect([path, origin, headers.get("access-control-allow-origin")]).toEqual([path, origin, null]);
    }
  }
  const { headers } = await fetch(idp.issuer + paths.authorize, { headers: { origin: "http://localhost:3000" } });
  expect(headers.get("access-control-allow-origin")).toBeNull();
});

test("another code challenge than one's own redeems nothing, though client and redirect URI are right", async () => {
  const [mine, theirs] = [pkce(), pkce()];
  const { code } = await app.signIn({ code_challenge: theirs.challenge, code_challenge_method: "S256" });
  expect((await app.exchange(code, { code_verifier: mine.verifier })).json.error).toBe("invalid_grant");
});
