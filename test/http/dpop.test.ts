import { createHmac, randomUUID } from "node:crypto";
import { request, type OutgoingHttpHeaders } from "node:http";
import { expect, test } from "vitest";
import type { FixtureClient } from "../../src/core/fixtures/schema/client.ts";
import type { Idp } from "../../src/index.ts";
import { register, serve, type App } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { callback, jwtPart, paths, pick, pkce, post, refresh, type Answer, type Body } from "../helpers/client.ts";
import { newProofKey, tokenHash, type Bend, type ProofKey } from "../helpers/dpop.ts";
import { testClock } from "../helpers/clock.ts";

const clock = testClock();
const idp = await serve({ now: clock.now });
const newKey = (alg?: string): Promise<ProofKey> => newProofKey(alg, clock.now);
const key = await newKey();
const another = await newKey();
const tokenUrl = idp.issuer + paths.token;
const userinfoUrl = idp.issuer + paths.userinfo;
const parPath = "/api/v2/oauth/par";
const introspectPath = "/api/v2/oauth/introspect";

const withProof = (proof: string | null): RequestInit => ({
  headers: { "content-type": "application/json", ...(proof === null ? {} : { dpop: proof }) },
});

/** The answer of the token endpoint for a new code of an app. @param proof null: no DPoP header */
async function redeem(app: App, proof: string | null, code?: string): Promise<Answer> {
  const { verifier, challenge } = pkce();
  const { client_id } = app.credentials;
  const issued =
    code ??
    (await idp.issueCode({ user: "alice", client: client_id, scope: "openid email", code_challenge: challenge })).code;
  const body = { grant_type: "authorization_code", code: issued, redirect_uri: callback, ...app.credentials };
  return post(idp, paths.token, code === undefined ? { ...body, code_verifier: verifier } : body, withProof(proof));
}

const renew = async (app: App, token: string, proof: string | null): Promise<Answer> =>
  post(idp, paths.token, { grant_type: "refresh_token", refresh_token: token, ...app.credentials }, withProof(proof));

const app = await register(idp);
const publicApp = (): Promise<App> => register(idp, { token_endpoint_auth_method: "none" });

/** Tokens bound to the key. */
const bound = async (of: App = app): Promise<Body> => (await redeem(of, await key.prove(tokenUrl))).json;

/** UserInfo with these headers. */
async function present(headers: Record<string, string>, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(userinfoUrl, { headers, ...init });
  return { status: response.status, headers: response.headers, json: (await response.json()) as Body };
}

/** A proof for UserInfo with this token. */
const proofFor = (token: string, claims: Bend = {}, by: ProofKey = key): Promise<string> =>
  by.prove(userinfoUrl, { htm: "GET", ath: tokenHash(token), ...claims });

const challengesOf = ({ headers }: Answer): string => headers.get("www-authenticate") ?? "";

test("a token request with a proof gives an access token that is bound to the key; one without gives a bearer token", async () => {
  const { status, json } = await redeem(app, await key.prove(tokenUrl));
  expect(status).toBe(200);
  expect(json).toMatchObject({ token_type: "DPoP", expires_in: 1800, scope: "openid email" });
  expect(jwtPart(json.access_token, 1)["cnf"]).toEqual({ jkt: key.jkt });

  const plain = (await redeem(app, null)).json;
  expect(plain["token_type"]).toBe("Bearer");
  expect(jwtPart(plain.access_token, 1)).not.toHaveProperty("cnf");
});

test("discovery lists the algorithms, and each of them works; the client chooses a new key whenever it likes", async () => {
  const metadata = (await (await fetch(`${idp.issuer}/.well-known/openid-configuration`)).json()) as Body;
  const algorithms = metadata["dpop_signing_alg_values_supported"] as string[];
  expect(algorithms).toContain("ES256");
  for (const alg of algorithms) {
    const one = await newKey(alg);
    const { json } = await redeem(app, await one.prove(tokenUrl));
    expect(jwtPart(json.access_token, 1)["cnf"], alg).toEqual({ jkt: one.jkt });
  }
});

