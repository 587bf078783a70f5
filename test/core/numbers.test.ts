import { describe, expect, it, test } from "vitest";
import { decodeToken } from "../../src/core/protocol/tokens/read/decode.ts";
import { checkClaims } from "../../src/jwt/checks.ts";
import { ExactNumber, exactJson, parseExact } from "../../src/text/json.ts";
import { problemsOf } from "../helpers/fixtures.ts";

/** Numbers keep their digits: fixtures refuse what JavaScript would round, and tokens are shown as they were written. */

const sentence = "is a number beyond 2^53, and would lose digits: put it in quotes";
const inYaml = (claims: string) =>
  problemsOf({ name: "team.yaml", text: `users:\n  - username: x\n    claims: ${claims}\n` });
const inJson = (claims: string) =>
  problemsOf({ name: "team.json", text: `{"users":[{"username":"x","claims":${claims}}]}` });

describe("a number that would be rounded is refused with its position", () => {
  it.each(["7123456789012345678", "-9007199254740993", "12345678901234567890.5"])("%s", async (digits) => {
    expect(await inYaml(`{ n: ${digits} }`)).toEqual([`team.yaml:3:18 users[0].claims.n ${sentence}`]);
    expect(await inJson(`{"n":${digits}}`)).toEqual([`team.json:1:41 users[0].claims.n ${sentence}`]);
  });

  it("within a list, and in hexadecimal", async () => {
    expect(await inYaml("{ n: [1, 0xffffffffffffffff] }")).toEqual([`team.yaml:3:22 users[0].claims.n[1] ${sentence}`]);
  });

  it.each(["0.1234567890123456789", "-123456789.12345678901", "1e-400"])(
    "%s, of which a part would be lost",
    async (digits) => {
      const short = "is a number that would lose digits: put it in quotes";
      expect(await inYaml(`{ n: ${digits} }`)).toEqual([`team.yaml:3:18 users[0].claims.n ${short}`]);
      expect(await inJson(`{"n":${digits}}`)).toEqual([`team.json:1:41 users[0].claims.n ${short}`]);
    },
  );

  it("as the name of a field in YAML", async () => {
    expect(await inYaml("{ 7123456789012345678: x }")).toEqual([
      `team.yaml:3:15 users[0].claims["7123456789012345678"] ${sentence}`,
    ]);
    expect(await inYaml('{ "7123456789012345678": x }')).toEqual([]);
  });

  it("in a value that a program hands in", async () => {
    const value = { users: [{ username: "x", claims: { n: Number("7123456789012345678") } }] };
    expect(await problemsOf({ value })).toEqual([`users[0].claims.n ${sentence}`]);
  });

  it.each([
    '"7123456789012345678"',
    "9007199254740991",
    "-9007199254740991",
    "0.1",
    "1.5e3",
    "0.1234567890123456",
    '"0.1234567890123456789"',
    "1e-300",
  ])("%s keeps its digits, and passes", async (digits) => {
    expect(await inYaml(`{ n: ${digits} }`)).toEqual([]);
    expect(await inJson(`{"n":${digits}}`)).toEqual([]);
  });
});

describe("foreign JSON is read and written with its digits", () => {
  it.each([
    '{"a":7123456789012345678,"b":[-12345678901234567890.5,0.1234567890123456789,1e400],"c":{"d":1}}',
    '{"text":"7123456789012345678","quote\\"9007199254740993":"a\\\\"}',
    '{"__proto__":9007199254740993}',
    "9007199254740993",
  ])("%s", (text) => {
    expect(exactJson(parseExact(text), 0)).toBe(text);
  });

  it("leaves numbers unchanged that JavaScript holds exactly", () => {
    expect(parseExact('{"a":1.0,"b":1e3,"c":0.1,"d":-0,"e":1700000000.5}')).toEqual({
      ...{ a: 1, b: 1000, c: 0.1, d: -0, e: 1700000000.5 },
    });
  });

  it("indents as JSON.stringify does", () => {
    expect(exactJson({ a: new ExactNumber("9007199254740993") }, 2)).toBe('{\n  "a": 9007199254740993\n}');
  });

  it("refuses text that is not JSON", () => {
    expect(() => parseExact('{"a":01}')).toThrow(SyntaxError);
  });
});

test("a token that never expires, as Java writes it, has a time", () => {
  const part = (text: string): string => Buffer.from(text).toString("base64url");
  const token = `${part('{"alg":"none"}')}.${part('{"exp":9223372036854775807,"iat":1,"aud":9007199254740993}')}.`;
  const { payload, expiresIn } = decodeToken(token, 0);
  expect(expiresIn).toBe(2 ** 63);
  const checks = checkClaims(payload, { issuer: null, audience: "a", leeway: 0, now: 2000 });
  expect(checks.map(({ name, ok }) => [name, ok])).toEqual([
    ["aud", false],
    ["exp", true],
    ["iat", true],
  ]);
  expect(checks[0]?.detail).toBe("expected a, the token has 9007199254740993");
});
