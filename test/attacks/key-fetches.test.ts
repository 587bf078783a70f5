import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createFetchedKeys } from "../../src/core/records/keys/fetched-keys.ts";
import { register } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { testClock } from "../helpers/clock.ts";
import { paths, post } from "../helpers/client.ts";

/** How often forged assertions make this server fetch the keys that they name: of a trusted issuer, and of a client. */

const clock = testClock();
const idp = await underAttack({ now: clock.now });
const partner = "https://partner.example.test";
const [own, other] = [await generateKeyPair("RS256"), await generateKeyPair("RS256")];
const jwkOf = async (kid: string, { publicKey } = own) => ({ ...(await exportJWK(publicKey)), kid, alg: "RS256" });

let served: readonly object[] = [];
let underway = 0;
let most = 0;
let asked = 0;
let status = 200;
const server = createServer((_req, res) => {
  asked += 1;
  underway += 1;
  most = Math.max(most, underway);
  const body = JSON.stringify({ keys: served });
  // Later requests arrive while this one waits.
  setImmediate(() => {
    underway -= 1;
    res.writeHead(status).end(body);
  });
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
afterAll(() => server.close());
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

let count = 0;
const seconds = () => Math.floor(clock.now() / 1000);
const sign = (claims: object, kid: string | undefined, typ: string, { privateKey } = own) =>
  new SignJWT({ ...claims, jti: `j${(count += 1)}`, iat: seconds(), exp: seconds() + 300 })
    .setProtectedHeader({ alg: "RS256", typ, ...(kid !== undefined && { kid }) })
    .sign(privateKey);

type Send = (kid: string | undefined, pair?: typeof own) => Promise<number>;

/** Each takes the URL of the keys. @returns what sends an assertion that names a key */
const ways: readonly (readonly [string, (jwks_uri: string) => Promise<Send>])[] = [
  [
    "an ID-JAG of a trusted issuer",
    async (jwks_uri) => {
      const grant_types = ["urn:ietf:params:oauth:grant-type:jwt-bearer"] as const;
      const app = await register(idp, { grant_types });
      await idp.call("seed", {
        users: [{ username: "pal", federated: [{ issuer: partner, sub: "p" }] }],
        settings: { trusted_issuers: [{ issuer: partner, jwks_uri }] },
      });
      const { client_id } = app.credentials;
      const claims = { iss: partner, sub: "p", aud: idp.issuer, client_id, scope: "openid" };
      return async (kid, pair) => {
        const assertion = await sign(claims, kid, "oauth-id-jag+jwt", pair);
        return (await post(idp, paths.token, { ...app.credentials, grant_type: grant_types[0], assertion })).status;
      };
    },
  ],
  [
    "a token of a workload",
    async (jwks_uri) => {
      const federated_credentials = [{ issuer: partner, subject: "repo", audience: "here" }];
      const client_id = `federated-${(count += 1)}`;
      await idp.call("seed", {
        clients: [{ client_id, federated_credentials, grant_types: ["client_credentials"] }],
        settings: { trusted_issuers: [{ issuer: partner, jwks_uri, accepts: "workload" }] },
      });
      return (kid, pair) => authenticate(client_id, { iss: partner, sub: "repo", aud: "here" }, kid, pair);
    },
  ],
  [
    "an assertion of a client with a jwks_uri",
    async (jwks_uri) => {
      const app = await register(idp, {
        ...{ token_endpoint_auth_method: "private_key_jwt", jwks_uri, grant_types: ["client_credentials"] },
      });
      const { client_id } = app.credentials;
      const claims = { iss: client_id, sub: client_id, aud: idp.issuer };
      return (kid, pair) => authenticate(client_id, claims, kid, pair);
    },
  ],
];

async function authenticate(client_id: string, claims: object, kid: string | undefined, pair?: typeof own) {
  const { status: answered } = await post(idp, paths.token, {
    ...{ client_id, client_secret: null, grant_type: "client_credentials" },
    client_assertion: await sign(claims, kid, "JWT", pair),
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
  });
  return answered;
}

describe.each(ways)("%s", (_what, begin) => {
  let send: Send;
  beforeEach(async () => {
    served = [await jwkOf("k1")];
    status = 200;
    send = await begin(`${base}/keys-${(count += 1)}`);
    [asked, most] = [0, 0];
  });
  const forged = async (kid: (index: number) => string | undefined, times: number, together: boolean) => {
    const one = async (index: number) => {
      // Some arrive while the keys are fetched, others while the first signature is verified.
      for (let turn = 0; together && turn < index; turn++) await new Promise(setImmediate);
      expect(await send(kid(index), other)).toBeGreaterThanOrEqual(400);
    };
    const all = Array.from({ length: times }, (_, index) => index);
    if (together) await Promise.all(all.map(one));
    else for (const index of all) await one(index);
  };

  test.each([
    ["a key that nobody has, each another one", (index: number) => `unknown-${index}`],
    ["no key", () => undefined],
    ["the key that is known", () => "k1"],
  ] as const)("forged ones that name %s cause few fetches, and one at a time", async (_kid, kid) => {
    expect(await send("k1")).toBe(200);
    await forged(kid, 30, false);
    await forged(kid, 30, true);
    expect(asked).toBeLessThanOrEqual(2);
    expect(most).toBe(1);
    // The next minute brings a few more.
    for (let round = 0; round < 6; round++) {
      clock.pass(10);
      await forged(kid, 12, true);
    }
    expect(asked).toBeLessThanOrEqual(8);
    expect(most).toBe(1);
  });

  test("so do some whose keys cannot be fetched", async () => {
    status = 500;
    await forged(() => "k1", 20, true);
    await forged(() => "k1", 20, false);
    expect([asked, most]).toEqual([1, 1]);
    // Soon the address may answer.
    status = 200;
    clock.pass(3);
    expect(await send("k1")).toBe(200);
  });

  test("a new key is good at once, also with another one of the same name after a while", async () => {
    expect(await send("k1")).toBe(200);
    served = [await jwkOf("k2", other)];
    expect(await send("k2", other)).toBe(200);
    expect(await send("k1")).toBeGreaterThanOrEqual(400);
    served = [await jwkOf("k2")];
    clock.pass(301);
    expect(await send("k2")).toBe(200);
  });
});

test("keys that nobody has tried yet are not fetched again, and those that helped are", async () => {
  const keys = createFetchedKeys(clock.now);
  const uri = `${base}/keys-${(count += 1)}`;
  asked = 0;
  const read = () => keys.read(uri, "local", () => false);
  await read();
  await read();
  expect(asked).toBe(1);
  keys.tried(uri, "local", true);
  await read();
  expect(asked).toBe(2);
  keys.tried(uri, "local", false);
  // One that arrived before and succeeds does not end the pause.
  keys.tried(uri, "local", true);
  await read();
  expect(asked).toBe(2);
});
