import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from "jose";
import { afterAll, describe, expect, test } from "vitest";
import { register, serve, type App } from "../helpers/app.ts";
import { callback, paths, post, type Answer } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** Client authentication by a signed assertion: client_secret_jwt and private_key_jwt (RFC 7523, OpenID Connect Core 9). */

const clock = testClock();
const idp = await serve({ now: clock.now });
const type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const secret = "a secret of 32 bytes or more, for HS256 and the like";

type Change = { readonly [C in keyof JWTPayload]: JWTPayload[C] | undefined };

/** Signs what a client says of itself; a claim that is undefined is left out. */
async function assertion(app: App, key: CryptoKey | string, alg: string, change: Change = {}): Promise<string> {
  const { client_id: id } = app.credentials;
  const now = Math.floor(clock.now() / 1000);
  const claims = { iss: id, sub: id, aud: idp.issuer, iat: now, exp: now + 60, jti: crypto.randomUUID(), ...change };
  const signer = new SignJWT(JSON.parse(JSON.stringify(claims)) as JWTPayload).setProtectedHeader({ alg });
  return signer.sign(typeof key === "string" ? new TextEncoder().encode(key) : key);
}

/** A token request for a code that does not exist: a client that authenticates gets that answer. */
const request = (assertion: string, change: Record<string, string | null> = {}): Promise<Answer> =>
  post(idp, paths.token, {
    grant_type: "authorization_code",
    code: "no-such-code",
    redirect_uri: callback,
    client_id: null,
    client_secret: null,
    client_assertion_type: type,
    client_assertion: assertion,
    ...change,
  });
const letIn = { status: 400, json: { error: "invalid_grant" } };
const refused = { status: 401, json: { error: "invalid_client" } };

const bySecret = await register(idp, { token_endpoint_auth_method: "client_secret_jwt", client_secret: secret });
const keys = await generateKeyPair("RS256");
const setOf = async (key: CryptoKey) => ({ keys: [{ kty: "", ...(await exportJWK(key)) }] });
const jwks = await setOf(keys.publicKey);
const byKey = await register(idp, { token_endpoint_auth_method: "private_key_jwt", jwks });

const methods: [name: string, app: App, key: CryptoKey | string, alg: string][] = [
  ["client_secret_jwt", bySecret, secret, "HS256"],
  ["private_key_jwt", byKey, keys.privateKey, "RS256"],
];

test("a refusal shows what the client of an assertion registered, as if client_id named it", async () => {
  const long = "http://localhost:3000/the-path-of-a-long-callback";
  const own = await register(idp, {
    token_endpoint_auth_method: "client_secret_jwt",
    client_secret: secret,
    redirect_uris: [long, `${long}/other`],
  });
  const { client_id } = own.credentials;
  const codeOf = () => idp.call("issue.code", { user: "alice", client: client_id, redirect_uri: long });
  for (const named of [null, client_id]) {
    const change = { client_id: named, code: (await codeOf()).code, redirect_uri: `${long}/other` };
    const { json } = await request(await assertion(own, secret, "HS256"), change);
    expect(json.error_description).toContain(`'${long}/other' differs from the one in the authorization request`);
  }
});

test("a client that registered token_endpoint_auth_signing_alg may sign by that algorithm only", async () => {
  const method = { token_endpoint_auth_method: "private_key_jwt", jwks } as const;
  const strict = await register(idp, { ...method, token_endpoint_auth_signing_alg: "PS256" });
  expect(await request(await assertion(strict, keys.privateKey, "RS256"))).toMatchObject(refused);
  const { privateKey, publicKey } = await generateKeyPair("PS256");
  const both = await register(idp, {
    ...{ ...method, jwks: await setOf(publicKey) },
    token_endpoint_auth_signing_alg: "PS256",
  });
  expect(await request(await assertion(both, privateKey, "PS256"))).toMatchObject(letIn);
});

