import { createHash } from "node:crypto";
import { compactVerify, createLocalJWKSet, jwtVerify } from "jose";
import * as oauth from "oauth4webapi";
import { describe, expect, test } from "vitest";
import { flawList, type FlawName } from "../../src/core/testing/controls/faults/flaw-list.ts";
import { register } from "../helpers/app.ts";
import { jwtPart, paths, post, userinfo, type Body } from "../helpers/client.ts";
import { serveFlaws } from "../helpers/flaws.ts";

/** Flaws of token responses and ID tokens: each makes one thing wrong, and this server takes none of it. oauth4webapi judges. */

const { idp, app, server, client, add, keysOf } = await serveFlaws();
const nonce = "n-0S6_WzA2Mj";
const scope = "openid profile email";

/** What is wrong with a token response, in the words of the checks that fail. */
async function problemsOf(response: Body): Promise<string[]> {
  const problems: string[] = [];
  const check = (name: string, ok: boolean): void => {
    if (!ok) problems.push(name);
  };
  check("token_type", response["token_type"] === "Bearer");
  check("expires_in", response["expires_in"] === 1800);
  check("scope", response.scope === scope);
  check("refresh_token", typeof response["refresh_token"] === "string");
  check("access_token", (await userinfo(idp, response.access_token)).status === 200);
  check("id_token", typeof response["id_token"] === "string");
  if (typeof response["id_token"] !== "string") return problems;
  if (response.id_token.split(".").length !== 3) return [...problems, "not a JWT"];
  const [header, claims] = [jwtPart(response.id_token, 0), jwtPart(response.id_token, 1)];
  const { keys } = await keysOf();
  const key = header["kid"] === undefined ? keys[0] : keys.find(({ kid }) => kid === header["kid"]);
  check("alg", header["alg"] === "RS256");
  check("crit", header["crit"] === undefined);
  if (header["alg"] === "RS256") {
    check("kid", header["kid"] !== undefined);
    check("key", key !== undefined);
    const verified = compactVerify(response.id_token, createLocalJWKSet({ keys: key === undefined ? [] : [key] }), {
      crit: { "unknown-extension": true },
    });
    if (key !== undefined)
      check(
        "signature",
        await verified.then(
          () => true,
          () => false,
        ),
      );
    else await verified.catch(() => undefined);
  }
  const now = Date.now() / 1000 + 1;
  const { client_id } = app.credentials;
  const atHash = createHash("sha256").update(response.access_token).digest().subarray(0, 16).toString("base64url");
  check("iss", claims["iss"] === idp.issuer);
  check("aud", claims["aud"] === client_id);
  check("azp", claims["azp"] === client_id);
  check("exp", Number(claims["exp"]) > now);
  check("iat", Number(claims["iat"]) <= now);
  check("sub", claims["sub"] === "7123456789012345678");
  check("nonce", claims["nonce"] === nonce);
  check("at_hash", claims["at_hash"] === atHash);
  check("the rest", claims["email"] === "alice@example.com" && typeof claims["sid"] === "string");
  return problems;
}

/** The error of oauth4webapi: null if it accepts the response. */
const refusalOf = (response: Body): Promise<string | null> =>
  oauth
    .processAuthorizationCodeResponse(server, client(), Response.json(response), {
      expectedNonce: nonce,
      requireIdToken: true,
    })
    .then(
      () => null,
      (error: unknown) => String(error),
    );

/** With each flaw of the token endpoint: the checks that fail, and what oauth4webapi does. */
const tokenFlaws: readonly (readonly [FlawName, readonly string[], "refused" | "accepted"])[] = [
  ["id-token-missing", ["id_token"], "refused"],
  ["not-jwt", ["not a JWT"], "refused"],
  ["signature-wrong", ["signature"], "accepted"],
  ["alg-none", ["alg"], "refused"],
  ["kid-unknown", ["key"], "accepted"],
  ["kid-missing", ["kid"], "accepted"],
  ["iss-wrong", ["iss"], "refused"],
  ["aud-wrong", ["aud"], "refused"],
  ["aud-extra", ["aud"], "accepted"],
  ["azp-wrong", ["azp"], "accepted"],
  ["exp-past", ["exp"], "refused"],
  ["iat-future", ["iat"], "accepted"],
  ["iat-missing", ["iat"], "refused"],
  ["sub-missing", ["sub"], "refused"],
  ["nonce-wrong", ["nonce"], "refused"],
  ["nonce-missing", ["nonce"], "refused"],
  ["at-hash-wrong", ["at_hash"], "accepted"],
  ["crit", ["crit"], "refused"],
  ["iss-prefix", ["iss"], "refused"],
  ["aud-contains", ["aud"], "refused"],
  ["iss-missing", ["iss"], "refused"],
  ["aud-missing", ["aud"], "refused"],
  ["exp-missing", ["exp"], "refused"],
  ["alg-hs256-public", ["alg"], "accepted"],
  ["alg-hs256-secret", ["alg"], "accepted"],
  ["aud-list", ["aud"], "accepted"],
  ["token-type-wrong", ["token_type"], "refused"],
  ["type-case", ["token_type"], "accepted"],
  ["expires-in-missing", ["expires_in"], "accepted"],
  ["refresh-token-missing", ["refresh_token"], "accepted"],
  ["scope-wider", ["scope"], "accepted"],
];

