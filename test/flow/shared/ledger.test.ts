import { Client } from "pg";
import { beforeEach, describe, expect, test } from "vitest";
import { createIdp, type Expectation, type Idp, type IdpOptions, type RequestRecord } from "../../../src/index.ts";
import { atEnd } from "../../helpers/at-end.ts";
import { callback, exchange, post, paths, signIn, userinfo } from "../../helpers/client.ts";
import { adminToken, call, startInstances } from "../../helpers/instances.ts";
import { openLink } from "../../helpers/link.ts";
import { startPostgres } from "../../helpers/postgres.ts";
import { openInspector } from "../../helpers/inspector.ts";
import { startRoundRobin } from "../../helpers/round-robin.ts";

/** Three instances have one ledger: whichever is asked says the same. */

const apps = ["demo-app", "app-b", "app-c", "app-d"];
const fixtures = {
  users: [{ username: "alice" }],
  clients: apps.map((client_id) => ({ client_id, client_secret: "demo-secret", redirect_uris: [callback] })),
};

const postgres = await startPostgres();
const store = await postgres.database();

/** The flows of requests, by their ids, as the instance named them that got the request. */
const named = new Map<string, string | null>();

async function threeOn(store: string, more: { readonly ledger?: number } = {}) {
  const balancer = await startRoundRobin();
  const settings = more.ledger === undefined ? {} : { settings: { ledger: more.ledger } };
  const all: Idp[] = [];
  const onRequest: IdpOptions["onRequest"] = (_event, read) => {
    const record = read();
    if (record !== null) named.set(record.id, record.flow);
  };
  const start = (): Promise<Idp> =>
    createIdp({ onRequest, issuer: balancer.url, store, port: 0, adminToken, fixtures: { ...fixtures, ...settings } });
  for (let count = 0; count < 3; count += 1) all.push(await start());
  balancer.servers = all.map(({ port }) => port);
  atEnd(() => Promise.all(all.map((idp) => idp.close())));
  const [a, b, c] = all as [Idp, Idp, Idp];
  return { issuer: balancer.url, all, balancer, start, a, b, c };
}

const { issuer, all, balancer, start, a, b, c } = await threeOn(store);
const direct = ({ port }: Idp) => ({ issuer: `http://localhost:${port}` });

beforeEach(() => a.requests.clear());

async function signInTo(app: string): Promise<string> {
  const { code } = await signIn({ issuer }, { client_id: app });
  const { json } = await exchange({ issuer }, code, { client_id: app });
  expect((await userinfo({ issuer }, json.access_token)).status).toBe(200);
  return json.access_token;
}

/** What each instance says about an expectation. */
const judged = (expectation: Expectation) =>
  Promise.all(
    all.map((idp) =>
      idp.call("expect", expectation).then(({ met, count, dropped, nearest }) => ({
        ...{ met, count, dropped },
        nearest: nearest.map(({ request: { id } }) => id),
      })),
    ),
  );

async function expectAllToSay(expectation: Expectation, wanted: { readonly met: boolean; readonly count: number }) {
  const [first, ...others] = await judged(expectation);
  expect(first).toMatchObject(wanted);
  for (const other of others) expect(other).toEqual(first);
}

/** The requests as every instance lists them, once all have written. */
async function listed(filter = {}): Promise<readonly RequestRecord[]> {
  await a.call("expect", { endpoint: "any" });
  const [first, ...others] = await Promise.all(all.map((idp) => idp.requests.list(filter)));
  for (const other of others) expect(other).toEqual(first);
  return first ?? [];
}

