import { describe, expect, test } from "vitest";
import { codeAt } from "../../src/core/records/step-up/otp.ts";
import { made, realm, web } from "../helpers/made-fixtures.ts";

/** Second factors in files of other tools: levels of authentication, and the secrets of one-time codes. */

describe("Keycloak: levels of authentication", () => {
  const levelsOf = async (ofRealm: object, ofClient: object = {}) => {
    const { settings, clients, leftOut } = await made(
      "keycloak",
      realm({ attributes: ofRealm, clients: [{ ...web, attributes: ofClient }], users: [{ username: "u" }] }),
    );
    return { acr: settings["acr"], defaults: clients[0]?.["default_acr_values"], leftOut };
  };
  const map = (levels: object) => ({ "acr.loa.map": JSON.stringify(levels) });

  test("of the realm and of a client, with one line about what was assumed", async () => {
    const client = { ...map({ platinum: 3 }), "default.acr.values": "gold##platinum" };
    const { acr, defaults, leftOut } = await levelsOf(map({ silver: "1", gold: "2" }), client);
    expect(acr).toEqual({ silver: ["pwd"], gold: ["pwd", "otp"], platinum: ["pwd", "otp"] });
    expect(defaults).toEqual(["gold", "platinum"]);
    expect(leftOut).toEqual([expect.stringMatching(/attributes\["acr\.loa\.map"\] level 1 is taken as the password/)]);
  });
  test.each<[string, object, object, RegExp]>([
    ["a level of two kinds", map({ a: 1 }), map({ a: 2 }), /"a" is another level elsewhere/],
    ["level 0", map({ a: 1, none: 0 }), {}, /"none" is level 0.*urn:idp:single-factor/],
    ["a level that is not a number", map({ a: 1, b: "high" }), {}, /"b" has no level that is a number/],
    ["a name with a space", map({ a: 1, "b c": 2 }), {}, /"b c" is not a value of acr/],
    ["a map that is not JSON", map({ a: 1 }), { "acr.loa.map": "{oops" }, /is not JSON/],
    [
      "a minimum",
      map({ a: 1 }),
      { "minimum.acr.value": "a" },
      /attributes\["minimum\.acr\.value"\] no client has a minimum/,
    ],
  ])("%s is a line", async (_, ofRealm, ofClient, says) => {
    const { acr, leftOut } = await levelsOf(ofRealm, ofClient);
    expect(acr).toEqual({ a: ["pwd"] });
    expect(leftOut.filter((line) => !line.includes("is taken as"))).toEqual([expect.stringMatching(says)]);
  });
  test("an attribute that is left out is named itself", async () => {
    const { leftOut } = await levelsOf({ frontendUrl: "http://localhost:8080" });
    expect(leftOut).toEqual([expect.stringMatching(/ attributes\.frontendUrl is not carried over$/)]);
  });
});

describe("Keycloak: one-time codes", () => {
  const codeOf = async (value: string, data: object, ...others: object[]) => {
    const secretData = JSON.stringify({ value });
    const credential = { type: "otp", secretData, credentialData: JSON.stringify(data) };
    const { users, leftOut } = await made(
      "keycloak",
      realm({ users: [{ username: "u", credentials: [credential, ...others] }] }),
    );
    return { user: users[0], leftOut };
  };
  const text = "12345678901234567890";
  // RFC 6238, appendix B: the code of second 59 with this secret.
  const [second, code] = [59, "287082"];
  const usual = { subType: "totp", digits: 6, period: 30, algorithm: "HmacSHA1" };
  const base32 = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
  test.each<[string, string, object]>([
    ["raw text", text, usual],
    ["base32", base32, { ...usual, secretEncoding: "BASE32" }],
    ["numbers as text", text, { ...usual, digits: "6", period: "30" }],
    ["nothing but the secret", text, {}],
  ])("%s gives the codes of the same app", async (_, value, data) => {
    const { user, leftOut } = await codeOf(value, data);
    expect(user).toMatchObject({ factors: ["otp"], otp_secret: base32 });
    expect(codeAt(String(user?.["otp_secret"]), Math.floor(second / 30))).toBe(code);
    expect(leftOut).toEqual([]);
  });
  test("the form before Keycloak 8", async () => {
    const credentials = [{ type: "totp", hashedSaltedValue: text, digits: 6, period: 30, algorithm: "HmacSHA1" }];
    const { users } = await made("keycloak", realm({ users: [{ username: "u", credentials }] }));
    expect(users[0]).toMatchObject({ factors: ["otp"], otp_secret: base32 });
  });
  test.each<[string, string, object, RegExp]>([
    ["8 digits", text, { ...usual, digits: 8 }, /8 digits/],
    ["60 seconds", text, { ...usual, period: 60 }, /60 s/],
    ["SHA-256", text, { ...usual, algorithm: "HmacSHA256" }, /HmacSHA256/],
    ["a counter", text, { ...usual, subType: "hotp" }, /hotp/],
    ["a short secret", "short", usual, /fewer than 16 bytes/],
    ["a secret that is not base32", "!".repeat(32), { ...usual, secretEncoding: "BASE32" }, /not base32/],
  ])("%s is a line for the user", async (_, value, data, says) => {
    const { user, leftOut } = await codeOf(value, data);
    expect(user).toEqual({ username: "u" });
    expect(leftOut).toEqual([expect.stringMatching(/^file0:\d+:\d+ users\[0\]\.credentials\[0\] /)]);
    expect(leftOut[0]).toMatch(says);
    expect(leftOut[0]).not.toContain(value);
  });
  test("a second one is a line", async () => {
    const { user, leftOut } = await codeOf(text, usual, { type: "otp", secretData: JSON.stringify({ value: text }) });
    expect(user).toMatchObject({ otp_secret: base32 });
    expect(leftOut).toEqual([expect.stringMatching(/credentials\[1\] is another one-time code/)]);
  });
});

test("Auth0: the one-time codes of a bulk import", async () => {
  const user = (mfa_factors: object[]) => ({ email: "a@b.test", email_verified: true, mfa_factors });
  const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
  const { users, leftOut } = await made("auth0", [user([{ phone: { value: "+15551230000" } }, { totp: { secret } }])]);
  expect(users[0]).toMatchObject({ factors: ["otp"], otp_secret: secret });
  expect(leftOut).toEqual([expect.stringMatching(/mfa_factors\[0\] is a second factor that is not carried over/)]);
});
