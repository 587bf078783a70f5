import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openStores } from "../../src/store/open.ts";
import type { IssuerStores } from "../../src/store/issuer-stores.ts";
import type { Store } from "../../src/store/store.ts";
import { createIdp } from "../../src/index.ts";
import { newDatabase } from "../helpers/postgres.ts";
import { newFolder } from "./folder.ts";

/** The port of the stores of a process (src/store/issuer-stores.ts), guarantee by guarantee, for each adapter that keeps data. */

const shared = { kind: "server", version: "0.0.0", log: () => undefined } as const;
const clock = { now: Date.now };

const adapters: readonly (readonly [string, () => Promise<() => Promise<IssuerStores>>])[] = [
  [
    "folder",
    async () => {
      const data = newFolder();
      return () => openStores({ data, ...shared });
    },
  ],
  [
    "postgres",
    async () => {
      const postgres = await newDatabase();
      return () => openStores({ data: null, postgres, ...shared });
    },
  ],
];

const write = (store: Store, value: string): Promise<void> =>
  store.transaction((tx) => tx.put("meta", { id: "issuer", value }));

const read = (store: Store): Promise<unknown> => store.read((tx) => tx.get("meta", "issuer")?.value);

test.each(adapters)(
  "%s: a record of one store is in no other, and the first issuer has no name",
  async (_, prepare) => {
    const stores = await (await prepare())();
    const [first, a, b] = [
      await stores.open(null, clock),
      await stores.open("a", clock),
      await stores.open("b", clock),
    ];
    await write(a, "of a");
    expect([await read(first), await read(a), await read(b)]).toEqual([undefined, "of a", undefined]);
    expect([...(await stores.names())].sort()).toEqual(["a", "b"]);
    for (const store of [first, a, b]) await store.close();
    await stores.close();
  },
);

test.each(adapters)("%s: an opened issuer is there the next time; a removed one is gone", async (_, prepare) => {
  const open = await prepare();
  const before = await open();
  const [a, b] = [await before.open("a", clock), await before.open("b", clock)];
  await write(a, "of a");
  await write(b, "of b");
  await a.close();
  await b.close();
  await before.remove("b");
  await before.close();

  const after = await open();
  expect(await after.names()).toEqual(["a"]);
  const [again, anew] = [await after.open("a", clock), await after.open("b", clock)];
  expect([await read(again), await read(anew)]).toEqual(["of a", undefined]);
  await again.close();
  await anew.close();
  await after.close();
});

test.each(adapters)("%s: a name is claimed once", async (_, prepare) => {
  const open = await prepare();
  const stores = await open();
  expect(await stores.claim("a")).toBe(true);
  const store = await stores.open("a", clock);
  await write(store, "of a");
  await store.close();
  await stores.confirm("a");
  expect(await stores.claim("a")).toBe(false);
  await stores.close();
});

test("folder: nothing is left of an issuer that was not complete when its process ended", async () => {
  const data = newFolder();
  const before = await openStores({ data, ...shared });
  for (const name of ["half", "whole"]) {
    expect(await before.claim(name)).toBe(true);
    const store = await before.open(name, clock);
    await write(store, `of ${name}`);
    await store.close();
  }
  await before.confirm("whole");
  await before.close();
  const after = await openStores({ data, ...shared });
  expect(await after.names()).toEqual(["whole"]);
  expect(readdirSync(join(data, "issuers")).sort()).toEqual([".gitignore", "whole"]);
  expect(await after.claim("half")).toBe(true);
  await after.remove("half");
  expect(readdirSync(join(data, "issuers")).sort()).toEqual([".gitignore", "whole"]);
  await after.close();
});

test("postgres: an issuer that is not complete is in no list, and its name is free once its maker has gone", async () => {
  const postgres = await newDatabase();
  const open = () => openStores({ data: null, postgres, ...shared });
  const [before, other] = [await open(), await open()];
  expect(await before.claim("half")).toBe(true);
  const store = await before.open("half", clock);
  await write(store, "of the first");
  await store.close();
  expect([await other.names(), await other.claim("half")]).toEqual([[], false]);
  // The maker itself, which was interrupted, begins again.
  expect(await before.claim("half")).toBe(true);
  await before.close();
  await expect.poll(() => other.claim("half")).toBe(true);
  const again = await other.open("half", clock);
  expect(await read(again)).toBeUndefined();
  await other.confirm("half");
  expect([await other.names(), await other.claim("half")]).toEqual([["half"], false]);
  await again.close();
  await other.close();
});

test("postgres: two processes claim a name at once: one gets it", async () => {
  const postgres = await newDatabase();
  const both = [
    await openStores({ data: null, postgres, ...shared }),
    await openStores({ data: null, postgres, ...shared }),
  ];
  expect((await Promise.all(both.map((stores) => stores.claim("a")))).sort()).toEqual([false, true]);
  for (const stores of both) await stores.close();
});

test("a folder whose data cannot be read is reported, and the other issuers start", async () => {
  const data = newFolder();
  const before = await createIdp({ data });
  await before.issuers.add("good");
  await before.close();
  mkdirSync(join(data, "issuers", "bad"));
  writeFileSync(join(data, "issuers", "bad", "data.json"), "{");
  const notes: string[] = [];
  const idp = await createIdp({ data, log: (note) => notes.push(note) });
  onTestFinished(() => idp.close());
  expect(notes.join("\n")).toContain("issuer bad is not available");
  expect((await idp.issuers.list()).map(({ name, problem }) => [name, problem === null])).toEqual([
    ["bad", false],
    ["good", true],
  ]);
  expect((await fetch(`${idp.issuer}/i/good/.well-known/openid-configuration`)).status).toBe(200);
  expect((await fetch(`${idp.issuer}/i/bad/.well-known/openid-configuration`)).status).toBe(404);
  await idp.issuers.remove("bad");
  expect(existsSync(join(data, "issuers", "bad"))).toBe(false);
});