describe("sign-ins from four apps by way of a load balancer", () => {
  test("expect, with each of its counts, and requests are the same at each instance", async () => {
    await signInTo("demo-app");
    await expectAllToSay({ endpoint: "userinfo", times: 1 }, { met: true, count: 1 });
    const middle = (await listed()).at(-1)?.id ?? "";
    await Promise.all(apps.map(signInTo));
    await expectAllToSay({ endpoint: "userinfo", times: 5 }, { met: true, count: 5 });
    await expectAllToSay({ endpoint: "userinfo", times: 4, since: middle }, { met: true, count: 4 });
    await expectAllToSay({ endpoint: "token", client: "app-b", times: 1 }, { met: true, count: 1 });
    await expectAllToSay({ endpoint: "token", client: "app-b", never: true }, { met: false, count: 1 });
    await expectAllToSay({ endpoint: "revoke", never: true }, { met: true, count: 0 });
  });

  test("each sign-in is one flow, whose name the inspector of each instance knows", async () => {
    for (const app of apps) await signInTo(app);
    const records = await listed();
    const flows = new Set(records.map(({ flow }) => flow));
    expect(flows.size).toBe(apps.length);
    for (const app of apps) {
      const ofApp = records.filter(({ client }) => client === app);
      expect(new Set(ofApp.map(({ flow }) => flow)).size).toBe(1);
      expect(ofApp.map(({ endpoint }) => endpoint)).toEqual(
        expect.arrayContaining(["authorize", "login", "token", "userinfo"]),
      );
    }
    expect([...flows].every((flow) => /^f[a-z]+\d+$/.test(flow ?? ""))).toBe(true);
    expect(records.every(({ id }) => /^[a-z]+-\d+$/.test(id))).toBe(true);
    // Ids are of the instances that were asked.
    expect(new Set(records.map(({ id }) => id.split("-")[0])).size).toBe(3);
    for (const idp of all) {
      for (const flow of flows) {
        const { url } = await idp.call("inspector.open", { flow: flow ?? "" });
        expect(url).toContain(`flow=${flow}`);
      }
    }
  });

  test("the name that an error page gave a sign-in opens it at each instance", async () => {
    const visit = await fetch(
      `${direct(b).issuer}${paths.authorize}?response_type=code&client_id=app-b&redirect_uri=${encodeURIComponent("http://localhost/other")}`,
    );
    const flow = /idp open (f[a-z]+\d+)/.exec(await visit.text())?.[1] ?? "";
    expect(flow).not.toBe("");
    await listed();
    for (const idp of all) expect((await idp.requests.list({ flow })).map((record) => record.flow)).toEqual([flow]);
  });

  test("a name that an instance gave to a part of a sign-in opens the whole of it", async () => {
    const { code } = await signIn(direct(a));
    const { json } = await exchange(direct(b), code);
    await userinfo(direct(c), json.access_token);
    const records = await listed();
    const [flow, ...others] = new Set(records.map((record) => record.flow));
    expect(others).toEqual([]);
    const names = new Set(records.map(({ id }) => named.get(id) ?? ""));
    // None of them knew yet to which sign-in its requests belong.
    expect(names.size).toBe(3);
    for (const idp of all) {
      for (const name of names) {
        const { url } = await idp.call("inspector.open", { flow: name });
        expect(new URL(url).searchParams.get("flow")).toBe(flow);
        expect(await idp.requests.list({ flow: name })).toEqual(records);
        expect((await idp.call("expect", { endpoint: "userinfo", flow: name, times: 1 })).met).toBe(true);
      }
    }
  });

  test("what is sent at one instance is found by its value at another", async () => {
    const { code } = await signIn(direct(a));
    await exchange(direct(b), code);
    await expectAllToSay({ endpoint: "token", param: { code }, times: 1 }, { met: true, count: 1 });
    await expectAllToSay({ endpoint: "token", param: { code: `${code}x` }, never: true }, { met: true, count: 0 });
  });
});

test("expect waits for a request to another instance, and never waits until the end", async () => {
  const waits = a.call("expect", { endpoint: "token", times: 1, within: 20 });
  const never = b.call("expect", { endpoint: "token", never: true, within: 20 });
  await post(direct(c), paths.token, { grant_type: "authorization_code", code: "unknown" });
  expect(await waits).toMatchObject({ met: true, count: 1 });
  expect(await never).toMatchObject({ met: false, count: 1 });
});

test("a request that was just answered counts at another instance, with no time to wait", async () => {
  for (const idp of all) {
    await a.requests.clear();
    await userinfo(direct(idp), null);
    await expectAllToSay({ endpoint: "userinfo", times: 1 }, { met: true, count: 1 });
  }
});

