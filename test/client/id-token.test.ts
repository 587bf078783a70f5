import { describe, expect, test } from "vitest";
import { codeFlow } from "../../src/client/code-flow.ts";
import { startStubProvider, type Bends } from "../helpers/stub-provider.ts";
import { ExactNumber } from "../../src/text/json.ts";
import { at, metadata, prepare, request, signIn, type Setting, usualBack } from "../helpers/checked-sign-in.ts";

/** Each check of the ID token and of UserInfo, and what a provider has to do to fail it. */

const seconds = () => Math.floor(Date.now() / 1000);

describe("the ID token", () => {
  test.each<[string, Readonly<Record<string, unknown>>, string, RegExp]>([
    ["iss", { iss: "https://other.test" }, "iss", /expected http:.*has "https:\/\/other\.test"/],
    ["aud", { aud: "other" }, "aud", /expected app, the token has "other"/],
    ["azp", { azp: "other" }, "azp", /expected "app"/],
    ["azp where there are several audiences", { aud: ["app", "other"] }, "azp", /aud names several/],
    ["sub", { sub: "" }, "sub", /1 to 255/],
    ["sub of a number", { sub: 7 }, "sub", /it is 7/],
    ["exp", { exp: 1_700_000_000 }, "exp", /expired .* ago/],
    ["exp that is no time", { exp: "tomorrow" }, "exp", /exp is not a number of seconds: "tomorrow"/],
    ["iat", { iat: seconds() + 600 }, "iat", /issued in 10 min .*, in the future/],
    ["iat, none", { iat: undefined }, "iat", /does not say when/],
    ["nbf", { nbf: seconds() + 600 }, "nbf", /in the future/],
    ["nonce", { nonce: "other" }, "nonce", /expected "16-random", the token has "other"/],
    ["nonce, none", { nonce: undefined }, "nonce", /the token has nothing/],
    ["at_hash", { at_hash: "other" }, "at_hash", /the token has "other"/],
    ["key", { header: { kid: "other" } }, "signature", /kid "other" is not among the one key of the provider/],
  ])("with a wrong %s fails that check", async (_what, claims, name, why) => {
    const ended = await signIn({ claims });
    const consequence = name === "sub" ? ["userinfo.sub"] : [];
    expect(ended.failed).toEqual([`id_token.${name}`, ...consequence]);
    expect(ended.why).toMatch(why);
  });

  test("a clock that is a little off, no at_hash, no azp: all pass", async () => {
    const claims = { iat: seconds() + 20, exp: seconds() - 10, at_hash: undefined, aud: ["app"] };
    expect((await signIn({ claims })).failed).toEqual([]);
  });

  test("a requested max_age and acr are checked", async () => {
    const asked = { maxAge: 10, acr: ["gold", "silver"] };
    const none = await signIn({}, usualBack, asked);
    expect(none.failed).toEqual(["id_token.auth_time", "id_token.acr"]);
    const old = await signIn({ claims: { auth_time: seconds() - 100, acr: "lead" } }, usualBack, asked);
    expect(old.failed).toEqual(["id_token.auth_time", "id_token.acr"]);
    const good = await signIn({ claims: { auth_time: seconds() - 9, acr: "silver" } }, usualBack, asked);
    expect(good.failed).toEqual([]);
  });

  const idToken = (id_token: unknown): Setting => ({
    bends: at("/token", (usual) => ({ body: { ...usual, id_token } })),
  });
  const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from("{}").toString("base64url")}.`;
  test.each<[string, Setting, string, RegExp]>([
    ["is missing", idToken(undefined), "id_token", /no id_token, although scope has openid/],
    ["is no JWT", idToken("nonsense"), "id_token", /is not a JWT/],
    ["is encrypted", idToken("a.b.c.d.e"), "id_token", /encrypted/],
    ["is not signed", idToken(unsigned), "id_token.signature", /alg is "none"; the metadata lists ES256/],
    [
      "has keys that cannot be read",
      { bends: at("/jwks", { status: 503, body: {} }) },
      "id_token.signature",
      /jwks answers 503/,
    ],
    [
      "has keys that are none",
      { bends: at("/jwks", { body: { keys: "x" } }) },
      "id_token.signature",
      /is not a JWK Set/,
    ],
    ["has keys nowhere", { bends: metadata({ jwks_uri: undefined }) }, "id_token.signature", /names no jwks_uri/],
    [
      "is signed in a way that is not listed",
      { bends: metadata({ id_token_signing_alg_values_supported: ["RS256"] }) },
      "id_token.signature",
      /alg is "ES256"; the metadata lists RS256/,
    ],
  ])("%s", async (_what, setting, name, why) => {
    const ended = await signIn(setting);
    expect(ended.failed[0]).toBe(name);
    expect(ended.why).toMatch(why);
  });

  test("of other keys fails its signature alone, and everything else is still checked", async () => {
    const other = await startStubProvider();
    const keys: unknown = await (await fetch(`${other.issuer}/jwks`)).json();
    const ended = await signIn({ bends: at("/jwks", { body: keys }) });
    expect(ended.failed).toEqual(["id_token.signature"]);
    expect(ended.checks.at(-1)?.name).toBe("userinfo.sub");
  });

  test("with alg none fails, even if the metadata lists none", async () => {
    const bends = {
      ...metadata({ id_token_signing_alg_values_supported: ["none", "HS256"] }),
      ...at("/token", (usual) => ({ body: { ...usual, id_token: unsigned } })),
    };
    const ended = await signIn({ bends, client: { id: "app", secret: null, method: null } });
    expect(ended.failed[0]).toBe("id_token.signature");
    expect(ended.why).toMatch(/the token is not signed/);
  });
});

describe("UserInfo", () => {
  test.each<[string, Bends[string], readonly string[], RegExp]>([
    ["is of somebody else", { body: { sub: "other" } }, ["userinfo.sub"], /expected "someone" as in the ID token/],
    ["has no sub", { body: {} }, ["userinfo.sub"], /UserInfo has nothing/],
    ["refuses", { status: 403, body: { error: "access_revoked" } }, ["userinfo"], /answers 403 access_revoked/],
    ["is a page", { type: "text/html", body: "<p>" }, ["userinfo"], /text\/html instead of JSON/],
    ["is a JWT that cannot be read", { type: "application/jwt", body: "x" }, ["userinfo"], /a JWT that cannot be read/],
  ])("%s", async (_what, answer, failed, why) => {
    const ended = await signIn({ bends: at("/userinfo", answer) });
    expect(ended.failed).toEqual(failed);
    expect(ended.why).toMatch(why);
  });

  test("keeps the digits of its numbers", async () => {
    let said: unknown;
    const bends = at("/userinfo", { body: '{"sub":"someone","tenant":7123456789012345678}' });
    await prepare({ bends }, async (run) => {
      said = (await codeFlow(run, request, async (url) => new URLSearchParams(usualBack(new URL(url).searchParams))))
        .userinfo;
    });
    expect(said).toEqual({ sub: "someone", tenant: new ExactNumber("7123456789012345678") });
  });

  test("is not requested without openid, or without an endpoint", async () => {
    const bends = at("/token", { body: { access_token: "a", token_type: "bearer" } });
    const plain = await signIn({ bends }, usualBack, { scope: "read" });
    expect([plain.failed, plain.checks.at(-1)?.name]).toEqual([[], "token"]);
    const none = await signIn({ bends: metadata({ userinfo_endpoint: undefined }) });
    expect([none.failed, none.checks.at(-1)?.name]).toEqual([[], "id_token.at_hash"]);
  });
});
