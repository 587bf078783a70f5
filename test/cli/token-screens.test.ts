import { Chalk } from "chalk";
import { expect, test } from "vitest";
import type { Invocation } from "../../src/cli/invocation.ts";
import { describe as describeActive } from "../../src/cli/commands/token/introspect.ts";
import { tokenDecode } from "../../src/cli/commands/token/decode.ts";
import { checkClaims } from "../../src/jwt/checks.ts";
import { cells, checkLines } from "../../src/cli/output/table.ts";

/** What `idp token` shows of a token, to the letter: at most 80 cells wide. */

const plain = new Chalk({ level: 0 });

const moment = 1_700_000_000;

/** A token of each kind, as `idp token decode` shows it. */
async function decoded(header: object, claims: object): Promise<string> {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const invocation = { now: () => moment * 1000 } as unknown as Invocation;
  const { text } = await tokenDecode(invocation, `${part(header)}.${part(claims)}.c2ln`);
  return text(plain);
}

const claims = { iss: "http://localhost:4370", sub: "7123456789012345678", iat: moment - 60, exp: moment + 1740 };

test.each([
  [
    "an access token",
    { alg: "HS256", typ: "at+jwt", kid: "Np0FUhgdZMM" },
    { ...claims, client_id: "demo-app", scope: "openid email orders:read", aud: ["https://api.test", "x"] },
  ],
  ["an expired refresh token", { alg: "HS256", typ: "rt+jwt" }, { ...claims, exp: moment - 259_200, generation: 1 }],
  ["an ID token that is not valid yet", { alg: "RS256", typ: "JWT" }, { ...claims, nonce: "n", nbf: moment + 3600 }],
])("what %s says", async (_kind, header, said) => {
  const screen = await decoded(header, said);
  expect(Math.max(...screen.split("\n").map(cells))).toBeLessThanOrEqual(80);
  expect(screen).toMatchSnapshot();
});

test("the checks of a token, each on its line, a long one going on below", () => {
  const expected = { issuer: "http://localhost:4370", audience: "https://api.test", leeway: 5, now: moment * 1000 };
  const bad = { iss: "https://wrong-issuer.invalid", aud: "https://wrong-audience.invalid", nbf: moment + 3600 };
  const checks = [
    ...checkClaims({ ...claims, aud: "https://api.test" }, expected),
    ...checkClaims({ ...claims, ...bad, exp: moment - 259_200 }, expected),
    ...checkClaims({ ...claims, exp: moment - 3, iat: moment + 3 }, expected),
  ];
  const screen = checkLines(checks, plain, 80);
  expect(Math.max(...screen.split("\n").map(cells))).toBeLessThanOrEqual(80);
  expect(screen).toMatchSnapshot();
});

test("an active token, introspected", () => {
  const { iat, exp, ...said } = claims;
  const shown = { active: true, token_type: "Bearer", ...said, scope: "openid email", iat, exp };
  expect(describeActive(shown, plain, moment * 1000)).toMatchSnapshot();
  expect(describeActive({ active: false, reason: "it expired" }, plain, moment * 1000)).toBe("inactive");
});
