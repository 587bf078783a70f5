import { expect, test } from "vitest";
import { register } from "../helpers/app.ts";
import type { Answer, Body } from "../helpers/client.ts";
import { tokenHash, type Bend, type ProofKey } from "../helpers/dpop.ts";
import { dpopApp } from "../helpers/dpop-app.ts";

/** Bound tokens at UserInfo (RFC 9449 7). */

const { another, app, bound, clock, idp, key, redeem, tokenUrl, userinfoUrl } = await dpopApp();

/** UserInfo with these headers. */
async function present(headers: Record<string, string>, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(userinfoUrl, { headers, ...init });
  return { status: response.status, headers: response.headers, json: (await response.json()) as Body };
}

/** A proof for UserInfo with this token. */
const proofFor = (token: string, claims: Bend = {}, by: ProofKey = key): Promise<string> =>
  by.prove(userinfoUrl, { htm: "GET", ath: tokenHash(token), ...claims });

const challengesOf = ({ headers }: Answer): string => headers.get("www-authenticate") ?? "";

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
  ["a proof without ath", (token) => proofFor(token, { ath: undefined }), "invalid_dpop_proof", /no 'ath'/],
  ["the ath of another token", (token) => proofFor(token, { ath: tokenHash("x") }), "invalid_dpop_proof", /'ath'/],
  ["a proof for a POST", (token) => proofFor(token, { htm: "POST" }), "invalid_dpop_proof", /'htm'/],
  ["a proof for the token endpoint", (token) => proofFor(token, { htu: tokenUrl }), "invalid_dpop_proof", /'htu'/],
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
