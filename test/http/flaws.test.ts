import { createRemoteJWKSet, jwtVerify, type JSONWebKeySet } from "jose";
import * as oauth from "oauth4webapi";
import { describe, expect, test } from "vitest";
import { flawList, type FlawName } from "../../src/core/testing/controls/faults/flaw-list.ts";
import { Browser, formsOf } from "../helpers/browser.ts";
import { callback, jwtPart, userinfo } from "../helpers/client.ts";
import { serveFlaws } from "../helpers/flaws.ts";

/** Flaws of authorization responses, UserInfo, keys and discovery: each makes one thing wrong. jose and oauth4webapi judge. */

const { idp, app, server, client, add, keysOf } = await serveFlaws();

// eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to be noticed; http to the loopback is what is meant
const http = { [oauth.allowInsecureRequests]: true };

test("every flaw of another endpoint is tested below", () => {
  const names = flawList
    .filter(({ endpoint }) => !["token", "authorize", "saml_sso"].includes(endpoint))
    .map(({ name }) => name);
  const tested = ["sub-wrong", "sub-missing", "keys-rotated", "keys-empty", "keys-duplicate-kid", "issuer-mismatch"];
  expect(names).toEqual(tested);
});

/** What a client must make of each: oauth4webapi refuses all. */
const responseFlaws: Readonly<Record<string, (sent: URLSearchParams) => string[]>> = {
  "state-missing": (sent) => pairs(sent).filter((pair) => !pair.startsWith("state=")),
  "state-wrong": (sent) => pairs(sent).map((pair) => (pair.startsWith("state=") ? "state=f0ifjsldkjx" : pair)),
  "iss-missing": (sent) => pairs(sent).filter((pair) => !pair.startsWith("iss=")),
  "iss-wrong": (sent) =>
    pairs(sent).map((pair) => (pair.startsWith("iss=") ? "iss=https://wrong-issuer.invalid" : pair)),
  "code-missing": (sent) => pairs(sent).filter((pair) => !pair.startsWith("code=")),
  "code-twice": (sent) => [...pairs(sent), `code=${sent.get("code") ?? ""}`],
  "error-and-code": (sent) => [...pairs(sent), "error=access_denied"],
};
const pairs = (sent: URLSearchParams): string[] => [...sent].map(([name, value]) => `${name}=${value}`);

describe("authorization responses", () => {
  /** A sign-in; the response that the client got, in its response mode. */
  async function respond(mode: string): Promise<URLSearchParams> {
    const browser = new Browser(idp.issuer);
    const visit = await browser.open(app.url({ response_mode: mode, prompt: "consent" }));
    const consent = visit.page === "login" ? await browser.press(visit, "login-as-alice") : visit;
    const end = await browser.press(consent, "consent-allow");
    if (mode === "form_post") {
      return new URLSearchParams(formsOf(end.body)[0]?.fields.map(([name, value]) => [name, value]));
    }
    return mode === "fragment" ? new URLSearchParams(end.left?.hash.slice(1)) : new URLSearchParams(end.left?.search);
  }
  /** Whether the client would redeem a code. */
  const accepts = async (sent: URLSearchParams): Promise<boolean> => {
    try {
      const parameters = oauth.validateAuthResponse(server, client(), sent, "af0ifjsldkj");
      const options = { [oauth.customFetch]: async () => new Response(), ...http };
      await oauth.authorizationCodeGrantRequest(
        server,
        client(),
        oauth.None(),
        parameters,
        callback,
        "v".repeat(43),
        options,
      );
      return true;
    } catch {
      return false;
    }
  };

  test("every flaw of the authorization response is tested", () => {
    const names = flawList.filter(({ endpoint }) => endpoint === "authorize").map(({ name }) => name);
    expect(Object.keys(responseFlaws).sort()).toEqual([...names].sort());
  });

  const rows = Object.keys(responseFlaws).flatMap((flaw) =>
    ["query", "fragment", "form_post"].map((mode) => [flaw as FlawName, mode] as const),
  );
  test.each(rows)("%s by %s", async (flaw, mode) => {
    const control = await respond(mode);
    expect([...control.keys()]).toEqual(["code", "state", "iss"]);
    expect(await accepts(control)).toBe(true);
    await add("authorize", flaw);
    const sent = await respond(mode);
    control.set("code", sent.get("code") ?? "");
    expect(pairs(sent)).toEqual(responseFlaws[flaw]?.(control));
    expect(await accepts(sent)).toBe(false);
    expect(await idp.faults.list()).toEqual([]);
  });

  test("a refusal does not use it up, nor does a response without state; client and user choose it", async () => {
    await add("authorize", "state-wrong", { user: "bob", client: app.credentials.client_id });
    const browser = new Browser(idp.issuer);
    expect((await browser.open(app.url({ prompt: "none" }))).left?.searchParams.get("error")).toBe("login_required");
    expect((await app.signIn({ user: "alice" })).back.searchParams.get("state")).toBe("af0ifjsldkj");
    expect((await app.signIn({ user: "bob", state: null })).back.searchParams.has("state")).toBe(false);
    expect((await app.signIn({ user: "bob" })).back.searchParams.get("state")).not.toBe("af0ifjsldkj");
  });
});

