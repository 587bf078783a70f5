import { createHmac, createSign, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { describe, expect, test } from "vitest";
import { verifyForeignToken } from "../../src/core/protocol/tokens/read/verify.ts";
import type { Keys } from "../../src/jwt/signature.ts";

/** Tokens of any issuer: keys by their kind, claims, times, and the detail of each check. */

const now = 1_700_000_000_000;
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const other = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const ed = generateKeyPairSync("ed25519");
const jwk = (key: KeyObject, more: object = {}) => ({ ...key.export({ format: "jwk" }), ...more });

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const good = { iss: "https://issuer.test", aud: "app", iat: now / 1000 - 60, exp: now / 1000 + 60 };
const unsigned = (header: object, claims: object = {}): string => `${encode(header)}.${encode({ ...good, ...claims })}`;
const signed = (text: string, signature: Buffer): string => `${text}.${signature.toString("base64url")}`;

function rs256(claims: object = {}, header: object = {}, key = rsa.privateKey): string {
  const text = unsigned({ alg: "RS256", kid: "r", ...header }, claims);
  return signed(text, createSign("sha256").update(text).sign(key));
}
function hs256(secret: string | Buffer, header: object = {}): string {
  const text = unsigned({ alg: "HS256", ...header });
  return signed(text, createHmac("sha256", secret).update(text).digest());
}

const keys = {
  kind: "public",
  from: "keys.json",
  jwks: [
    jwk(rsa.publicKey, { kid: "r" }),
    jwk(rsa.publicKey, { kid: "for-encryption", use: "enc" }),
    jwk(rsa.publicKey, { kid: "ps", alg: "PS256" }),
    jwk(ec.publicKey, { kid: "e" }),
    jwk(ed.publicKey, { kid: "d" }),
    { kty: "oct", k: Buffer.from("known to everybody").toString("base64url"), kid: "o" },
    { kty: "RSA", n: "AQ", e: "", kid: "broken" },
  ],
} as const satisfies Keys;
const any = { issuer: null, audience: null, leeway: 0, now };
const checkOf = async (token: string, name: string, expected: Partial<typeof any> | object = {}, by: Keys = keys) =>
  (await verifyForeignToken(token, by, { ...any, ...expected })).checks.find((check) => check.name === name);

describe("a signature holds", () => {
  const es = unsigned({ alg: "ES256", kid: "e" });
  const eddsa = unsigned({ alg: "EdDSA" });
  test.each([
    ["RS256", rs256()],
    ["RS256 without kid", rs256({}, { kid: undefined })],
    ["ES256", signed(es, sign("sha256", Buffer.from(es), { key: ec.privateKey, dsaEncoding: "ieee-p1363" }))],
    ["EdDSA without kid", signed(eddsa, sign(null, Buffer.from(eddsa), ed.privateKey))],
  ])("%s", async (_name, token) => {
    expect(await verifyForeignToken(token, keys, any)).toMatchObject({ valid: true });
  });

  test("RS256 without kid, behind a key that cannot be read", async () => {
    const jwks = [{ kty: "RSA", e: "AQAB" }, jwk(rsa.publicKey)];
    const token = rs256({}, { kid: undefined });
    expect(await verifyForeignToken(token, { ...keys, jwks }, any)).toMatchObject({ valid: true });
  });

  test("HS256 with the secret", async () => {
    expect(
      await checkOf(
        hs256("s3cret"),
        "signature",
        {},
        { kind: "secret", secret: "s3cret", from: "the secret that was given" },
      ),
    ).toMatchObject({
      ok: true,
    });
  });
});

describe("a signature does not hold", () => {
  const pem = rsa.publicKey.export({ type: "spki", format: "pem" });
  test.each([
    ["another key", rs256({}, {}, other.privateKey), "not signed with the key that it names"],
    ["another key and no kid", rs256({}, { kid: undefined }, other.privateKey), "not signed with any of the 7 keys"],
    ["an unknown kid", rs256({}, { kid: "x" }), 'kid "x" is not among the 7 keys of keys.json'],
    ["none", `${unsigned({ alg: "none" })}.`, "not signed"],
    ["NONE", `${unsigned({ alg: "NONE" })}.`, "not signed"],
    ["no alg", rs256({}, { alg: undefined }), "has no alg"],
    ["HS256 with the public key", hs256(pem, { kid: "r" }), "a public key never verifies it"],
    [
      "HS256 with a secret that is published",
      hs256("known to everybody", { kid: "o" }),
      "a public key never verifies it",
    ],
    ["a key for encryption", rs256({}, { kid: "for-encryption" }), "usable for no signature"],
    ["a key for another algorithm", rs256({}, { kid: "ps" }), "usable for PS256"],
    ["a key of another kind", rs256({}, { kid: "e" }), "usable for ES256"],
    ["a broken key", rs256({}, { kid: "broken" }), 'the key "broken" of keys.json cannot be used'],
    ["crit", rs256({}, { crit: ["exp"] }), "RFC 7515 4.1.11"],
  ])("%s", async (_name, token, detail) => {
    const check = await checkOf(token, "signature");
    expect(check).toMatchObject({
      ok: false,
      detail: expect.stringContaining(detail),
    });
  });

  const small = generateKeyPairSync("rsa", { modulusLength: 1024 });
  test.each([
    [
      "a key that is too small",
      rs256({}, { kid: undefined }, small.privateKey),
      [jwk(small.publicKey)],
      "a key of keys.json cannot be used: RS256 requires key modulusLength to be 2048 bits or larger",
    ],
    [
      "the only key",
      rs256({}, { kid: undefined }, other.privateKey),
      [jwk(rsa.publicKey)],
      "RS256: not signed with the one key of keys.json; the token names no key",
    ],
  ])("%s", async (_name, token, jwks, detail) => {
    expect(await checkOf(token, "signature", {}, { ...keys, jwks })).toEqual({ name: "signature", ok: false, detail });
  });

  test.each([
    ["another secret", hs256("other"), "not signed with the secret"],
    ["RS256 with a secret", rs256(), "a secret verifies HS256, HS384 and HS512 only"],
  ])("%s", async (_name, token, detail) => {
    const check = await checkOf(
      token,
      "signature",
      {},
      { kind: "secret", secret: "s3cret", from: "the secret that was given" },
    );
    expect(check).toMatchObject({ ok: false, detail: expect.stringContaining(detail) });
  });
});

describe("the checks of claims", () => {
  const at = (seconds: number): number => now / 1000 + seconds;
  test.each([
    ["iss", {}, { issuer: "https://issuer.test" }, true, "https://issuer.test"],
    ["iss", {}, { issuer: "https://issuer.test/" }, false, "expected https://issuer.test/, the token has"],
    ["iss", { iss: undefined }, { issuer: "https://issuer.test" }, false, "the token has none"],
    ["aud", {}, { audience: "app" }, true, "app"],
    ["aud", { aud: ["x", "app"] }, { audience: "app" }, true, "app"],
    ["aud", { aud: ["x"] }, { audience: "app" }, false, 'expected app, the token has ["x"]'],
    ["exp", {}, {}, true, "expires in 60 s (2023-11-14 22:14:20 UTC)"],
    ["exp", { exp: at(0) }, {}, false, "expired now"],
    ["exp", { exp: at(-259_200) }, {}, false, "expired 3 days ago (2023-11-11 22:13:20 UTC)"],
    [
      "exp",
      { exp: at(-9) },
      { leeway: 10 },
      true,
      "expired 9 s ago (2023-11-14 22:13:11 UTC), within the leeway of 10 s",
    ],
    ["exp", { exp: at(-10) }, { leeway: 10 }, false, "expired 10 s ago"],
    ["exp", { exp: undefined }, {}, false, "has no exp"],
    ["exp", { exp: "tomorrow" }, {}, false, "not a number of seconds"],
    ["exp", { exp: 1e300 }, {}, true, "not a date"],
    ["nbf", { nbf: at(60) }, {}, false, "valid in 60 s (2023-11-14 22:14:20 UTC), in the future"],
    ["nbf", { nbf: at(60) }, { leeway: 60 }, true, "within the leeway of 60 s"],
    ["nbf", { nbf: at(-60) }, {}, true, "valid since 60 s ago"],
    ["iat", { iat: at(5) }, {}, false, "issued in 5 s"],
    ["iat", { iat: at(-5) }, {}, true, "issued 5 s ago"],
    ["iat", { iat: undefined }, {}, true, "does not say when"],
    ["iat", { iat: null }, {}, false, "not a number of seconds"],
  ])("%s %j under %j: %s", async (name, claims, expected, ok, detail) => {
    expect(await checkOf(rs256(claims), name, expected)).toMatchObject({ ok, detail: expect.stringContaining(detail) });
  });

  test("a time beyond all numbers is refused", async () => {
    const text = `${encode({ alg: "RS256", kid: "r" })}.${Buffer.from('{"exp":1e999,"iat":1e999}').toString("base64url")}`;
    const token = signed(text, createSign("sha256").update(text).sign(rsa.privateKey));
    for (const name of ["exp", "iat"]) {
      const detail = `${name} is not a number of seconds: 1e999`;
      expect(await checkOf(token, name)).toEqual({ name, ok: false, detail });
    }
  });

  test("every check is made, also after one that failed", async () => {
    const token = rs256({ exp: at(-5), aud: "x" }, {}, other.privateKey);
    const { valid, checks, notes } = await verifyForeignToken(token, keys, {
      ...any,
      issuer: "https://else.test",
      audience: "app",
    });
    expect(valid).toBe(false);
    expect(checks.map(({ name, ok }) => [name, ok])).toEqual([
      ["signature", false],
      ["iss", false],
      ["aud", false],
      ["exp", false],
      ["iat", true],
    ]);
    expect(notes).toEqual([expect.stringContaining("only the issuer knows")]);
  });

  test("without an issuer to compare with, the detail says so", async () => {
    expect((await verifyForeignToken(rs256(), keys, any)).notes[0]).toContain("--issuer");
  });
});