describe("token responses and ID tokens", () => {
  const tokens = async (): Promise<Body> => (await app.exchange((await app.signIn()).code)).json;

  test("without a flaw nothing is wrong", async () => {
    const response = await tokens();
    expect(await problemsOf(response)).toEqual([]);
    expect(await refusalOf(response)).toBeNull();
  });

  test("every flaw of the token endpoint is tested", () => {
    // cross-app.test.ts has those of ID-JAGs.
    const names = flawList
      .filter(({ endpoint, place }) => endpoint === "token" && place !== "id-jag")
      .map(({ name }) => name);
    expect(tokenFlaws.map(([name]) => name).sort()).toEqual(names.sort());
  });

  test.each(tokenFlaws)("%s: exactly one problem", async (flaw, problems, verdict) => {
    await add("token", flaw);
    const response = await tokens();
    expect(await problemsOf(response)).toEqual(problems);
    expect((await refusalOf(response)) === null ? "accepted" : "refused").toBe(verdict);
    expect(await problemsOf(await tokens())).toEqual([]);
  });

  test.each(tokenFlaws.filter(([, [problem = ""]]) => !/^(id_token$|token_type|expires|refresh|scope)/.test(problem)))(
    "%s: this server does not take the ID token as a hint",
    async (flaw) => {
      const { browser, code } = await app.signIn();
      const good = (await app.exchange(code)).json.id_token;
      const ask = async (hint: string) =>
        (await browser.open(app.url({ id_token_hint: hint, prompt: "none" }))).left?.searchParams.get("error");
      expect(await ask(good)).toBeNull();
      await add("token", flaw);
      const { id_token: bad } = (await app.exchange((await app.signIn({ browser })).code)).json;
      expect(await ask(bad)).toBe("invalid_request");
    },
  );

  test("a refused request does not use it up, and neither does a response that cannot have it", async () => {
    const { refresh_token } = await tokens();
    await add("token", "nonce-wrong");
    expect((await app.exchange("not-a-code")).status).toBe(400);
    // A refreshed ID token has no nonce (OpenID Connect Core 12.2).
    expect((await app.refresh(refresh_token)).status).toBe(200);
    const own = await post(idp, paths.token, {
      ...{ client_id: "demo-service", client_secret: "demo-service-secret", grant_type: "client_credentials" },
    });
    expect(own.status).toBe(200);
    expect(await idp.faults.list()).toMatchObject([{ remaining: 1 }]);
    expect(await problemsOf(await tokens())).toEqual(["nonce"]);
  });

  test("ID tokens that are signed with the client's secret", async () => {
    const secret = await register(idp, { id_token_signed_response_alg: "HS256" });
    await add("token", "kid-missing");
    await add("token", "nonce-wrong", { times: 1 });
    const { id_token } = await secret.tokens();
    const key = Buffer.from(secret.credentials.client_secret ?? "");
    const { payload } = await jwtVerify(id_token, key, { algorithms: ["HS256"], issuer: idp.issuer });
    expect(payload["nonce"]).not.toBe(nonce);
    expect(await idp.faults.list()).toMatchObject([{ flaw: "kid-missing", remaining: 1 }]);
  });

  test("a fault that needs a kid is refused for a client whose ID tokens have none", async () => {
    const secret = await register(idp, { id_token_signed_response_alg: "HS256" });
    for (const flaw of ["kid-missing", "kid-unknown"] as const) {
      await expect(add("token", flaw, { client: secret.credentials.client_id })).rejects.toMatchObject({
        code: "usage",
        problems: [{ path: "flaw", message: expect.stringContaining("HS256") }],
      });
      const clients = [
        {
          client_id: "hs",
          client_secret: "s".repeat(32),
          redirect_uris: ["http://localhost/cb"],
          id_token_signed_response_alg: "HS256",
        },
      ];
      const fixtures = { clients, faults: [{ endpoint: "token", flaw, client: "hs" }] };
      await expect(idp.call("seed", fixtures)).rejects.toMatchObject({
        problems: [expect.objectContaining({ path: "faults[0].flaw" })],
      });
    }
    await add("token", "kid-missing", { client: app.credentials.client_id });
  });

  test("10 at once: exactly 3 take it", async () => {
    const codes = await Promise.all(Array.from({ length: 10 }, () => app.signIn()));
    await add("token", "nonce-wrong", { times: 3 });
    const all = await Promise.all(codes.map(async ({ code }) => (await app.exchange(code)).json.id_token));
    expect(all.filter((token) => jwtPart(token, 1)["nonce"] !== nonce)).toHaveLength(3);
  });
});
