import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { pkce } from "../helpers/client.ts";

/** PKCE (RFC 7636): S256 only, mandatory where the client is public or says so. */

const idp = await serve();
const confidential = await register(idp);
const spa = await register(idp, { token_endpoint_auth_method: "none" });
const strict = await register(idp, { require_pkce: true });
const { verifier, challenge } = pkce();
const withPkce = { code_challenge: challenge, code_challenge_method: "S256" };

describe.each([
  ["a public client", spa],
  ["a confidential client", confidential],
  ["a client with require_pkce", strict],
])("%s", (_name, app) => {
  test("S256 with the right verifier passes", async () => {
    const { code } = await app.signIn(withPkce);
    expect((await app.exchange(code, { code_verifier: verifier })).status).toBe(200);
  });

  test.each([
    ["another verifier", pkce().verifier, /does not match the code_challenge/],
    ["the challenge itself", challenge, /does not match the code_challenge/],
    ["no verifier", null, /code_verifier is missing/],
    ["an empty verifier", "", /code_verifier is missing/],
    ["a verifier of 42 characters", verifier.slice(0, 42), /43 to 128/],
    ["a verifier of 129 characters", "a".repeat(129), /43 to 128/],
    ["a verifier with a space", `${verifier} `, /43 to 128/],
  ])("%s is refused, and the code is not used up by it", async (_case, wrong, description) => {
    const { code } = await app.signIn(withPkce);
    const { status, json } = await app.exchange(code, { code_verifier: wrong });
    expect([status, json.error]).toEqual([400, "invalid_grant"]);
    expect(json.error_description).toMatch(description);
    expect(json.error_description).not.toContain(verifier);
    expect((await app.exchange(code, { code_verifier: verifier })).status).toBe(200);
  });
});

describe("clients that must use it", () => {
  test.each([
    ["a public client", spa],
    ["a client with require_pkce", strict],
  ])("%s, or the request is refused", async (_name, app) => {
    const { left } = await new Browser(idp.issuer).open(app.url());
    expect(left?.searchParams.get("error")).toBe("invalid_request");
    expect(left?.searchParams.get("error_description")).toMatch(/must use PKCE: send code_challenge/);
  });

  test("a confidential client need not", async () => {
    expect((await confidential.tokens()).access_token).toBeDefined();
  });

  test("a verifier without a challenge is refused: the sign of a downgrade (RFC 9700 2.1.1)", async () => {
    const { code } = await confidential.signIn();
    const { json } = await confidential.exchange(code, { code_verifier: verifier });
    expect([json.error, json.error_description]).toEqual([
      "invalid_grant",
      expect.stringMatching(/had no code_challenge: send both or neither/),
    ]);
  });
});

test("verifiers of 43 and of 128 characters, of every character there may be, pass", async () => {
  for (const long of ["A-._~09z".repeat(16), "A-._~09z".repeat(6).slice(0, 43)]) {
    const { code } = await spa.signIn({ ...withPkce, code_challenge: pkce(long).challenge });
    expect((await spa.exchange(code, { code_verifier: long })).status).toBe(200);
  }
});
