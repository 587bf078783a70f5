import { randomUUID } from "node:crypto";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, describe, expect, test } from "vitest";
import { callback, exchange, paths, post, refresh, signIn, userinfo, type Answer } from "../../helpers/client.ts";
import { jwtBearer, partner, partnerIdJag, partnerKeys } from "../../helpers/cross-app.ts";
import { newProofKey } from "../../helpers/dpop.ts";
import { call, startInstances, type Instance } from "../../helpers/instances.ts";
import { longRuns } from "../../helpers/runs.ts";

/** Three instances on one PostgreSQL behave as one server: a change at one counts at all from then on. */

const keys = await generateKeyPair("ES256", { extractable: true });
const jwk = { ...(await exportJWK(keys.publicKey)), kid: "k1", alg: "ES256" };
const service = { redirect_uris: [], grant_types: ["client_credentials"] };
const users = Array.from({ length: 10 }, (_, index) => ({ username: `user-${index}` }));
const { issuer, at } = await startInstances(
  3,
  {
    users: [{ username: "alice", federated: [{ issuer: partner, sub: "p-al" }] }, ...users],
    scopes: { "files:read": {} },
    settings: { trusted_issuers: [{ issuer: partner, jwks: partnerKeys }] },
    clients: [
      { client_id: "demo-app", client_secret: "demo-secret", redirect_uris: [callback] },
      { client_id: "by-secret", client_secret: "the secret of by-secret", ...service },
      { client_id: "agent-at-tool", client_secret: "s", ...service, grant_types: [jwtBearer] },
      { client_id: "by-key", token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [jwk] }, ...service },
    ],
  },
  { atEnd: afterAll },
);
const three: readonly Instance[] = [at(0), at(1), at(2)];

/** Sends the same request 50 times at once, to each instance in turn. @returns how many were answered with 200 */
async function winners(send: (to: Instance) => Promise<Answer>): Promise<number> {
  const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => send(at(index))));
  for (const { status, json } of answers) if (status !== 200) expect([status, json.error]).not.toContain(503);
  return answers.filter(({ status }) => status === 200).length;
}

describe("fifty at once: one wins", () => {
  test("a code", async () => {
    const { code } = await signIn({ issuer });
    expect(await winners((to) => exchange(to, code))).toBe(1);
  });

  test("a refresh token", async () => {
    const { json } = await exchange({ issuer }, (await signIn({ issuer })).code);
    expect(await winners((to) => refresh(to, json.refresh_token))).toBe(1);
  });

  test("a client assertion", async () => {
    const claims = { iss: "by-key", sub: "by-key", aud: issuer, jti: randomUUID() };
    const assertion = await new SignJWT(claims)
      .setProtectedHeader({ alg: "ES256", kid: "k1" })
      .setIssuedAt()
      .setExpirationTime("1m")
      .sign(keys.privateKey);
    const body = {
      ...{ client_id: null, client_secret: null, grant_type: "client_credentials", client_assertion: assertion },
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    };
    expect(await winners((to) => post(to, paths.token, body))).toBe(1);
  });

  test("an ID-JAG", async () => {
    const assertion = await partnerIdJag({ issuer }, { aud: issuer });
    const body = { client_id: "agent-at-tool", client_secret: "s", grant_type: jwtBearer, assertion };
    expect(await winners((to) => post(to, paths.token, body))).toBe(1);
  });

  test("a DPoP proof", async () => {
    const proof = await (await newProofKey()).prove(issuer + paths.token);
    const headers = { "content-type": "application/json", dpop: proof };
    const body = {
      ...{ client_id: "by-secret", client_secret: "the secret of by-secret", grant_type: "client_credentials" },
    };
    expect(await winners((to) => post(to, paths.token, body, { headers }))).toBe(1);
  });
});

const each = longRuns(4, 200);

test(`${10 * each} revocations at one instance under load, each followed by UserInfo at another: 403 each time`, async () => {
  let isOver = false;
  const tokens = await exchange({ issuer }, (await signIn({ issuer })).code);
  const load = three.map(async (instance) => {
    while (!isOver) expect((await userinfo(instance, tokens.json.access_token)).status).toBe(200);
  });
  const statuses = new Map<number, number>();
  await Promise.all(
    users.map(async ({ username: user }, index) => {
      for (let round = 0; round < each; round += 1) {
        const [here, there] = [at(index + round), at(index + round + 1)];
        const { json } = await call(there, "POST", "/issue/tokens", { user, client: "demo-app" });
        const { access_token: token } = json as { access_token: string };
        expect((await userinfo(here, token)).status).toBe(200);
        expect(await call(here, "POST", "/revoke", { user, client: "demo-app" })).toMatchObject({ status: 200 });
        const { status } = await userinfo(there, token);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }),
  );
  isOver = true;
  await Promise.all(load);
  expect(Object.fromEntries(statuses)).toEqual({ 403: 10 * each });
});
