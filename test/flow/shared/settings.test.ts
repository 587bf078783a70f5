import { afterAll, expect, test } from "vitest";
import { callback, exchange, paths, post, signIn, userinfo } from "../../helpers/client.ts";
import { call, startInstances, type Instance } from "../../helpers/instances.ts";

/** Shared state beside users and tokens: faults, the clock, settings, keys, secrets of clients. */

const { issuer, at } = await startInstances(
  3,
  {
    users: [{ username: "alice" }],
    clients: [
      { client_id: "demo-app", client_secret: "demo-secret", redirect_uris: [callback] },
      {
        ...{ client_id: "by-secret", client_secret: "the secret of by-secret" },
        ...{ redirect_uris: [], grant_types: ["client_credentials"] },
      },
    ],
  },
  { atEnd: afterAll },
);
const three: readonly Instance[] = [at(0), at(1), at(2)];

test("a fault for 7 requests is met 7 times over three instances", async () => {
  const fault = { endpoint: "token", status: 503, times: 7 };
  expect(await call(at(1), "POST", "/faults", fault)).toMatchObject({ status: 201 });
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => post(at(index), paths.token, { grant_type: "client_credentials" })),
  );
  expect(answers.filter(({ status }) => status === 503)).toHaveLength(7);
  for (const instance of three) expect((await call(instance, "GET", "/faults")).json).toEqual([]);
});

test("the clock is moved at one instance and shows the same time at all", async () => {
  const { json } = await exchange({ issuer }, (await signIn({ issuer })).code);
  await call(at(2), "POST", "/clock/advance", { by: "31m" });
  for (const instance of three) {
    expect((await userinfo(instance, json.access_token)).status).toBe(401);
    expect((await call(instance, "GET", "/clock")).json).toMatchObject({ offset: 1860, frozen: false });
  }
  await call(at(0), "POST", "/clock/reset");
  for (const instance of three) expect((await userinfo(instance, json.access_token)).status).toBe(200);
});

test("a new secret of a client counts at the others at once, and the old one does no longer", async () => {
  const request = (to: Instance, client_secret: string) =>
    post(to, paths.token, { client_id: "by-secret", client_secret, grant_type: "client_credentials" });
  const change = { client_secret: "another secret of by-secret" };
  expect(await call(at(0), "PATCH", "/clients/by-secret", change)).toMatchObject({ status: 200 });
  for (const instance of three) {
    expect((await request(instance, change.client_secret)).status).toBe(200);
    expect((await request(instance, "the secret of by-secret")).status).toBe(401);
  }
});

test("a setting that is seeded at one counts at the others at once", async () => {
  const seeded = await call(at(1), "POST", "/seed", { settings: { access_token_ttl: 77 } });
  expect(seeded).toMatchObject({ status: 200 });
  for (const instance of three) {
    const { json } = await call(instance, "POST", "/issue/tokens", { user: "alice", client: "demo-app" });
    expect(json).toMatchObject({ expires_in: 77 });
  }
});

test("the inspector that one instance hands out is open at the others", async () => {
  const { json } = await call(at(0), "POST", "/inspector/open", {});
  // Every instance has it at the same path.
  const { pathname, search } = new URL((json as { url: string }).url);
  const opened = await fetch(at(1).issuer + pathname + search, { redirect: "manual" });
  expect(opened.status).toBe(303);
  const cookie = opened.headers
    .getSetCookie()
    .map((one) => one.split(";", 1)[0])
    .join("; ");
  expect((await fetch(at(2).issuer + pathname, { headers: { cookie } })).status).toBe(200);
  expect((await fetch(at(2).issuer + pathname)).status).not.toBe(200);
});

test("a key that is rotated at one is published by the others at once, and signs there", async () => {
  const kids = async ({ issuer: address }: Instance): Promise<readonly string[]> => {
    const answer = await fetch(`${address}/api/v2/oauth/jwks`);
    return ((await answer.json()) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
  };
  const before = await kids(at(0));
  expect(await call(at(0), "POST", "/keys", {})).toMatchObject({ status: 201 });
  const after = await kids(at(1));
  expect(after).toHaveLength(before.length + 1);
  expect(await kids(at(2))).toEqual(after);
});