test("clear at one instance: older requests that arrive later stay away, later ones are there", async () => {
  await userinfo(direct(a), null);
  await userinfo(direct(b), null);
  await c.requests.clear();
  expect(await listed()).toEqual([]);
  await userinfo(direct(b), null);
  expect((await listed()).map(({ endpoint }) => endpoint)).toEqual(["userinfo"]);
});

test.each([{ there: 60 }, { back: 60 }])(
  "what was answered before a clear is never counted after it, and what comes after it is, on a slow way: %j",
  async (slow) => {
    const link = await openLink(Number(new URL(store).port), slow);
    const far = await createIdp({ issuer: balancer.url, store: link.through(store), port: 0, adminToken });
    try {
      for (let round = 0; round < 5; round += 1) {
        await userinfo(direct(far), null);
        await a.requests.clear();
        expect(await a.call("expect", { endpoint: "userinfo" })).toMatchObject({ count: 0, dropped: false });
        await a.requests.clear();
        await userinfo(direct(far), null);
        expect(await a.call("expect", { endpoint: "userinfo", within: "10s" })).toMatchObject({ count: 1 });
      }
    } finally {
      await far.close();
    }
  },
);

test("what comes after a clear is counted, although an instance knows little of the time of the database", async () => {
  const slow = { back: 0 };
  const link = await openLink(Number(new URL(store).port), slow);
  const far = await createIdp({ issuer: balancer.url, store: link.through(store), port: 0, adminToken });
  try {
    slow.back = 500;
    await userinfo(direct(far), null);
    await expect.poll(async () => (await a.requests.list()).length).toBe(1);
    slow.back = 0;
    await a.requests.clear();
    await userinfo(direct(far), null);
    expect(await a.call("expect", { endpoint: "userinfo", within: "10s" })).toMatchObject({ count: 1 });
  } finally {
    await far.close();
  }
});

test("follow at one instance has the requests of all, each once", async () => {
  const stream = await fetch(`${direct(a).issuer}/_idp/api/requests/stream`, {
    headers: { authorization: `Bearer ${adminToken}` },
  });
  const ids: string[] = [];
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let count = 0; count < 3; count += 1) for (const idp of all) await userinfo(direct(idp), null);
  while (ids.length < 9) {
    const { value = "", done } = (await reader?.read()) ?? { done: true };
    if (done) break;
    ids.push(...[...value.matchAll(/^id: (.*)$/gm)].map(([, id = ""]) => id));
  }
  await reader?.cancel();
  expect(new Set(ids).size).toBe(9);
  expect(new Set(ids)).toEqual(new Set((await listed()).map(({ id }) => id)));
});

test("no secret is in the database", async () => {
  const { code } = await signIn({ issuer });
  const { json } = await exchange({ issuer }, code);
  await userinfo({ issuer }, json.access_token);
  await listed();
  const client = new Client({ connectionString: store });
  await client.connect();
  const { rows } = await client.query("select * from idp_requests");
  await client.end();
  const text = JSON.stringify(rows);
  expect(text).toContain("userinfo");
  const signatures = [json.access_token, json.id_token].map((token) => token.split(".")[2] ?? token);
  for (const secret of [code, json.refresh_token, "demo-secret", ...signatures]) expect(text).not.toContain(secret);
});

test("an instance that stops writes what it has, and one that starts has the requests of all", async () => {
  const late = await start();
  await userinfo(direct(late), null);
  await late.close();
  const next = await start();
  try {
    const ids = (await next.requests.list()).map(({ id }) => id);
    expect(ids).toHaveLength(1);
    expect((await a.requests.list()).map(({ id }) => id)).toEqual(ids);
    await userinfo(direct(next), null);
    // An id is never given twice.
    expect(new Set((await next.requests.list()).map(({ id }) => id)).size).toBe(2);
  } finally {
    await next.close();
  }
  balancer.servers = all.map(({ port }) => port);
});

