import { expect, test } from "vitest";
import { refusalOf } from "../../src/core/base/errors.ts";
import type { Exchange, KeptRequest } from "../../src/core/testing/ledger/ledger.ts";
import { createLedger } from "../../src/core/testing/ledger/requests.ts";
import { heapInUse } from "../helpers/heap.ts";

/** Requests wait in memory, secrets included, until somebody reads them: they must stay few, and lose their secrets whenever that is. */

const size = 1000;
const newLedger = (): ReturnType<typeof createLedger> =>
  createLedger({ size: () => size, key: "key", isScope: () => false, real: () => 0 });

const exchange = (endpoint: string, more: Partial<Exchange>): Exchange => ({
  ...{ endpoint, method: "POST", path: `/${endpoint}`, url: `/${endpoint}`, time: 0, clock: null, ms: 1 },
  ...{ status: 200, isSent: true, body: undefined, authorization: undefined, dpop: undefined, notes: {} },
  ...more,
});

/** Adds requests to a ledger. @returns how many of them became a record before anybody read it */
function readUnasked(count: number, characters: number): number {
  let looked = 0;
  const isScope = (): boolean => {
    looked += 1;
    return false;
  };
  const ledger = createLedger({ size: () => size, key: "key", isScope, real: () => 0 });
  for (let at = 0; at < count; at += 1)
    ledger.add(exchange("token", { status: 400, body: { scope: "read", refresh_token: "r".repeat(characters) } }));
  const unasked = looked;
  ledger.list();
  return Math.round((count * unasked) / looked);
}

test("a thousand refreshes wait as they came, and what is beyond 8 million characters does not", () => {
  expect(readUnasked(size, 7_500)).toBe(0);
  expect(readUnasked(size, 16_000)).toBeGreaterThan(size * 0.45);
});

test("10,000 requests of 50 kB that nobody reads hold less than 20 MB", () => {
  const ledger = newLedger();
  const before = heapInUse();
  for (let at = 0; at < 10_000; at += 1) {
    const long = Buffer.alloc(50_000, `${at} `).toString("latin1");
    ledger.add(exchange("token", { body: { grant_type: "password", password: long } }));
  }
  expect(heapInUse() - before).toBeLessThan(20_000_000);
  expect(ledger.size()).toBe(size);
  expect(ledger.list()).toHaveLength(size);
});

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
/** 10,000 empty lists of 3 bytes, each of which takes ten times as much memory. */
const lists = Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => []));

test.each<readonly [string, (at: number) => Partial<Exchange>]>([
  [
    "tokens whose claims are thousands of empty lists",
    (at) => {
      const token = (number: number) => `${part({ alg: "none" })}.${part({ at, number, a: lists.slice(0, 38) })}.x`;
      return { body: Object.fromEntries(Array.from({ length: 6 }, (_, number) => [`t${number}`, token(number)])) };
    },
  ],
  [
    "lists of parameters",
    () => ({
      body: Object.fromEntries(Array.from({ length: 100 }, (_, number) => [`p${number}`, Array(300).fill("")])),
    }),
  ],
  [
    "thousands of codes",
    (at) => ({ body: { code: Array.from({ length: 5_000 }, (_, number) => `c-${at}-${number}`) } }),
  ],
  ["a document of thousands of empty lists", () => ({ notes: { document: { a: lists, b: lists } } })],
])("100 requests with %s leave less than 12.5 MB once they are read", (_what, more) => {
  const ledger = newLedger();
  const before = heapInUse();
  for (let at = 0; at < 100; at += 1) ledger.add(exchange("token", { status: 400, ...more(at) }));
  expect(ledger.list()).toHaveLength(100);
  expect(heapInUse() - before).toBeLessThan(12_500_000);
});

test("50 answers of apps with names of a megabyte leave less than 10 MB", () => {
  const ledger = newLedger();
  const before = heapInUse();
  for (let at = 0; at < 50; at += 1) {
    const names = Array.from({ length: 100 }, (_, number) => [`${at} ${number} ${"n".repeat(9_000)}`, number]);
    ledger.add(exchange("scim", { notes: { answer: { json: JSON.stringify(Object.fromEntries(names)) } } }));
  }
  expect(ledger.list()).toHaveLength(50);
  expect(heapInUse() - before).toBeLessThan(10_000_000);
});

