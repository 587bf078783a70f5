import { describe, expect, it } from "vitest";
import { decodeToken, findTokens } from "../../src/core/protocol/tokens/read/decode.ts";

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const jwt = (payload: object, header: object = { alg: "HS256", typ: "at+jwt" }): string =>
  `${part(header)}.${part(payload)}.c2lnbmF0dXJl`;

const now = 1_700_000_000_000;
const token = jwt({ sub: "1", exp: now / 1000 + 60 });

describe("a token in a text", () => {
  it.each([
    ["as it is", token],
    ["with a line break at its end", `${token}\n`],
    ["after Bearer", `Bearer ${token}`],
    ["after bearer, in small letters", `bearer   ${token}`],
    ["as a whole header", `Authorization: Bearer ${token}`],
    ["in double quotes", `"${token}"`],
    ["in single quotes and after Bearer", `'Bearer ${token}'`],
    ["with the comma of a JSON member", `"${token}",`],
    ["broken over lines", `${token.slice(0, 20)}\n  ${token.slice(20, 44)}\r\n${token.slice(44)}`],
    ["with spaces in it", `${token.slice(0, 20)} ${token.slice(20)}`],
  ])("is found %s", (_how, text) => {
    expect(findTokens(text)).toEqual([{ name: null, token }]);
  });

  it("is found in a token response, each by its name, and other text is left out", () => {
    const response = {
      access_token: token,
      token_type: "Bearer",
      id_token: jwt({ sub: "2" }),
      refresh_token: "opaque",
    };
    expect(findTokens(JSON.stringify(response, null, 2))).toEqual([
      { name: "access_token", token },
      { name: "id_token", token: jwt({ sub: "2" }) },
    ]);
  });

  it("is found on each of several lines", () => {
    const other = jwt({ sub: "2" });
    expect(findTokens(`Bearer ${token}\n\n"${other}"\n`)).toEqual([
      { name: null, token },
      { name: null, token: other },
    ]);
  });

  it.each([
    ["nothing", " \n ", "the text is empty"],
    ["JSON without a token", '{"error":"invalid_grant"}', "its members are: error"],
    ["an empty object", "{}", "its members are: none"],
    ["half a token response", '{"access_token":"ey', "is not JSON"],
  ])("is not found in %s", (_what, text, message) => {
    expect(() => findTokens(text)).toThrow(message);
  });
});

describe("what a token says", () => {
  it("is its header, its claims, its signature unchanged, and the time left", () => {
    expect(decodeToken(token, now)).toEqual({
      header: { alg: "HS256", typ: "at+jwt" },
      payload: { sub: "1", exp: now / 1000 + 60 },
      signature: "c2lnbmF0dXJl",
      expiresIn: 60,
      verified: false,
    });
  });

  it("is shown of an expired token, with the time since", () => {
    expect(decodeToken(jwt({ exp: now / 1000 - 5 }), now).expiresIn).toBe(-5);
  });

  it.each([
    ["absent", {}],
    ["text", { exp: "tomorrow" }],
    ["null", { exp: null }],
  ])("has no time left if exp is %s", (_what, payload) => {
    expect(decodeToken(jwt(payload), now).expiresIn).toBeNull();
  });

  it("is shown of an unsigned token", () => {
    expect(decodeToken(`${part({ alg: "none" })}.${part({ sub: "1" })}.`, now).signature).toBe("");
  });

  it("keeps letters beyond ASCII", () => {
    expect(decodeToken(jwt({ name: "Çelik 🦊" }), now).payload).toEqual({ name: "Çelik 🦊" });
  });

  it.each([
    ["an opaque value", "opaque_8Jf", "no dots"],
    ["two parts", "a.b", "it has 2 parts"],
    ["an encrypted token", "a.b.c.d.e", "JWE"],
    ["a header that is no base64url", `a$b.${part({})}.x`, 'the header holds "$"'],
    ["a payload that is no base64url", `${part({})}.a$b.x`, 'the payload holds "$"'],
    ["a payload cut off", `${part({ alg: "x" })}.${part({ sub: "123" }).slice(0, -4)}.x`, "the payload is not JSON"],
    ["bytes that are no UTF-8", `${part({})}.${Buffer.from([0x22, 0xff, 0x22]).toString("base64url")}.x`, "not JSON"],
    ["a payload that is a list", `${part({})}.${part([1])}.x`, "the payload is not a JSON object"],
    ["a header that is null", `${part(null)}.${part({})}.x`, "the header is not a JSON object"],
  ])("is not decoded from %s", (_what, text, message) => {
    expect(() => decodeToken(text, now)).toThrow(message);
  });
});
