import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { FlawName } from "../../src/core/testing/controls/faults/flaw-list.ts";
import { register, type App } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { callback, jwtPart, paths, post, userinfo } from "../helpers/client.ts";
import { newProofKey } from "../helpers/dpop.ts";

/** The same token in another spelling, and ID tokens that were made to be refused. */

const idp = await underAttack();
const exchangeType = "urn:ietf:params:oauth:grant-type:token-exchange";
const app = await register(idp, { grant_types: ["authorization_code", "refresh_token", exchangeType] });
const ofAlice = { user: "alice", client: app.credentials.client_id };
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Sets a bit of the last character that belongs to no byte. */
const withStrayBit = (text: string): string => {
  const last = text.slice(text.lastIndexOf(".") + 1);
  expect(last.length % 4, "it has no stray bits").not.toBe(0);
  return text.slice(0, -1) + (alphabet[alphabet.indexOf(text.at(-1) ?? "") | 1] ?? "");
};

/** Other texts for the bytes of a token, as lenient decoders read them. */
const spellings: readonly (readonly [name: string, spell: (token: string) => string])[] = [
  ["a stray bit at the end of the signature", withStrayBit],
  ["padding", (token) => `${token}=`],
  ["a line break in the signature", (token) => `${token.slice(0, -9)}\n${token.slice(-9)}`],
  ["a character that is skipped", (token) => `${token}!`],
];

/** `n-s` in the place of `s` verifies as well (ECDSA). */
function otherHalf(token: string): string {
  const [head = "", payload = "", signature = ""] = token.split(".");
  const order = BigInt("0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");
  const bytes = Buffer.from(signature, "base64url");
  const s = order - BigInt(`0x${bytes.subarray(32).toString("hex")}`);
  const flipped = Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, "0"), "hex")]);
  return `${head}.${payload}.${flipped.toString("base64url")}`;
}

/** Where an ID token is taken as a hint: none of them says anything if it takes it. */
async function takenAsHint(app: App, hint: string): Promise<readonly string[]> {
  const { browser } = await app.signIn();
  const { left } = await browser.open(app.url({ id_token_hint: hint, prompt: "none" }));
  const { client_id, client_secret } = app.credentials;
  const pushed = await fetch(`${idp.issuer}/api/v2/oauth/par`, {
    method: "POST",
    body: new URLSearchParams({
      ...{ client_id, client_secret: client_secret ?? "", response_type: "code", id_token_hint: hint },
      redirect_uri: callback,
    }),
  });
  const { status } = await browser.open(
    `/api/v2/oauth/logout?${new URLSearchParams({ id_token_hint: hint }).toString()}`,
  );
  const signedIn = (await browser.open("/account")).page === "account";
  return [
    ...(left?.searchParams.has("code") === true ? ["authorize"] : []),
    ...(pushed.status === 201 ? ["par"] : []),
    ...(status === 200 || !signedIn ? ["logout"] : []),
  ];
}

describe.each(spellings)("%s", (_name, spell) => {
  test("no access or refresh token", async () => {
    const tokens = await app.tokens();
    const access = spell(tokens.access_token);
    const response = await fetch(`${idp.issuer}${paths.userinfo}`, {
      method: "POST",
      body: new URLSearchParams({ access_token: access }),
    });
    expect(response.status).toBe(401);
    expect((await post(idp, "/api/v2/oauth/introspect", { ...app.credentials, token: access })).json).toEqual({
      active: false,
    });
    const exchange = { ...app.credentials, grant_type: exchangeType, subject_token: access };
    const subject_token_type = "urn:ietf:params:oauth:token-type:access_token";
    expect((await post(idp, paths.token, { ...exchange, subject_token_type })).status).toBe(400);
    expect((await app.refresh(spell(tokens.refresh_token))).json.error).toBe("invalid_grant");
    expect((await idp.call("token.verify", { token: access })).valid).toBe(false);
    // Not one of them counted as a use of the real one.
    expect((await userinfo(idp, tokens.access_token)).status).toBe(200);
    expect((await app.refresh(tokens.refresh_token)).status).toBe(200);
  });

  test.each(["RS256", "PS256", "ES256", "EdDSA", "HS256"])("no ID token that is signed with %s", async (alg) => {
    const own = await register(idp, { id_token_signed_response_alg: alg as "RS256" });
    const { id_token } = await own.tokens();
    expect(await takenAsHint(own, id_token)).toEqual(["authorize", "par", "logout"]);
    expect(await takenAsHint(own, spell(id_token))).toEqual([]);
    expect((await idp.call("token.verify", { token: spell(id_token) })).valid).toBe(false);
  });

  test("no DPoP proof", async () => {
    const key = await newProofKey();
    const url = `${idp.issuer}${paths.token}`;
    const refresh = async (bend: (proof: string) => string) => {
      const { refresh_token } = await app.tokens();
      const proof = bend(await key.prove(url));
      if (/[\n]/.test(proof)) return "not a header";
      const body = new URLSearchParams({
        ...{ client_id: ofAlice.client, client_secret: app.credentials.client_secret ?? "" },
        ...{ grant_type: "refresh_token", refresh_token },
      });
      const { status } = await fetch(url, { method: "POST", headers: { dpop: proof }, body });
      return status;
    };
    expect(await refresh((proof) => proof)).toBe(200);
    expect(await refresh(spell)).not.toBe(200);
  });

  test("no client assertion", async () => {
    const secret = "a secret of 32 bytes or more, for HS256 and the like";
    const own = await register(idp, { token_endpoint_auth_method: "client_secret_jwt", client_secret: secret });
    const { client_id: id } = own.credentials;
    const ask = async (bend: (assertion: string) => string) => {
      const exp = Math.floor(Date.now() / 1000) + 60;
      const text = `${encode({ alg: "HS256" })}.${encode({ iss: id, sub: id, aud: idp.issuer, exp, jti: crypto.randomUUID() })}`;
      const assertion = bend(`${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`);
      const { json } = await post(idp, paths.token, {
        ...{ client_id: null, client_secret: null, grant_type: "authorization_code", code: "none" },
        redirect_uri: callback,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: assertion,
      });
      return json.error;
    };
    expect(await ask((assertion) => assertion)).toBe("invalid_grant");
    expect(await ask(spell)).toBe("invalid_client");
  });
});