test("an assertion that was used stays used after a reset, and after an import of older data", async () => {
  const document = { ...(await idp.call("export", {})) };
  const used = await assertion(bySecret, secret, "HS256");
  expect(await request(used)).toMatchObject(letIn);
  await idp.call("reset", {});
  await idp.call("import", { ...document });
  expect(await request(used)).toMatchObject(refused);
  expect(await request(await assertion(bySecret, secret, "HS256"))).toMatchObject(letIn);
});

describe.each(methods)("%s", (_name, app, key, alg) => {
  test.each<[name: string, aud: string | string[]]>([
    ["for the issuer", idp.issuer],
    ["for the token endpoint", idp.issuer + paths.token],
    ["for several, this server among them", ["https://other.test", idp.issuer]],
  ])("passes: %s", async (_case, aud) => {
    expect(await request(await assertion(app, key, alg, { aud }))).toMatchObject(letIn);
  });

  test("names the token endpoint everywhere, and the PAR endpoint only there (RFC 9126 2)", async () => {
    const parPath = "/api/v2/oauth/par";
    const inspected = ["introspect", "revoke"].map((name) => ({ path: `/api/v2/oauth/${name}`, body: { token: "t" } }));
    const pushed = { path: parPath, body: { response_type: "code", redirect_uri: callback } };
    const ask = async ({ path, body }: { path: string; body: object }, aud: string) => {
      const client_assertion = await assertion(app, key, alg, { aud: idp.issuer + aud });
      const form = { ...body, client_assertion, client_assertion_type: type };
      return (await fetch(idp.issuer + path, { method: "POST", body: new URLSearchParams(form) })).status;
    };
    for (const endpoint of [...inspected, pushed]) expect(await ask(endpoint, paths.token)).toBeLessThan(300);
    expect(await ask(pushed, parPath)).toBe(201);
    for (const endpoint of inspected) {
      expect(await ask(endpoint, endpoint.path)).toBe(401);
      expect(await ask(endpoint, parPath)).toBe(401);
    }
    for (const aud of [parPath, "/api/v2/oauth/authorize", "/api/v2/oauth/userinfo", "/api/v2/oauth/jwks"]) {
      expect(await request(await assertion(app, key, alg, { aud: idp.issuer + aud }))).toMatchObject(refused);
    }
  });

  test("passes from a client whose clock is some seconds ahead", async () => {
    const seconds = clock.now() / 1000;
    const ahead = { nbf: Math.floor(seconds) + 8, iat: Math.floor(seconds) + 8 };
    expect(await request(await assertion(app, key, alg, ahead))).toMatchObject(letIn);
  });

  test("passes with an equal client_id beside it", async () => {
    const client_id = app.credentials.client_id;
    expect(await request(await assertion(app, key, alg), { client_id })).toMatchObject(letIn);
  });

  test("passes once: the same assertion again is refused", async () => {
    const once = await assertion(app, key, alg);
    expect(await request(once)).toMatchObject(letIn);
    const again = await request(once);
    expect(again).toMatchObject(refused);
    expect(again.json.error_description).toMatch(/'jti' was used before/);
  });

  test("one of twenty at the same moment passes", async () => {
    const once = await assertion(app, key, alg);
    const answers = await Promise.all(Array.from({ length: 20 }, () => request(once)));
    expect(answers.filter(({ json }) => json.error === "invalid_grant")).toHaveLength(1);
  });

  test.each<[name: string, change: Change]>([
    ["for another server", { aud: "https://other.test" }],
    ["without aud", { aud: undefined }],
    ["without exp", { exp: undefined }],
    ["without jti", { jti: undefined }],
    ["without sub", { sub: undefined }],
    ["without iss", { iss: undefined }],
    ["from another issuer", { iss: "somebody" }],
    ["expired", { exp: Math.floor(clock.now() / 1000) - 1 }],
    ["not valid yet", { nbf: Math.floor(clock.now() / 1000) + 100 }],
    ["for another client", { sub: "demo-app" }],
    ["that lives for a day", { exp: Math.floor(clock.now() / 1000) + 86_400 }],
  ])("is refused: %s", async (_case, change) => {
    const answer = await request(await assertion(app, key, alg, change));
    expect(answer).toMatchObject(refused);
    expect(answer.json.error_description).not.toContain("undefined");
  });

  test("is refused: signed with another key, or not at all", async () => {
    const [, payload = ""] = (await assertion(app, key, alg)).split(".");
    const none = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${payload}.`;
    const foreign =
      typeof key === "string" ? "another secret of 32 bytes or more" : (await generateKeyPair(alg)).privateKey;
    for (const wrong of [none, await assertion(app, foreign, alg), "x.y.z", "x"]) {
      const answer = await request(wrong);
      expect(answer).toMatchObject(refused);
      expect(answer.json.error_description).not.toContain(payload);
    }
  });

  test("is refused: another client_id beside it, another assertion type, no type", async () => {
    expect(await request(await assertion(app, key, alg), { client_id: "demo-app" })).toMatchObject(refused);
    const wrongType = await request(await assertion(app, key, alg), { client_assertion_type: "urn:x" });
    expect(wrongType.json.error).toBe("invalid_request");
    const noType = await request(await assertion(app, key, alg), { client_assertion_type: null });
    expect(noType.json.error).toBe("invalid_request");
  });

  test("uses the registered method only: a secret and no authentication are refused", async () => {
    const { client_id } = app.credentials;
    const plain = { client_assertion: null, client_assertion_type: null, client_id };
    expect(await request("", { ...plain, client_secret: secret })).toMatchObject(refused);
    expect(await request("", plain)).toMatchObject(refused);
  });
});

describe("the kind of key is the client's metadata's, never the assertion's", () => {
  test("a public key does not serve as a secret, nor a secret as a key", async () => {
    const modulus = String((await exportJWK(keys.publicKey)).n);
    expect(await request(await assertion(byKey, modulus, "HS256"))).toMatchObject(refused);
    expect(await request(await assertion(bySecret, keys.privateKey, "RS256"))).toMatchObject(refused);
  });

  test("a client with a secret and without a method uses post or basic, no assertion", async () => {
    const app = await register(idp, { client_secret: secret });
    expect(await request(await assertion(app, secret, "HS256"))).toMatchObject(refused);
  });
});

test.each(["RS256", "PS256", "ES256", "EdDSA"])("private_key_jwt with %s", async (alg) => {
  const pair = await generateKeyPair(alg);
  const app = await register(idp, {
    token_endpoint_auth_method: "private_key_jwt",
    jwks: await setOf(pair.publicKey),
  });
  expect(await request(await assertion(app, pair.privateKey, alg))).toMatchObject(letIn);
});

describe("jwks_uri", () => {
  let served: unknown = jwks;
  const server = createServer((req, res) => {
    if (req.url === "/moved") res.writeHead(302, { location: "/jwks" }).end();
    else res.writeHead(req.url === "/broken" ? 500 : 200).end(JSON.stringify(served));
  });
  const base = new Promise<string>((resolve) =>
    server.listen(0, "127.0.0.1", () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    }),
  );
  afterAll(() => server.close());

  test("the keys are fetched from there, also when they change", async () => {
    const app = await register(idp, { token_endpoint_auth_method: "private_key_jwt", jwks_uri: `${await base}/jwks` });
    expect(await request(await assertion(app, keys.privateKey, "RS256"))).toMatchObject(letIn);
    const next = await generateKeyPair("RS256");
    served = await setOf(next.publicKey);
    expect(await request(await assertion(app, next.privateKey, "RS256"))).toMatchObject(letIn);
    expect(await request(await assertion(app, keys.privateKey, "RS256"))).toMatchObject(refused);
  });

  test.each([
    ["answers 500", "/broken", undefined],
    ["redirects", "/moved", undefined],
    ["gives something else", "/jwks", { hello: 1 }],
    ["gives too much", "/jwks", "x".repeat(200_000)],
  ])("an address that %s: refused", async (_case, path, content) => {
    served = content ?? jwks;
    const app = await register(idp, { token_endpoint_auth_method: "private_key_jwt", jwks_uri: (await base) + path });
    expect(await request(await assertion(app, keys.privateKey, "RS256"))).toMatchObject(refused);
  });
});
