/** What every journal guarantees, in the order of `src/store/journal.ts`. */
import { beforeEach, describe, expect, test } from "vitest";
import { OvertakenError, type Journal, type JournalEntry } from "../../src/store/journal.ts";

const entry = (name: string): JournalEntry => [{ put: "scopes", record: { name, description: {}, claims: [] } }];

/** @param open an empty journal; `again` opens the same one as the next process does */
export function journalContract(
  name: string,
  open: () => Promise<{ readonly journal: Journal; readonly again: () => Promise<Journal> }>,
): void {
  describe(`${name}: the journal's guarantees`, () => {
    let journal: Journal;
    let again: () => Promise<Journal>;
    beforeEach(async () => {
      ({ journal, again } = await open());
    });

    test("1. what was appended is there for the next process", async () => {
      await journal.append(0, entry("a"));
      await journal.append(1, [...entry("b"), { remove: "scopes", key: "a" }]);
      const next = await again();
      expect(await next.head()).toBe(2);
      expect(await next.since(0)).toEqual([entry("a"), [...entry("b"), { remove: "scopes", key: "a" }]]);
    });

    test("2. of many that append after the same entry one wins, and nothing of the others is there", async () => {
      await journal.append(0, entry("first"));
      const names = Array.from({ length: 20 }, (_, i) => `${i}`);
      const results = await Promise.allSettled(names.map((name) => journal.append(1, entry(name))));
      const won = names.filter((_, i) => results[i]?.status === "fulfilled");
      expect(won).toHaveLength(1);
      for (const result of results) {
        if (result.status === "rejected") expect(result.reason).toBeInstanceOf(OvertakenError);
      }
      expect(await journal.head()).toBe(2);
      expect(await journal.since(1)).toEqual(won.map(entry));
    });

    test("3. entries come in order, without a gap", async () => {
      expect([await journal.head(), await journal.since(0)]).toEqual([0, []]);
      for (const [seq, name] of ["a", "b", "c"].entries()) await journal.append(seq, entry(name));
      expect(await journal.head()).toBe(3);
      expect(await journal.since(1)).toEqual([entry("b"), entry("c")]);
      expect(await journal.since(3)).toEqual([]);
    });
  });
}
