import { createHmac, randomUUID } from "node:crypto";
import { request, type OutgoingHttpHeaders } from "node:http";
import { expect, test } from "vitest";
import type { FixtureClient } from "../../src/core/protocol/client-metadata/schema.ts";
import type { Idp } from "../../src/index.ts";
import { register, serve } from "../helpers/app.ts";
import { jwtPart, paths, post, type Body } from "../helpers/client.ts";
import type { Bend } from "../helpers/dpop.ts";
import { dpopApp, withProof } from "../helpers/dpop-app.ts";

/** What a DPoP proof has to be (RFC 9449 4), seen at the token endpoint. */

const { another, app, bound, clock, idp, key, newKey, redeem, renew, tokenUrl, userinfoUrl } = await dpopApp();

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
  ["another typ", () => key.prove(tokenUrl, {}, { typ: "JWT" }), /'typ'/],
  ["no typ", () => key.prove(tokenUrl, {}, { typ: undefined }), /'typ'/],
  ["alg none", () => forge({ alg: "none", jwk: key.publicJwk }, () => ""), /'alg'/],
  ["a symmetric algorithm", () => forge({ alg: "HS256", jwk: { kty: "oct", k: "c2VjcmV0" } }, hmac), /'alg'/],
  ["an algorithm that discovery does not list", async () => (await newKey("RS384")).prove(tokenUrl), /'alg'/],
  ["no jwk", () => key.prove(tokenUrl, {}, { jwk: undefined }), /'jwk'/],
  ["a jwk that is text", () => key.prove(tokenUrl, {}, { jwk: "key" }), /'jwk'/],
  [
    "a broken jwk",
    () => key.prove(tokenUrl, {}, { jwk: { kty: "EC", crv: "P-256", x: "AA", y: "AA" } }),
    /not accepted/,
  ],
  ["a private key", () => key.prove(tokenUrl, {}, { jwk: key.privateJwk }), /private key/],
  ["the signature of another key", () => key.prove(tokenUrl, {}, { jwk: another.publicJwk }), /signature/],
  ["no jti", () => key.prove(tokenUrl, { jti: undefined }), /'jti'/],
  ["an empty jti", () => key.prove(tokenUrl, { jti: "" }), /'jti'/],
  ["a jti that is a number", () => key.prove(tokenUrl, { jti: 7 }), /'jti'/],
  ["no htm", () => key.prove(tokenUrl, { htm: undefined }), /'htm'/],
  ["another method", () => key.prove(tokenUrl, { htm: "GET" }), /'htm' is 'GET', the request is a POST/],
  ["a method in small letters", () => key.prove(tokenUrl, { htm: "post" }), /'htm'/],
  ["no htu", () => key.prove(tokenUrl, { htu: undefined }), /'htu'/],
  ["the address of UserInfo", () => key.prove(userinfoUrl), /'htu' is .*the request went to/],
  ["no iat", () => key.prove(tokenUrl, { iat: undefined }), /'iat'/],
  ["an iat that is text", () => key.prove(tokenUrl, { iat: "now" }), /'iat'/],
  ["a proof of 61 seconds ago", () => key.prove(tokenUrl, { iat: clock.now() / 1000 - 61 }), /61 s ago/],
  ["a proof of 61 seconds ahead", () => key.prove(tokenUrl, { iat: clock.now() / 1000 + 61 }), /61 s ahead/],
  ["an expired proof", () => key.prove(tokenUrl, { exp: clock.now() / 1000 - 1 }), /'exp'/],
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

test("a proof of a clock that is some seconds ahead passes, by iat and nbf", async () => {
  const ahead = clock.now() / 1000 + 8;
  const { status } = await redeem(app, await key.prove(tokenUrl, { iat: ahead, nbf: ahead }));
  expect(status).toBe(200);
});

test("a proof passes once, for as long as it lives", async () => {
  const proof = await key.prove(tokenUrl, { iat: clock.now() / 1000 + 60 });
  expect((await redeem(app, proof)).status).toBe(200);
  expect((await redeem(app, proof)).json.error_description).toMatch(/'jti' was used before/);
  clock.pass(120);
  expect((await redeem(app, proof)).json.error_description).toMatch(/'jti' was used before/);
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
  expect(json.error_description).toContain("'htu'");
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
