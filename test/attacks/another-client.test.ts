import { describe, expect, test } from "vitest";
import { register, type App } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { callback, paths, post, type Answer } from "../helpers/client.ts";
import { newProofKey, tokenHash } from "../helpers/dpop.ts";

/** What belongs to one client, one request or one key, in the hands of another: codes, tokens, pushed requests, devices, proofs. */

const idp = await underAttack();
const app = await register(idp);
const other = await register(idp);
const { client_id: clientId } = app.credentials;

/** A form of this client. */
function form(by: App, path: string, parameters: Record<string, string>, headers: Record<string, string> = {}) {
  const { client_id, client_secret } = by.credentials;
  const body = new URLSearchParams({ client_id, client_secret: client_secret ?? "", ...parameters });
  return post(idp, path, {}, { headers, body });
}

test("a client cannot revoke or refresh the tokens of another", async () => {
  const tokens = await app.tokens();
  for (const token of [tokens.access_token, tokens.refresh_token]) {
    expect((await post(idp, paths.revoke, { ...other.credentials, token })).json).toEqual({});
  }
  expect((await other.refresh(tokens.refresh_token)).json.error).toBe("invalid_grant");
  expect((await app.refresh(tokens.refresh_token)).status).toBe(200);
});

describe("pushed requests", () => {
  const push = async (): Promise<string> => {
    const request = { response_type: "code", redirect_uri: callback, scope: "openid" };
    return String((await form(app, "/api/v2/oauth/par", request)).json["request_uri"]);
  };
  const open = (query: Record<string, string>) =>
    new Browser(idp.issuer).open(`${paths.authorize}?${new URLSearchParams(query).toString()}`);

  test("another client cannot use one, nor use it up", async () => {
    const uri = await push();
    expect(await open({ client_id: other.credentials.client_id, request_uri: uri })).toMatchObject({
      page: "error",
      left: null,
    });
    expect((await open({ client_id: clientId, request_uri: uri })).page).toBe("login");
    expect(await open({ client_id: clientId, request_uri: uri })).toMatchObject({ page: "error", left: null });
  });

  test("parameters beside it change nothing", async () => {
    const uri = await push();
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
    const redeem = (code: string, dpop: string): Promise<Answer> =>
      form(app, paths.token, { grant_type: "authorization_code", code, redirect_uri: callback }, { dpop });
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
    const { json: begun } = await form(device, "/api/v2/oauth/device_authorization", { scope: "openid" });
    const poll = (by: App): Promise<Answer> =>
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

test("the consent that one user gave one client is not that of another pair whose joined ids read alike", async () => {
  const grants = [
    { user: "jo", client: "x shop", scope: "openid" },
    { user: "jox", client: "shop", scope: "openid email" },
  ];
  const client = (client_id: string) => ({ client_id, client_secret: "s", redirect_uris: [callback] });
  const users = [
    { username: "jo", id: "jo" },
    { username: "jox", id: "jo x" },
  ];
  await idp.call("seed", { users, clients: [client("x shop"), client("shop")], grants });
  const kept = await idp.call("grants.list", {});
  const mine = kept.filter(({ user }) => users.some(({ username }) => username === user));
  expect(mine.map(({ user, client: id, scope }) => ({ user, client: id, scope }))).toEqual(grants);
  expect(new Set(mine.map(({ id }) => id)).size).toBe(2);
});
