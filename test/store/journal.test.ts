/** What a start finds after a crash, at every point where one can happen; and journals that are not to be replayed. */
import { appendFileSync, copyFileSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Store } from "../../src/store/store.ts";
import { openJournalFile, placeAt, readJournal } from "../../src/store/json/journal-file.ts";
import { longRuns } from "../helpers/runs.ts";
import { journalContract } from "./journal-contract.ts";
import { copyData, dataOf, journalOf, newFolder, openAt, scopesIn } from "./folder.ts";

journalContract("file", async () => {
  const path = join(newFolder(), "..", "data.journal");
  const open = async () => {
    const content = await readJournal(path);
    const journal = openJournalFile(path, { content, held: 0, generation: "g" }, () => true);
    onTestFinished(() => journal.close());
    return journal;
  };
  return { journal: await open(), start: placeAt(0), again: open };
});

const add = (store: Store, ...names: string[]) =>
  store.transaction((tx) => names.forEach((name) => tx.insert("scopes", { name, description: {}, claims: [] })));

/** A folder as a crash leaves it: data.json without any scope, and a journal with a line for each of `lines`. */
async function crashed(lines: readonly string[][]): Promise<string> {
  const store = await openAt(newFolder());
  for (const names of lines) await add(store, ...names);
  const dir = copyData(join(store.location, ".."));
  await store.close();
  return dir;
}

const writeJournal = (dir: string, content: string | Uint8Array) => writeFileSync(join(dir, "data.journal"), content);

async function refused(dir: string): Promise<{ message: string; file: string; hint: string }> {
  const before = readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), "utf8")]);
  const error = await openAt(dir).catch((error: unknown) => error as Error);
  expect(error).toMatchObject({ name: "DataFileError" });
  const after = readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), "utf8")]);
  expect(after, "files untouched, lock gone").toEqual(before);
  return error as never;
}

/** Of the bytes within a line every so many is tried, and each with `npm run test:long`; those around its ends always are. */
const step = longRuns(1) > 1 ? 1 : 5;

describe("a write that was cut off", () => {
  test("wherever it was: what was answered before is there, what was torn is not, and the next write is whole", async () => {
    const dir = await crashed([["a"], ["b", "c"]]);
    const journal = readFileSync(join(dir, "data.journal"));
    const [header = "", first = ""] = journal.toString().split("\n");
    const endOfFirst = header.length + first.length + 2;
    const ends = [0, header.length + 1, endOfFirst, journal.length];
    const isTried = (length: number): boolean => length % step === 0 || ends.some((end) => Math.abs(length - end) <= 2);
    for (const length of Array.from(journal.keys()).filter(isTried)) {
      const copy = copyData(dir);
      writeJournal(copy, journal.subarray(0, length));
      const notes: string[] = [];
      const store = await openAt(copy, { log: (note) => notes.push(note) });
      await add(store, "next");
      const expected = length < endOfFirst ? ["next"] : ["a", "next"];
      const again = copyData(copy);
      await store.close();
      const clean = await openAt(again, { log: (note) => notes.push(note) });
      await clean.close();
      expect(await scopesIn(again), `journal cut at ${length}`).toEqual(expected);
      expect(await scopesIn(copy), `journal cut at ${length}`).toEqual(expected);
      const whole = length === 0 || length === endOfFirst;
      expect(
        notes.filter((note) => note.includes("cut off by a crash")),
        `journal cut at ${length}`,
      ).toHaveLength(whole ? 0 : 1);
    }
    expect(await scopesIn(dir)).toEqual(["a", "b", "c"]);
  });

  test("with a hole in its last line, as a loss of power leaves it", async () => {
    const dir = await crashed([["a"], ["b"]]);
    const journal = readFileSync(join(dir, "data.journal"));
    journal.fill(0, journal.length - 20, journal.length - 10);
    writeJournal(dir, journal);
    expect(await scopesIn(dir)).toEqual(["a"]);
  });
});

