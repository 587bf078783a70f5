import { expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import type { Answer, Body } from "../helpers/client.ts";
import { tokenHash, type Bend } from "../helpers/dpop.ts";
import { dpopApp } from "../helpers/dpop-app.ts";

/** DPoP nonces (RFC 9449 8, 9): the setting `dpop_nonce: required`. */

const { app, clock, idp, key, redeem, renew, tokenUrl, userinfoUrl } = await dpopApp({ dpop_nonce: "required" });
const parUrl = `${idp.issuer}/api/v2/oauth/par`;

const nonceOf = ({ headers }: Pick<Answer, "headers">): string => headers.get("dpop-nonce") ?? "";

/** The nonce that the server gives now. */
const currentNonce = async (): Promise<string> => nonceOf(await fetch(tokenUrl, { method: "POST" }));

async function present(token: string, claims: Bend): Promise<Answer> {
  const dpop = await key.prove(userinfoUrl, { htm: "GET", ath: tokenHash(token), ...claims });
  const response = await fetch(userinfoUrl, { headers: { authorization: `DPoP ${token}`, dpop } });
  return { status: response.status, headers: response.headers, json: (await response.json()) as Body };
}

test("at the token endpoint a proof without a nonce is refused with one, and the code is still good", async () => {
  const { code } = await idp.issueCode({ user: "alice", client: app.credentials.client_id });
  const send = async (claims: Bend) => redeem(app, await key.prove(tokenUrl, claims), code);
  const refused = await send({});
  expect([refused.status, refused.json.error]).toEqual([400, "use_dpop_nonce"]);
  expect(refused.json.error_description).toContain("DPoP-Nonce");
  expect(nonceOf(refused)).not.toBe("");
  const passed = await send({ nonce: nonceOf(refused) });
  expect([passed.status, passed.json["token_type"]]).toEqual([200, "DPoP"]);
  // RFC 9449 8.2: each answer brings the nonce of the next proof.
  expect(nonceOf(passed)).toBe(nonceOf(refused));
});

test("at UserInfo the challenge says so", async () => {
  const nonce = await currentNonce();
  const { access_token } = (await redeem(app, await key.prove(tokenUrl, { nonce }))).json;
  const refused = await present(access_token, {});
  expect([refused.status, refused.json.error, nonceOf(refused)]).toEqual([401, "use_dpop_nonce", nonce]);
  expect(refused.headers.get("www-authenticate")).toMatch(/^DPoP .*error="use_dpop_nonce"/);
  const passed = await present(access_token, { nonce });
  expect([passed.status, nonceOf(passed)]).toEqual([200, nonce]);
});

test("at PAR", async () => {
  const push = async (claims: Bend) => {
    const { client_id, client_secret } = app.credentials;
    const parameters = {
      client_id,
      client_secret: client_secret ?? "",
      response_type: "code",
      redirect_uri: "http://localhost:3000/callback",
    };
    return fetch(parUrl, {
      method: "POST",
      headers: { dpop: await key.prove(parUrl, claims) },
      body: new URLSearchParams(parameters),
    });
  };
  const refused = await push({});
  expect([refused.status, ((await refused.json()) as Body).error]).toEqual([400, "use_dpop_nonce"]);
  expect((await push({ nonce: nonceOf(refused) })).status).toBe(201);
});

test("the previous nonce is taken too; an older one, a coming one and a made-up one are not", async () => {
  const first = await currentNonce();
  const tryWith = async (nonce: unknown) => (await redeem(app, await key.prove(tokenUrl, { nonce }))).json.error;
  clock.pass(300);
  const second = await currentNonce();
  expect(second).not.toBe(first);
  expect(await tryWith(first)).toBeUndefined();
  clock.pass(300);
  expect(await tryWith(first)).toBe("use_dpop_nonce");
  expect(await tryWith(second)).toBeUndefined();
  for (const nonce of ["", "made-up", 7, null, [second], second.slice(1)])
    expect(await tryWith(nonce)).toBe("use_dpop_nonce");
  const elsewhere = await serve({ settings: { dpop_nonce: "required" }, now: clock.now });
  expect(await tryWith(nonceOf(await fetch(`${elsewhere.issuer}/api/v2/oauth/token`, { method: "POST" })))).toBe(
    "use_dpop_nonce",
  );
  clock.pass(-900);
  expect(await tryWith(second)).toBe("use_dpop_nonce");
});

test("refresh tokens too; bearer tokens need none, and where the setting is off there is none", async () => {
  const spa = await register(idp, { token_endpoint_auth_method: "none" });
  const nonce = await currentNonce();
  const { refresh_token } = (await redeem(spa, await key.prove(tokenUrl, { nonce }))).json;
  expect((await renew(spa, refresh_token, await key.prove(tokenUrl))).json.error).toBe("use_dpop_nonce");
  expect((await renew(spa, refresh_token, await key.prove(tokenUrl, { nonce }))).status).toBe(200);
  expect((await redeem(app, null)).status).toBe(200);
  const off = await serve();
  expect(nonceOf(await fetch(`${off.issuer}/api/v2/oauth/token`, { method: "POST" }))).toBe("");
});

test("pages of clients may read the nonce and the challenge", async () => {
  const headers = { origin: "http://localhost:3000" };
  const { headers: answered } = await fetch(userinfoUrl, { headers });
  expect(answered.get("access-control-expose-headers")).toBe("WWW-Authenticate, DPoP-Nonce");
});