/** A proof that is signed by hand, since no library would. */
function forge(header: Bend, sign: (input: string) => string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { jti: randomUUID(), htm: "POST", htu: tokenUrl, iat: clock.now() / 1000 };
  const input = `${part({ typ: "dpop+jwt", ...header })}.${part(claims)}`;
  return `${input}.${sign(input)}`;
}
const hmac = (input: string): string => createHmac("sha256", "secret").update(input).digest("base64url");

const refusedProofs: readonly (readonly [what: string, proof: () => Promise<string> | string, why: RegExp])[] = [
  ["no JWT", () => "proof", /not accepted/],
  ["an empty header", () => "", /not accepted/],
  ["another typ", () => key.prove(tokenUrl, {}, { typ: "JWT" }), /"typ"/],
  ["no typ", () => key.prove(tokenUrl, {}, { typ: undefined }), /"typ"/],
  ["alg none", () => forge({ alg: "none", jwk: key.publicJwk }, () => ""), /"alg"/],
  ["a symmetric algorithm", () => forge({ alg: "HS256", jwk: { kty: "oct", k: "c2VjcmV0" } }, hmac), /"alg"/],
  ["an algorithm that discovery does not list", async () => (await newKey("RS384")).prove(tokenUrl), /"alg"/],
  ["no jwk", () => key.prove(tokenUrl, {}, { jwk: undefined }), /"jwk"/],
  ["a jwk that is text", () => key.prove(tokenUrl, {}, { jwk: "key" }), /"jwk"/],
  [
    "a broken jwk",
    () => key.prove(tokenUrl, {}, { jwk: { kty: "EC", crv: "P-256", x: "AA", y: "AA" } }),
    /not accepted/,
  ],
  ["a private key", () => key.prove(tokenUrl, {}, { jwk: key.privateJwk }), /private key/],
  ["the signature of another key", () => key.prove(tokenUrl, {}, { jwk: another.publicJwk }), /signature/],
  ["no jti", () => key.prove(tokenUrl, { jti: undefined }), /"jti"/],
  ["an empty jti", () => key.prove(tokenUrl, { jti: "" }), /"jti"/],
  ["a jti that is a number", () => key.prove(tokenUrl, { jti: 7 }), /"jti"/],
  ["no htm", () => key.prove(tokenUrl, { htm: undefined }), /"htm"/],
  ["another method", () => key.prove(tokenUrl, { htm: "GET" }), /"htm" is "GET", the request is a POST/],
  ["a method in small letters", () => key.prove(tokenUrl, { htm: "post" }), /"htm"/],
  ["no htu", () => key.prove(tokenUrl, { htu: undefined }), /"htu"/],
  ["the address of UserInfo", () => key.prove(userinfoUrl), /"htu" is .*the request went to/],
  ["no iat", () => key.prove(tokenUrl, { iat: undefined }), /"iat"/],
  ["an iat that is text", () => key.prove(tokenUrl, { iat: "now" }), /"iat"/],
  ["a proof of 61 seconds ago", () => key.prove(tokenUrl, { iat: clock.now() / 1000 - 61 }), /61 s ago/],
  ["a proof of 61 seconds ahead", () => key.prove(tokenUrl, { iat: clock.now() / 1000 + 61 }), /61 s ahead/],
  ["an expired proof", () => key.prove(tokenUrl, { exp: clock.now() / 1000 - 1 }), /"exp"/],
];

test.each(refusedProofs)("refused at the token endpoint: %s", async (_what, proof, why) => {
  const { status, json, headers } = await redeem(app, await proof());
  expect({ status, error: json.error }).toEqual({ status: 400, error: "invalid_dpop_proof" });
  expect(json.error_description).toMatch(why);
  expect(headers.get("www-authenticate")).toBeNull();
  expect(headers.get("cache-control")).toBe("no-store");
});