test("whoever can sign cannot spell the claims otherwise either", async () => {
  const own = await register(idp, { id_token_signed_response_alg: "HS256" });
  const claims = jwtPart((await own.tokens()).id_token, 1);
  const sign = (head: string, payload: string): string =>
    `${head}.${payload}.${createHmac("sha256", own.credentials.client_secret ?? "")
      .update(`${head}.${payload}`)
      .digest("base64url")}`;
  const head = encode({ alg: "HS256", typ: "JWT" });
  let payload = encode(claims);
  for (let n = 0; payload.length % 4 === 0; n += 1) payload = encode({ ...claims, x: "x".repeat(n) });
  expect(await takenAsHint(own, sign(head, payload))).toHaveLength(3);
  for (const token of [sign(head, withStrayBit(payload)), sign(`${head}=`, payload), sign(head, `${payload}=`)]) {
    expect(await takenAsHint(own, token)).toEqual([]);
  }
});

describe("an ID token that was made to be refused", () => {
  const valid = { valid: true };
  /** Every flaw that leaves a `sub` and a signature by a published key. */
  const flaws: FlawName[] = [
    "aud-extra",
    "azp-wrong",
    "exp-past",
    "iat-future",
    "nonce-wrong",
    "nonce-missing",
    "at-hash-wrong",
    "aud-contains",
  ];

  test.each(["RS256", "ES256"] as const)("is refused with a signature that is spelt otherwise (%s)", async (alg) => {
    const own = await register(idp, { id_token_signed_response_alg: alg });
    const made: string[] = [];
    for (const flaw of flaws) {
      await idp.faults.add({ endpoint: "token", flaw });
      made.push((await own.tokens()).id_token);
    }
    const issued = await idp.call("token.issue", {
      user: "alice",
      client: own.credentials.client_id,
      type: "id",
      expired: true,
    });
    for (const token of [...made, issued.token]) {
      for (const spell of [(same: string) => same, withStrayBit, ...(alg === "ES256" ? [otherHalf] : [])]) {
        expect(await takenAsHint(own, spell(token))).toEqual([]);
        expect(await idp.call("token.verify", { token: spell(token) })).toMatchObject({ valid: false });
      }
    }
    // The other half of a good one is a good one.
    const { id_token } = await own.tokens();
    expect(await takenAsHint(own, alg === "ES256" ? otherHalf(id_token) : id_token)).toHaveLength(3);
  });

  test("token verify says so of every flaw of the token endpoint, and of every bad token that is issued", async () => {
    const { id_token } = await app.tokens();
    expect(await idp.call("token.verify", { token: id_token })).toMatchObject(valid);
    expect(jwtPart(id_token, 1)["jti"]).toEqual(expect.any(String));
    const names = (await idp.call("faults.flaws", {})).filter(({ endpoint }) => endpoint === "token");
    for (const { name } of names) {
      await idp.faults.add({ endpoint: "token", flaw: name as FlawName });
      const { id_token: token } = await app.tokens();
      await idp.faults.clear();
      if (/^(id-jag|id-token-missing|token-type|type-case|expires-in|refresh-token|scope-)/.test(name)) continue;
      const { checks, ...verified } = await idp.call("token.verify", { token });
      expect([name, verified]).toMatchObject([name, { valid: false }]);
      expect(checks.filter(({ ok }) => !ok)).not.toEqual([]);
    }
  });

  test("token verify requires what OpenID Connect Core 2 requires", async () => {
    const own = await register(idp, { id_token_signed_response_alg: "HS256" });
    const claims = jwtPart((await own.tokens()).id_token, 1);
    const verify = async (change: object) => {
      const text = `${encode({ alg: "HS256", typ: "JWT" })}.${encode({ ...claims, ...change })}`;
      const key = own.credentials.client_secret ?? "";
      const token = `${text}.${createHmac("sha256", key).update(text).digest("base64url")}`;
      return (await idp.call("token.verify", { token })).valid;
    };
    expect(await verify({})).toBe(true);
    for (const name of ["iss", "sub", "aud", "exp", "iat", "jti"]) {
      expect([name, await verify({ [name]: undefined })]).toEqual([name, false]);
    }
    for (const change of [{ sub: 7 }, { sub: "é" }, { sub: "nobody" }, { azp: "demo-spa" }, { iat: "now" }]) {
      expect([change, await verify(change)]).toEqual([change, false]);
    }
    const other = await idp.call("token.issue", { ...ofAlice, type: "id", audience: "https://api.test" });
    expect((await idp.call("token.verify", { token: other.token })).valid).toBe(false);
  });
});