describe("UserInfo", () => {
  test.each(["sub-wrong", "sub-missing"] as const)("%s", async (flaw) => {
    const { access_token, id_token } = await app.tokens();
    const sub = String(jwtPart(id_token, 1)["sub"]);
    const verdict = async (body: unknown): Promise<boolean> =>
      oauth.processUserInfoResponse(server, client(), sub, Response.json(body)).then(
        () => true,
        () => false,
      );
    const control = (await userinfo(idp, access_token)).json;
    expect(await verdict(control)).toBe(true);
    await add("userinfo", flaw);
    expect((await userinfo(idp, "not-a-token")).status).toBe(401);
    const { sub: bad, ...rest } = (await userinfo(idp, access_token)).json;
    // Somebody else in all that says who it is, and the rest as it was.
    const who = ["sub", "email", "name", "preferred_username"];
    const changed = Object.keys(control).filter(
      (name) => JSON.stringify({ ...rest, sub: bad }[name]) !== JSON.stringify(control[name]),
    );
    expect(changed.toSorted()).toEqual(
      flaw === "sub-missing" ? ["sub"] : who.filter((name) => name in control).toSorted(),
    );
    expect(bad === undefined ? "sub-missing" : bad === sub ? "control" : "sub-wrong").toBe(flaw);
    expect(await verdict({ ...rest, ...(bad !== undefined && { sub: bad }) })).toBe(false);
  });
});

describe("keys and discovery", () => {
  /** jose, as a resource server has it: it reads the keys, and again for a key that it does not know. */
  const verify = (idToken: string) =>
    jwtVerify(idToken, createRemoteJWKSet(new URL(`${idp.issuer}/api/v2/oauth/jwks`), { cooldownDuration: 0 }), {
      issuer: idp.issuer,
      audience: app.credentials.client_id,
    }).then(
      () => "accepted",
      (error: unknown) => (error as { readonly code: string }).code,
    );

  test.each([
    ["keys-rotated", 1, "accepted"],
    ["keys-rotated", 9, "ERR_JWKS_NO_MATCHING_KEY"],
    ["keys-empty", 9, "ERR_JWKS_NO_MATCHING_KEY"],
    ["keys-duplicate-kid", 1, "ERR_JWKS_MULTIPLE_MATCHING_KEYS"],
  ] as const)("%s, %i times: %s", async (flaw, times, verdict) => {
    const { id_token } = await app.tokens();
    expect(await verify(id_token)).toBe("accepted");
    await add("jwks", flaw, { times });
    expect(await verify(id_token)).toBe(verdict);
    await idp.faults.clear();
    expect(await verify(id_token)).toBe("accepted");
  });

  test("the sets differ in their keys alone, and the server's own stay", async () => {
    const control = await keysOf();
    const kids = ({ keys }: JSONWebKeySet) => keys.map(({ kid }) => kid);
    await add("jwks", "keys-rotated");
    const rotated = await keysOf();
    expect(rotated.keys.map(({ kty, alg, use }) => [kty, alg, use])).toEqual(
      control.keys.map(({ kty, alg, use }) => [kty, alg, use]),
    );
    expect(kids(rotated).some((kid) => kids(control).includes(kid))).toBe(false);
    await add("jwks", "keys-empty");
    expect(await keysOf()).toEqual({ keys: [] });
    await add("jwks", "keys-duplicate-kid");
    const twice = await keysOf();
    expect(kids(twice)).toEqual([...kids(control), ...kids(control)]);
    expect(twice.keys.slice(control.keys.length)).toEqual(control.keys);
    expect(twice.keys[0]?.n).not.toBe(control.keys[0]?.n);
    expect(JSON.stringify([rotated, twice])).not.toMatch(/"(?:d|p|q|dp|dq|qi|k)":/);
    expect(await keysOf()).toEqual(control);
  });

  test.each(["oidc", "oauth2"] as const)("issuer-mismatch in discovery of %s", async (algorithm) => {
    const issuer = new URL(idp.issuer);
    const read = async () =>
      oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm, ...http }));
    const control = await read();
    await add("discovery", "issuer-mismatch", { times: 2 });
    await expect(read()).rejects.toThrow("issuer");
    const path = algorithm === "oidc" ? "openid-configuration" : "oauth-authorization-server";
    const spoiled = (await (await fetch(`${idp.issuer}/.well-known/${path}`)).json()) as oauth.AuthorizationServer;
    expect({ ...spoiled, issuer: idp.issuer }).toEqual(control);
    expect(spoiled.issuer).not.toBe(idp.issuer);
  });
});