test("clocks may be 60 seconds apart, either way", async () => {
  for (const apart of [-60, 60]) {
    const proof = await key.prove(tokenUrl, { iat: clock.now() / 1000 + apart });
    expect((await redeem(app, proof)).status, String(apart)).toBe(200);
  }
});

test("a proof of a clock that is some seconds ahead passes, whichever claim says so", async () => {
  const ahead = clock.now() / 1000 + 8;
  const { status } = await redeem(app, await key.prove(tokenUrl, { iat: ahead, nbf: ahead }));
  expect(status).toBe(200);
});

test("a proof passes once, for as long as it lives", async () => {
  const proof = await key.prove(tokenUrl, { iat: clock.now() / 1000 + 60 });
  expect((await redeem(app, proof)).status).toBe(200);
  expect((await redeem(app, proof)).json.error_description).toMatch(/"jti" was used before/);
  clock.pass(120);
  expect((await redeem(app, proof)).json.error_description).toMatch(/"jti" was used before/);
  clock.pass(1);
  expect((await redeem(app, proof)).json.error_description).toMatch(/61 s ago/);
  // Another key may draw the same jti.
  const jti = "the same";
  expect((await redeem(app, await key.prove(tokenUrl, { jti }))).status).toBe(200);
  expect((await redeem(app, await another.prove(tokenUrl, { jti }))).status).toBe(200);
});

