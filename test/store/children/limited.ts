/**
 * Works on a store in a process that may write files of 64 kB only: the journal cannot grow beyond it, as on a full disk.
 * Prints what it saw, as one JSON document.
 */
import { openFolderStore } from "../open.ts";
import type { ReadTx } from "../../../src/store/store.ts";

const [dir = ""] = process.argv.slice(2);
const notes: string[] = [];
const store = await openFolderStore({
  dir,
  now: Date.now,
  kind: "server",
  version: "0.0.0",
  log: (note) => notes.push(note),
});
const outcome = (promise: Promise<unknown>) =>
  promise.then(
    () => "done",
    (error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : "?"),
  );
const add = (name: string, size: number) =>
  store.transaction((tx) => tx.insert("scopes", { name, description: { en: "x".repeat(size) }, claims: [] }));
const names = (tx: ReadTx) => [...tx.all("scopes")].map(({ name }) => name);

const before = await store.read(names);
let filled = 0;
let failure = await outcome(add("full-0", 4000));
while (failure === "done") failure = await outcome(add(`full-${++filled}`, 4000));
const afterFailure = await store.read(names);

// The first is being written while the others end; all of them fall with it, also one that was refused because of it, and one that is not
// to be written itself and looked at what is.
const answers = [
  outcome(
    store.transaction((tx) => {
      tx.insert("scopes", { name: "batch-1", description: { en: "x".repeat(40_000) }, claims: [] });
      tx.insert("codes", { id: "beside", expiresAt: Infinity } as never);
    }),
  ),
];
const beside = store.read((tx) => tx.get("codes", "beside") !== undefined);
answers.push(
  outcome(store.transaction((tx) => tx.remove("scopes", "full-0"))),
  outcome(
    store.transaction((tx) => {
      tx.get("scopes", "batch-1");
      tx.insert("codes", { id: "c", expiresAt: Infinity } as never);
    }),
  ),
  outcome(store.transaction((tx) => tx.put("scopes", { name: "batch-1", description: {}, claims: [] }))),
  outcome(add("batch-1", 10)),
  outcome(
    store.transaction((tx) => {
      tx.get("scopes", "batch-1");
      tx.insert("pushedRequests", { id: "behind", expiresAt: Infinity } as never);
    }),
  ),
);
const behind = store.read((tx) => tx.get("pushedRequests", "behind") !== undefined);
const readMeanwhile = await store.read((tx) => ({ names: names(tx), codes: tx.count("codes") }));
const batch = await Promise.all(answers);
const codes = await outcome(store.transaction((tx) => tx.insert("codes", { id: "c", expiresAt: Infinity } as never)));

const small = await outcome(add("small", 10));
const atEnd = await store.read(names);
await store.close();
console.log(
  JSON.stringify({
    before,
    filled,
    failure,
    afterFailure,
    batch,
    beside: await beside,
    behind: await behind,
    readMeanwhile,
    codes,
    small,
    atEnd,
    notes,
  }),
);