describe("a crash while the journal is folded", () => {
  let dir: string;
  let store: Store;
  /** data.json as folding writes it (generation B), made on a copy; the journal beside it is still of generation A. */
  let folded: string;

  beforeEach(async () => {
    dir = newFolder();
    store = await openAt(dir);
    await add(store, "a");
    await add(store, "b");
    const copy = copyData(dir);
    await (await openAt(copy)).close();
    folded = dataOf(copy);
    return () => store.close();
  });

  test("while data.json.….tmp is written: it is removed and the journal replayed", async () => {
    const copy = copyData(dir);
    writeFileSync(join(copy, "data.json.0123456789ab.tmp"), folded.slice(0, 100));
    writeFileSync(join(copy, "data.journal.0123456789ab.tmp"), "{");
    expect(await scopesIn(copy)).toEqual(["a", "b"]);
    expect(readdirSync(copy)).toEqual(["data.json"]);
  });

  test("between the rename of data.json and the new journal: what it holds is not replayed again", async () => {
    const copy = copyData(dir);
    // Replayed again, it would bring "a" back.
    writeFileSync(join(copy, "data.json"), folded.replace(/.*"name":"a".*\n/, ""));
    expect(await scopesIn(copy)).toEqual(["b"]);
    expect(readdirSync(copy)).toEqual(["data.json"]);
  });

  test("the same, with changes that were committed meanwhile: they are replayed", async () => {
    await add(store, "c");
    await store.transaction((tx) => tx.remove("scopes", "a"));
    const copy = copyData(dir);
    writeFileSync(join(copy, "data.json"), folded);
    const again = copyData(copy);
    expect(await scopesIn(copy)).toEqual(["b", "c"]);

    // And if this start, too, is killed after some changes.
    const next = await openAt(again);
    await add(next, "d");
    const third = copyData(again);
    await next.close();
    expect(await scopesIn(third)).toEqual(["b", "c", "d"]);
  });

  test("after the old journal is gone", async () => {
    const copy = copyData(dir);
    writeFileSync(join(copy, "data.json"), folded);
    unlinkSync(join(copy, "data.journal"));
    expect(await scopesIn(copy)).toEqual(["a", "b"]);
  });

  test("a journal cut before the place up to which data.json holds it is refused: what came after is missing", async () => {
    const copy = copyData(dir);
    writeFileSync(join(copy, "data.json"), folded);
    writeJournal(copy, `${journalOf(copy).split("\n").slice(0, 2).join("\n")}\n`);
    expect((await refused(copy)).message).toContain("does not belong to the data.json beside it");
  });
});

describe("a journal that is not replayed", () => {
  test("one of another data.json is refused", async () => {
    const [one, two] = [await crashed([["a"]]), await crashed([["b"]])];
    copyFileSync(join(two, "data.journal"), join(one, "data.journal"));
    const { message, hint, file } = await refused(one);
    expect(message).toContain("does not belong to the data.json");
    expect(hint).toContain("move");
    expect(file).toBe(join(one, "data.journal"));
  });

  test("one without its data.json is refused, one to which nothing was committed is not", async () => {
    const dir = await crashed([["a"]]);
    unlinkSync(join(dir, "data.json"));
    expect((await refused(dir)).message).toContain("data.json is missing");
    writeJournal(dir, `${journalOf(dir).split("\n")[0]}\n`);
    expect(await scopesIn(dir)).toEqual([]);
    expect(readdirSync(dir)).toEqual([]);
  });

  const damages: Record<string, [(lines: readonly string[]) => string[], RegExp]> = {
    "a damaged line that is not the last": [(lines) => lines.with(1, "[{"), /data\.journal:2 is damaged/],
    "a last line that is damaged, and has its end": [(lines) => lines.with(2, "[{"), /data\.journal:3 is damaged.*end/],
    "two last lines that have become one": [
      ([head = "", first = "", last = ""]) => [head, first + last],
      /data\.journal:2 is damaged.*end/,
    ],
    "a damaged head": [(lines) => lines.with(0, "journal"), /data\.journal:1 is damaged/],
    "an invalid head": [(lines) => lines.with(0, "[]"), /data\.journal:1 is not the head/],
    "a later format": [(lines) => lines.with(0, '{"journal":2,"generation":""}'), /format 2; this idp reads format 1/],
    "a line that is no change": [(lines) => lines.with(1, "5"), /data\.journal:2 holds something that is not a change/],
    "an unknown collection": [
      (lines) => lines.with(2, '[{"put":"toString","record":{}}]'),
      /data\.journal:3 holds something/,
    ],
    "a record without its key": [
      (lines) => lines.with(2, '[{"put":"scopes","record":{}}]'),
      /data\.journal:3 is invalid.* no name/,
    ],
  };
  test.each(Object.entries(damages))("%s is refused, with the line", async (_, [damage, expected]) => {
    const dir = await crashed([["a"], ["b"]]);
    writeJournal(dir, `${damage(journalOf(dir).trimEnd().split("\n")).join("\n")}\n`);
    const { message, hint } = await refused(dir);
    expect(message).toMatch(expected);
    expect(hint).not.toBe("");
  });

  test("a whole line that was not answered for, because the newline is missing, is dropped", async () => {
    const dir = await crashed([["a"], ["b"]]);
    writeJournal(dir, journalOf(dir).trimEnd());
    expect(await scopesIn(dir)).toEqual(["a"]);
    const other = await crashed([["a"]]);
    appendFileSync(join(other, "data.journal"), '[{"remove":"scopes","key":"a"}]');
    expect(await scopesIn(other)).toEqual(["a"]);
  });
});