test("twenty with the same proof at once: one passes", async () => {
  const proof = await key.prove(tokenUrl);
  const answers = await Promise.all(Array.from({ length: 20 }, () => redeem(app, proof)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
});

/** A token request of demo-service by plain HTTP, where two headers of one name stay two, and Host may be any. */
const send = (server: Idp, headers: OutgoingHttpHeaders): Promise<Body> =>
  new Promise((resolve, reject) => {
    const sent = request(
      server.issuer + paths.token,
      { method: "POST", headers: { "content-type": "application/json", ...headers } },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("end", () => {
          resolve(JSON.parse(text) as Body);
        });
      },
    );
    sent.on("error", reject);
    const service = { client_id: "demo-service", client_secret: "demo-service-secret" };
    sent.end(JSON.stringify({ grant_type: "client_credentials", ...service }));
  });

test("two DPoP headers are refused, even two good ones", async () => {
  const answer = await send(idp, { dpop: [await key.prove(tokenUrl), await key.prove(tokenUrl)] });
  expect(answer.error).toBe("invalid_dpop_proof");
  expect(answer.error_description).toContain("more than one DPoP header");
});

test("htu is the address that discovery gave: the issuer's, or with a dynamic back channel the one of the name used", async () => {
  const allowHosts = ["idp.test"];
  const dynamic = await serve({ now: clock.now, backchannel: "dynamic", allowHosts });
  const fixed = await serve({ now: clock.now, allowHosts });
  for (const [server, byName, byIssuer] of [
    [dynamic, "DPoP", undefined],
    [fixed, undefined, "DPoP"],
  ] as const) {
    const name = `idp.test:${server.port}`;
    const answers = [
      await send(server, { host: name, dpop: await key.prove(`http://${name}${paths.token}`) }),
      await send(server, { host: name, dpop: await key.prove(server.issuer + paths.token) }),
    ];
    expect(answers.map((answer) => answer["token_type"])).toEqual([byName, byIssuer]);
  }
});

const { host, port } = new URL(idp.issuer);

test.each([
  ["with a query", `${tokenUrl}?tenant=1`],
  ["with a fragment", `${tokenUrl}#top`],
  ["scheme and host in capitals", `HTTP://LOCALHOST:${port}${paths.token}`],
  ["an escaped letter", tokenUrl.replace("/oauth/", "/%6Fauth/")],
  ["dot segments", tokenUrl.replace("/oauth/", "/x/./../oauth/")],
])("htu is compared as RFC 3986 6.2 normalizes it: %s passes", async (_how, htu) => {
  expect((await redeem(app, await key.prove(htu))).status).toBe(200);
});

test.each([
  ["a slash more", `${tokenUrl}/`],
  ["a path in capitals", tokenUrl.replace("oauth", "OAUTH")],
  ["https", tokenUrl.replace("http:", "https:")],
  ["another port", tokenUrl.replace(`:${port}`, ":1")],
  ["the default port", tokenUrl.replace(`:${port}`, "")],
  ["the host's number", tokenUrl.replace("localhost", "127.0.0.1")],
  ["user info", tokenUrl.replace("//", "//me@")],
  ["backslashes", `http:\\\\${host}${paths.token}`],
  ["a missing slash", tokenUrl.replace("//", "/")],
  ["a tab", tokenUrl.replace("oauth", "o\tauth")],
  ["an escaped slash", tokenUrl.replace("/oauth/", "%2Foauth/")],
  ["full-width letters", tokenUrl.replace("localhost", "ｌocalhost")],
  ["no address", "token"],
  ["the path alone", paths.token],
])("htu is compared as RFC 3986 6.2 normalizes it: %s is refused", async (_how, htu) => {
  const { status, json } = await redeem(app, await key.prove(htu));
  expect({ status, error: json.error }).toEqual({ status: 400, error: "invalid_dpop_proof" });
  expect(json.error_description).toContain('"htu"');
});

test("a client with dpop_bound_access_tokens is refused without a proof, whatever the grant type", async () => {
  const metadata: Partial<FixtureClient> = {
    dpop_bound_access_tokens: true,
    grant_types: ["authorization_code", "refresh_token", "client_credentials"],
  };
  const strict = await register(idp, metadata);
  const { status, json } = await redeem(strict, null);
  expect({ status, error: json.error }).toEqual({ status: 400, error: "invalid_dpop_proof" });
  expect(json.error_description).toContain("dpop_bound_access_tokens");
  const { refresh_token } = await bound(strict);
  expect((await renew(strict, refresh_token, null)).json.error).toBe("invalid_dpop_proof");
  const service = { grant_type: "client_credentials", ...strict.credentials };
  expect((await post(idp, paths.token, service)).json.error).toBe("invalid_dpop_proof");
  const answer = await post(idp, paths.token, service, withProof(await key.prove(tokenUrl)));
  expect(answer.json["token_type"]).toBe("DPoP");
});

test("UserInfo takes a bound token with a proof made for it, by GET and by POST", async () => {
  const { access_token } = await bound();
  const authorization = `DPoP ${access_token}`;
  const get = await present({ authorization, dpop: await proofFor(access_token) });
  expect(get.status).toBe(200);
  expect(get.json["user"]).toMatchObject({ username: "alice" });
  const dpop = await proofFor(access_token, { htm: "POST" });
  expect(
    (await present({ authorization: authorization.replace("DPoP", "dpop"), dpop }, { method: "POST" })).status,
  ).toBe(200);
});

test("a bound token that is sent as a bearer token is refused, with and without a proof, in the header and in a body", async () => {
  const { access_token } = await bound();
  const authorization = `Bearer ${access_token}`;
  const answers = [
    await present({ authorization }),
    await present({ authorization, dpop: await proofFor(access_token) }),
    await present({}, { method: "POST", body: new URLSearchParams({ access_token }) }),
  ];
  for (const answer of answers) {
    expect({ status: answer.status, error: answer.json.error }).toEqual({ status: 401, error: "invalid_token" });
    expect(answer.json.error_description).toContain("bound to a key");
    expect(challengesOf(answer)).toMatch(/^Bearer realm="idp", error="invalid_token".*, DPoP .*algs="ES256 /);
  }
});

test("a bearer token is refused beside a proof, and with the DPoP scheme", async () => {
  const { access_token } = (await redeem(app, null)).json;
  const beside = await present({ authorization: `Bearer ${access_token}`, dpop: await proofFor(access_token) });
  expect({ status: beside.status, error: beside.json.error }).toEqual({ status: 400, error: "invalid_request" });
  // It is not clear how the token was presented: both schemes say so (RFC 9449 7.2).
  expect(challengesOf(beside).match(/error="invalid_request"/g)).toHaveLength(2);

  const scheme = await present({ authorization: `DPoP ${access_token}`, dpop: await proofFor(access_token) });
  expect({ status: scheme.status, error: scheme.json.error }).toEqual({ status: 401, error: "invalid_token" });
  expect(scheme.json.error_description).toContain("bound to no key");
});

const refusedPresentations: readonly (readonly [
  what: string,
  proof: (token: string) => Promise<string> | null,
  error: string,
  why: RegExp,
])[] = [
  ["no proof", () => null, "invalid_dpop_proof", /it is missing/],
  ["a proof without ath", (token) => proofFor(token, { ath: undefined }), "invalid_dpop_proof", /no "ath"/],
  ["the ath of another token", (token) => proofFor(token, { ath: tokenHash("x") }), "invalid_dpop_proof", /"ath"/],
  ["a proof for a POST", (token) => proofFor(token, { htm: "POST" }), "invalid_dpop_proof", /"htm"/],
  ["a proof for the token endpoint", (token) => proofFor(token, { htu: tokenUrl }), "invalid_dpop_proof", /"htu"/],
  ["an old proof", (token) => proofFor(token, { iat: clock.now() / 1000 - 61 }), "invalid_dpop_proof", /61 s ago/],
  ["the proof of another key", (token) => proofFor(token, {}, another), "invalid_token", /another key/],
];

test.each(refusedPresentations)("refused at UserInfo: %s", async (_what, proof, error, why) => {
  const { access_token } = await bound();
  const dpop = await proof(access_token);
  const answer = await present({ authorization: `DPoP ${access_token}`, ...(dpop === null ? {} : { dpop }) });
  expect({ status: answer.status, error: answer.json.error }).toEqual({ status: 401, error });
  expect(answer.json.error_description).toMatch(why);
  // The scheme that was tried says what is wrong, the other one only that it exists.
  expect(challengesOf(answer)).toMatch(new RegExp(`^DPoP realm="idp", algs="[^"]+", error="${error}"`));
  expect(challengesOf(answer)).toMatch(/, Bearer realm="idp"$/);
});

test("a proof passes once at UserInfo too", async () => {
  const { access_token } = await bound();
  const headers = { authorization: `DPoP ${access_token}`, dpop: await proofFor(access_token) };
  expect((await present(headers)).status).toBe(200);
  const again = await present(headers);
  expect({ status: again.status, error: again.json.error }).toEqual({ status: 401, error: "invalid_dpop_proof" });
});

test("without a token both schemes are offered, without an error; the control API offers bearer tokens only", async () => {
  const answer = await present({});
  expect(answer.status).toBe(401);
  expect(challengesOf(answer)).toMatch(/^Bearer realm="idp", DPoP realm="idp", algs="ES256 [^"]+"$/);
  const api = await fetch(`${idp.issuer}/_idp/api/users`);
  expect(api.headers.get("www-authenticate")).toBe('Bearer realm="idp"');
});

test("a bound token dies like any other: expired 401, revoked 403, each with a challenge of its scheme", async () => {
  const temporary = await register(idp);
  const { access_token } = await bound(temporary);
  await idp.revoke({ client: temporary.credentials.client_id });
  const authorization = `DPoP ${access_token}`;
  const revoked = await present({ authorization, dpop: await proofFor(access_token) });
  expect({ status: revoked.status, error: revoked.json.error }).toEqual({ status: 403, error: "access_revoked" });
  expect(challengesOf(revoked)).toMatch(/^DPoP .*error="invalid_token"/);
  clock.pass(1800);
  const expired = await present({ authorization, dpop: await proofFor(access_token) });
  expect({ status: expired.status, error: expired.json.error }).toEqual({ status: 401, error: "invalid_token" });
  expect(challengesOf(expired)).toMatch(/^DPoP /);
});

test("the refresh token of a public client is good with its key only", async () => {
  const spa = await publicApp();
  const { refresh_token } = await bound(spa);
  const withoutKey = await renew(spa, refresh_token, null);
  expect(withoutKey.json.error).toBe("invalid_grant");
  expect(withoutKey.json.error_description).toMatch(/bound to a key.*no DPoP header/);
  const otherKey = await renew(spa, refresh_token, await another.prove(tokenUrl));
  expect(otherKey.json.error).toBe("invalid_grant");
  expect(otherKey.json.error_description).toContain("another key");

  const renewed = await renew(spa, refresh_token, await key.prove(tokenUrl));
  expect(renewed.json["token_type"]).toBe("DPoP");
  expect(jwtPart(renewed.json.access_token, 1)["cnf"]).toEqual({ jkt: key.jkt });
  // The next one is bound as well.
  expect((await renew(spa, renewed.json.refresh_token, null)).json.error).toBe("invalid_grant");
  expect((await renew(spa, renewed.json.refresh_token, await key.prove(tokenUrl))).status).toBe(200);
});

test("a rotated refresh token without its key does not end the family: a thief could", async () => {
  const spa = await publicApp();
  const first = await bound(spa);
  const second = (await renew(spa, first.refresh_token, await key.prove(tokenUrl))).json;
  expect((await renew(spa, first.refresh_token, null)).json.error).toBe("invalid_grant");
  const third = await renew(spa, second.refresh_token, await key.prove(tokenUrl));
  expect(third.status).toBe(200);
  expect((await renew(spa, first.refresh_token, await key.prove(tokenUrl))).json.error_description).toMatch(/rotated/);
  expect((await renew(spa, third.json.refresh_token, await key.prove(tokenUrl))).json.error).toBe("invalid_grant");
});

test("a public client's refresh token without a key is bound by the first proof that comes with it", async () => {
  const spa = await publicApp();
  const plain = (await redeem(spa, null)).json;
  const renewed = (await renew(spa, plain.refresh_token, await key.prove(tokenUrl))).json;
  expect(renewed["token_type"]).toBe("DPoP");
  expect((await renew(spa, renewed.refresh_token, null)).json.error).toBe("invalid_grant");
});

test("the refresh token of a client that authenticates is not bound: it may change its key, or use none", async () => {
  const first = await bound();
  const second = await renew(app, first.refresh_token, await another.prove(tokenUrl));
  expect(jwtPart(second.json.access_token, 1)["cnf"]).toEqual({ jkt: another.jkt });
  const third = await refresh(idp, second.json.refresh_token, app.credentials);
  expect(third.json["token_type"]).toBe("Bearer");
});

/** An authorization code for these parameters of the request. */
const codeFor = async (change: Readonly<Record<string, string | null>>): Promise<string> =>
  (await app.signIn(change)).code;

/** Pushes a request. @returns the answer */
const push = (parameters: Readonly<Record<string, string>>, proof: string | null): Promise<Answer> => {
  const { client_id, client_secret } = app.credentials;
  const request = { response_type: "code", redirect_uri: callback, scope: "openid", client_id, ...parameters };
  return post(
    idp,
    parPath,
    {},
    {
      headers: proof === null ? {} : { dpop: proof },
      body: new URLSearchParams({ ...request, client_secret: client_secret ?? "" }),
    },
  );
};

const codeOfPushed = async (answer: Answer): Promise<string> =>
  codeFor({ request_uri: String(answer.json["request_uri"]), redirect_uri: null });

const bindings: readonly (readonly [how: string, code: () => Promise<string>])[] = [
  ["dpop_jkt of the authorization request", () => codeFor({ dpop_jkt: key.jkt })],
  ["dpop_jkt of a pushed request", async () => codeOfPushed(await push({ dpop_jkt: key.jkt }, null))],
  [
    "a DPoP header of a pushed request",
    async () => codeOfPushed(await push({}, await key.prove(idp.issuer + parPath))),
  ],
  [
    "both, which agree",
    async () => codeOfPushed(await push({ dpop_jkt: key.jkt }, await key.prove(idp.issuer + parPath))),
  ],
];

test.each(bindings)("a code is bound by %s: it is good with that key only", async (_how, codeOf) => {
  const code = await codeOf();
  const withoutKey = await redeem(app, null, code);
  expect(withoutKey.json.error).toBe("invalid_grant");
  expect(withoutKey.json.error_description).toMatch(/bound to a key.*no DPoP header/);
  const otherKey = await redeem(app, await another.prove(tokenUrl), code);
  expect(otherKey.json.error).toBe("invalid_grant");
  expect(otherKey.json.error_description).toContain("another key");
  const redeemed = await redeem(app, await key.prove(tokenUrl), code);
  expect(jwtPart(redeemed.json.access_token, 1)["cnf"]).toEqual({ jkt: key.jkt });
});

test("a pushed request whose dpop_jkt and DPoP header disagree is refused, and one with a bad proof", async () => {
  const disagreeing = await push({ dpop_jkt: another.jkt }, await key.prove(idp.issuer + parPath));
  expect({ status: disagreeing.status, error: disagreeing.json.error }).toEqual({
    status: 400,
    error: "invalid_dpop_proof",
  });
  expect(disagreeing.json.error_description).toContain("dpop_jkt");
  expect((await push({}, await key.prove(tokenUrl))).json.error_description).toContain('"htu"');
});

test("a dpop_jkt that is no thumbprint is sent back to the client as invalid_request", async () => {
  const { back } = await app.signIn({ dpop_jkt: "short" });
  expect(back.searchParams.get("error")).toBe("invalid_request");
  expect(back.searchParams.get("error_description")).toContain("dpop_jkt");
});

test("client_credentials gives bound tokens too, and introspection tells bound tokens by cnf and token_type", async () => {
  const service = { client_id: "demo-service", client_secret: "demo-service-secret" };
  const { json } = await post(
    idp,
    paths.token,
    { grant_type: "client_credentials", ...service },
    withProof(await key.prove(tokenUrl)),
  );
  expect(json["token_type"]).toBe("DPoP");
  const introspect = async (token: string): Promise<Body> =>
    (await post(idp, introspectPath, { token, ...service })).json;
  expect(await introspect(json.access_token)).toMatchObject({
    active: true,
    token_type: "DPoP",
    cnf: { jkt: key.jkt },
  });
  const spa = await publicApp();
  expect(await introspect((await bound(spa)).refresh_token)).toMatchObject({ active: true, cnf: { jkt: key.jkt } });
  const plain = await introspect((await redeem(app, null)).json.access_token);
  expect(plain).toMatchObject({ active: true, token_type: "Bearer" });
  expect(plain).not.toHaveProperty("cnf");
});

test("a device gets bound tokens too", async () => {
  const grantType = "urn:ietf:params:oauth:grant-type:device_code";
  const tv = await register(idp, { token_endpoint_auth_method: "none", grant_types: [grantType, "refresh_token"] });
  const { client_id } = tv.credentials;
  const form = { body: new URLSearchParams({ client_id, scope: "openid" }), headers: {} };
  const begun = (await post(idp, "/api/v2/oauth/device_authorization", {}, form)).json;
  const browser = new Browser(idp.issuer);
  const page = await browser.open(String(begun["verification_uri_complete"]));
  await browser.press(await pick(browser, page, "alice"), "device-allow");
  const body = { grant_type: grantType, device_code: String(begun["device_code"]), ...tv.credentials };
  const { json } = await post(idp, paths.token, body, withProof(await key.prove(tokenUrl)));
  expect(json["token_type"]).toBe("DPoP");
  expect((await renew(tv, json.refresh_token, null)).json.error).toBe("invalid_grant");
});

test("a browser may send the DPoP header from a registered origin", async () => {
  const headers = { origin: "http://localhost:5173", "access-control-request-method": "POST" };
  for (const url of [tokenUrl, userinfoUrl]) {
    const preflight = await fetch(url, { method: "OPTIONS", headers });
    expect(preflight.headers.get("access-control-allow-headers")).toMatch(/\bDPoP\b/);
  }
});