test("while the database is stopped, requests are kept, and written when it is back", async () => {
  await userinfo(direct(a), null);
  await listed();
  await postgres.stop();
  // Refused, since the database is away; the ledger has them nevertheless.
  for (const idp of all) expect((await userinfo(direct(idp), null)).status).toBe(503);
  await postgres.start();
  await expect
    .poll(() =>
      Promise.all(
        all.map((idp) =>
          idp.requests.list().then(
            ({ length }) => length,
            () => 0,
          ),
        ),
      ),
    )
    .toEqual([4, 4, 4]);
  expect((await listed()).map(({ status }) => status)).toEqual([401, 503, 503, 503]);
});

test("a database that is too slow for the ledger delays no request, and nothing is lost", async () => {
  const client = new Client({ connectionString: store });
  await client.connect();
  await client.query("begin; lock table idp_requests in access exclusive mode");
  for (const idp of all) await userinfo(direct(idp), null);
  const waiting = async () => (await client.query("select from pg_locks where not granted")).rowCount;
  await expect.poll(waiting, { interval: 20 }).toBe(3);
  const began = performance.now();
  await signInTo("app-b");
  // For a busy machine. A request that waited for the ledger would wait until the commit.
  expect(performance.now() - began).toBeLessThan(10_000);
  await client.query("commit");
  await client.end();
  await expect.poll(async () => (await listed({ endpoint: "userinfo" }).catch(() => [])).length).toBe(4);
});

test("requests that could not be kept until they were written are counted, and every inspector says how many", async () => {
  const separate = await startPostgres();
  const small = await threeOn(await separate.database(), { ledger: 5 });
  const pages = () => Promise.all(small.all.map(async (idp) => (await openInspector(idp)).first.body));
  expect(await pages()).not.toContain(expect.stringContaining("inspector-lost"));
  await separate.stop();
  let count = 0;
  // Until the instance has tried to write.
  for (const began = performance.now(); performance.now() < began + 600; count += 1)
    await userinfo(direct(small.a), null);
  await separate.start();
  await expect
    .poll(() =>
      small.b.requests.list().then(
        ({ length }) => length,
        () => 0,
      ),
    )
    .toBe(5);
  for (const idp of small.all) {
    // Nobody knows whether those that are missing were more of them.
    expect(await idp.call("expect", { endpoint: "any", times: 5 })).toMatchObject({ met: false, dropped: true });
  }
  for (const page of await pages()) {
    const shown = /id="inspector-lost"[^>]*>[^<]*: <bdi>([\d,]+)</.exec(page)?.[1] ?? "";
    expect(Number(shown.replace(",", ""))).toBe(count - 5);
  }
});

test("the setting ledger holds for all of them, and expect says what was dropped", async () => {
  const small = await threeOn(await postgres.database(), { ledger: 5 });
  for (let count = 0; count < 4; count += 1) for (const idp of small.all) await userinfo(direct(idp), null);
  await small.a.call("expect", { endpoint: "any" });
  const lists = await Promise.all(small.all.map((idp) => idp.requests.list()));
  for (const list of lists) expect([list.length, list]).toEqual([5, lists[0]]);
  for (const idp of small.all) {
    const { met, dropped } = await idp.call("expect", { endpoint: "userinfo", times: 5 });
    expect([met, dropped]).toEqual([false, true]);
    expect((await idp.call("status", {})).requests).toBe(5);
  }
});

test("an instance that is killed loses at most its last second", async () => {
  const { at } = await startInstances(3, fixtures);
  for (let index = 0; index < 9; index += 1) await userinfo(at(index), null);
  const list = async (index: number) => (await call(at(index), "GET", "/requests")).json as RequestRecord[];
  await expect.poll(async () => (await list(1)).length, { interval: 50 }).toBe(9);
  at(0).child.kill("SIGKILL");
  const before = (await list(1)).map(({ id }) => id);
  expect(before).toHaveLength(9);
  expect((await list(2)).map(({ id }) => id)).toEqual(before);
  await userinfo(at(1), null);
  expect((await call(at(2), "POST", "/expect", { endpoint: "userinfo", times: 10 })).json).toMatchObject({ met: true });
});