test("200 refused requests of clients with thousands of parts of addresses hold less than 30 MB", () => {
  const ledger = newLedger();
  const before = heapInUse();
  for (let at = 0; at < 200; at += 1) {
    const registered = new Set(Array.from({ length: 4_000 }, (_, number) => `part-${at}-${number}`));
    ledger.add(exchange("authorize", { status: 400, notes: { registered } }));
  }
  expect(heapInUse() - before).toBeLessThan(30_000_000);
  expect(ledger.size()).toBe(200);
});

test("a secret that is the name of a member is in no record", () => {
  const ledger = newLedger();
  const secret = "Zk3vQ9xLm2Rt7YbN4cWfHs8DjPaE1uGoIiTqXlVw5M6";
  ledger.add(exchange("scim", { notes: { answer: { json: JSON.stringify({ [secret]: { [secret]: 1 } }) } } }));
  ledger.add(exchange("token", { body: { token: `${part({ alg: "none" })}.${part({ [secret]: 1 })}.x` } }));
  expect(JSON.stringify(ledger.list())).not.toContain(secret);
});

const secrets = ["the-password", "the-csrf", "the-code", "the-client-secret", "dGhlLXNlY3JldA==", "the-access-token"];
const signIn: readonly Exchange[] = [
  exchange("login", {
    ...{ url: "/interaction/abc/login", status: 303 },
    body: { username: "alice", password: "the-password", csrf: "the-csrf" },
    notes: { user: "alice", answer: { location: "https://app.test/cb?code=the-code" } },
  }),
  exchange("token", {
    authorization: "Basic dGhlLXNlY3JldA==",
    body: { grant_type: "authorization_code", code: "the-code", client_secret: "the-client-secret" },
    notes: { client: "app", answer: { json: '{"access_token":"the-access-token","token_type":"Bearer"}' } },
  }),
  exchange("token", {
    status: 400,
    body: { grant_type: "authorization_code", code: "the-code", client_secret: "the-client-secret" },
    notes: {
      refusal: refusalOf({ code: "invalid_grant", message: "code the-code was already used", rule: null, fix: null }),
    },
  }),
  exchange("userinfo", { authorization: "Bearer the-access-token" }),
];

test("a record that is made a thousand requests later is the one that is made at once, and has no secret", () => {
  const bare = (records: readonly KeptRequest[]): readonly unknown[] =>
    records.map((record) => ({ ...record, id: null, flow: record.flow === records[0]?.flow }));
  const atOnce = newLedger();
  for (const each of signIn) {
    atOnce.add(each);
    atOnce.list();
  }
  const later = newLedger();
  for (const each of signIn) later.add(each);
  for (let at = signIn.length; at < size; at += 1) later.add(exchange("discovery", {}));
  const records = later.list().slice(0, signIn.length);
  expect(bare(records)).toEqual(bare(atOnce.list()));
  expect(new Set(records.map(({ flow }) => flow)).size).toBe(1);
  const text = JSON.stringify([atOnce.list(), records]);
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
});

test("a request that gives up its place unread is counted as dropped", () => {
  const ledger = createLedger({ size: () => 2, key: "key", isScope: () => false, real: () => 0 });
  for (const each of signIn) ledger.add(each);
  expect(ledger.hasDropped("login", 0)).toBe(true);
  expect(ledger.hasDropped("userinfo", 0)).toBe(false);
  expect(ledger.list().map(({ endpoint, status }) => [endpoint, status])).toEqual([
    ["token", 400],
    ["userinfo", 200],
  ]);
});

test("who is told of a request can have its record, and it has the flow of those before it", async () => {
  const ledger = newLedger();
  for (const each of signIn.slice(0, 2)) ledger.add(each);
  const read: (KeptRequest | null)[] = [];
  for (const each of signIn.slice(2, 3)) ledger.add(each, (_event, record) => read.push(record()));
  expect(read.map((record) => record?.flow)).toEqual([ledger.list()[0]?.flow]);
  await ledger.clear();
  for (const each of signIn.slice(3)) ledger.add(each);
  expect(ledger.list().map(({ flow }) => flow)).toEqual(read.map((record) => record?.flow));
});
