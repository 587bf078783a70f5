import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import { underAttack } from "../helpers/attack.ts";
import { approve, Browser } from "../helpers/browser.ts";
import { callback } from "../helpers/client.ts";

/** Okta's paths make two issuers on the same users and clients. What belongs to one of them is refused at the other. */

const grantType = "urn:ietf:params:oauth:grant-type:device_code";
const idp = await underAttack({
  settings: { endpoints: "okta", access_token_alg: "RS256" },
  dynamicRegistration: true,
});
await idp.call("seed", { clients: [{ client_id: "tv", grant_types: [grantType] }] });

interface Side {
  readonly issuer: string;
  /** Where its endpoints are. */
  readonly at: string;
}
const base = new URL(idp.issuer).origin;
const named: Side = { issuer: idp.issuer, at: `${idp.issuer}/v1` };
const own: Side = { issuer: base, at: `${base}/oauth2/v1` };
const pairs = [
  ["the issuer named default", "the organization's own", named, own],
  ["the organization's own issuer", "the one named default", own, named],
] as const;

const secret = { client_id: "demo-app", client_secret: "demo-secret" };
const isOf = (one: Side, other: Side): string => `one of the issuer ${one.issuer}; this is ${other.issuer}`;

async function send({ at }: Side, path: string, body: Readonly<Record<string, string>>, headers = {}) {
  const response = await fetch(at + path, { method: "POST", body: new URLSearchParams(body), headers });
  const text = await response.text();
  return { status: response.status, json: (text === "" ? {} : JSON.parse(text)) as Record<string, string> };
}

const request = {
  response_type: "code",
  client_id: "demo-app",
  redirect_uri: callback,
  scope: "openid profile offline_access",
};
const asking = ({ at }: Side, parameters: Readonly<Record<string, string>> = request): string =>
  `${at}/authorize?${new URLSearchParams(parameters).toString()}`;

/** Signs in by the paths of an issuer. @returns the parameters of the redirect */
async function signIn(side: Side, parameters: Readonly<Record<string, string>> = request): Promise<URLSearchParams> {
  const browser = new Browser(base);
  const { left } = await approve(browser, await browser.open(asking(side, parameters)));
  return (left ?? new URL(callback)).searchParams;
}

const exchange = (side: Side, code: string | null) =>
  send(side, "/token", { grant_type: "authorization_code", code: code ?? "", redirect_uri: callback, ...secret });
const refresh = (side: Side, token = "") =>
  send(side, "/token", { grant_type: "refresh_token", refresh_token: token, ...secret });
const userinfo = ({ at }: Side, token = "") =>
  fetch(`${at}/userinfo`, { headers: { authorization: `Bearer ${token}` } });

describe.each(pairs)("what belongs to %s, at %s", (_one, _other, one, other) => {
  test("a code is refused, stays usable at its own, and its replay at the other revokes nothing", async () => {
    const answered = await signIn(one);
    expect(answered.get("iss")).toBe(one.issuer);
    const code = answered.get("code");
    const refused = { error: "invalid_grant", error_description: `code is ${isOf(one, other)}` };
    expect(await exchange(other, code)).toMatchObject({ status: 400, json: refused });
    const { status, json } = await exchange(one, code);
    expect(status).toBe(200);
    expect((await exchange(other, code)).json).toMatchObject(refused);
    expect((await userinfo(one, json["access_token"])).status).toBe(200);
    // A replay at its own revokes, as ever.
    expect((await exchange(one, code)).json["error"]).toBe("invalid_grant");
    expect((await userinfo(one, json["access_token"])).status).toBe(401);
  });

  test("a pushed request is refused and not used up", async () => {
    const pushed = await send(one, "/par", { ...request, ...secret });
    expect(pushed.status).toBe(201);
    const query = { client_id: "demo-app", request_uri: pushed.json["request_uri"] ?? "" };
    const opened = await fetch(asking(other, query), { redirect: "manual" });
    expect([opened.status, await opened.text()]).toEqual([
      400,
      expect.stringContaining(`request_uri is ${isOf(one, other)}`),
    ]);
    expect((await signIn(one, query)).get("iss")).toBe(one.issuer);
  });

  test("a device code is refused before and after the user has allowed it", async () => {
    const begun = await send(one, "/device/authorize", { client_id: "tv", scope: "openid" });
    expect(begun.status).toBe(200);
    const poll = { grant_type: grantType, client_id: "tv", device_code: begun.json["device_code"] ?? "" };
    const refused = { error: "invalid_grant", error_description: `device_code is ${isOf(one, other)}` };
    expect((await send(other, "/token", poll)).json).toMatchObject(refused);
    const browser = new Browser(base);
    const confirm = await approve(browser, await browser.open(begun.json["verification_uri_complete"] ?? ""));
    await browser.press(confirm, "device-allow");
    expect((await send(other, "/token", poll)).json).toMatchObject(refused);
    expect((await send(one, "/token", poll)).status).toBe(200);
  });

  test("access, refresh and ID tokens are refused, and nothing ends them there", async () => {
    const { json: tokens } = await exchange(one, (await signIn(one)).get("code"));
    expect((await userinfo(other, tokens["access_token"])).status).toBe(401);
    const notRefreshed = await refresh(other, tokens["refresh_token"]);
    expect(notRefreshed.json).toMatchObject({
      error: "invalid_grant",
      error_description: expect.stringContaining(isOf(one, other)) as string,
    });
    for (const kind of ["access_token", "refresh_token", "id_token"]) {
      const token = tokens[kind] ?? "";
      expect((await send(other, "/introspect", { token, ...secret })).json).toEqual({ active: false });
      await send(other, "/revoke", { token, ...secret });
    }
    const hinted = await fetch(asking(other, { ...request, id_token_hint: tokens["id_token"] ?? "" }), {
      redirect: "manual",
    });
    expect(new URL(hinted.headers.get("location") ?? "").searchParams.get("error_description")).toContain(
      isOf(one, other),
    );
    const logout = await fetch(`${other.at}/logout?id_token_hint=${tokens["id_token"] ?? ""}`);
    expect([logout.status, await logout.text()]).toEqual([400, expect.stringContaining(isOf(one, other))]);
    expect((await userinfo(one, tokens["access_token"])).status).toBe(200);
    expect((await refresh(one, tokens["refresh_token"])).status).toBe(200);
  });

  test("a client assertion for it is refused", async () => {
    const client_secret = "a secret of 32 bytes or more, for HS256";
    const service = { client_id: "service", client_secret, grant_types: ["client_credentials"] };
    await idp.call("seed", { clients: [{ ...service, token_endpoint_auth_method: "client_secret_jwt" }] });
    for (const aud of [one.issuer, `${one.at}/token`]) {
      const client_assertion = await new SignJWT({ iss: "service", sub: "service", aud, jti: randomUUID() })
        .setProtectedHeader({ alg: "HS256" })
        .setIssuedAt()
        .setExpirationTime("1m")
        .sign(new TextEncoder().encode(client_secret));
      const body = {
        ...{ grant_type: "client_credentials", client_assertion },
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      };
      expect((await send(other, "/token", body)).status).toBe(401);
      expect((await send(one, "/token", body)).status).toBe(200);
    }
  });
});
