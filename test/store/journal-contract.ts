/** What every journal guarantees, in the order of `src/store/journal.ts`. */
import { beforeEach, describe, expect, test } from "vitest";
import { OvertakenError, type Journal, type JournalEntry, type JournalPlace } from "../../src/store/journal.ts";

const entry = (name: string): JournalEntry => [{ put: "scopes", record: { name, description: {}, claims: [] } }];

/** An empty journal. */
export interface OpenJournal {
  readonly journal: Journal;
  /** The place before its first entry. */
  readonly start: JournalPlace;
  /** Opens the same one as the next process does. */
  readonly again: () => Promise<Journal>;
}

export function journalContract(name: string, open: () => Promise<OpenJournal>): void {
  describe(`${name}: the journal's guarantees`, () => {
    let journal: Journal;
    let start: JournalPlace;
    let again: () => Promise<Journal>;
    beforeEach(async () => {
      ({ journal, start, again } = await open());
    });
    const entriesSince = async (place: JournalPlace): Promise<readonly JournalEntry[]> => {
      const { records, entries } = await journal.since(place);
      expect(records).toBeUndefined();
      return entries;
    };

    test("1. what was appended is there for the next process", async () => {
      const a = await journal.append(start, entry("a"));
      const b = await journal.append(a, [...entry("b"), { remove: "scopes", key: "a" }]);
      const next = await again();
      expect(await next.since(start)).toEqual({
        entries: [entry("a"), [...entry("b"), { remove: "scopes", key: "a" }]],
        place: b,
      });
    });

    test("2. of many that append after the same entry one wins, and nothing of the others is there", async () => {
      const first = await journal.append(start, entry("first"));
      const names = Array.from({ length: 20 }, (_, i) => `${i}`);
      const results = await Promise.allSettled(names.map((name) => journal.append(first, entry(name))));
      const won = names.filter((_, i) => results[i]?.status === "fulfilled");
      expect(won).toHaveLength(1);
      for (const result of results) {
        if (result.status === "rejected") expect(result.reason).toBeInstanceOf(OvertakenError);
      }
      expect(await entriesSince(first)).toEqual(won.map(entry));
    });

    test("3. entries come in order, without a gap", async () => {
      expect(await journal.since(start)).toEqual({ entries: [], place: start });
      const places = [start];
      for (const name of ["a", "b", "c"]) places.push(await journal.append(places.at(-1) ?? start, entry(name)));
      expect(places.map(({ seq }) => seq - start.seq)).toEqual([0, 1, 2, 3]);
      expect(await entriesSince(places[1] ?? start)).toEqual([entry("b"), entry("c")]);
      expect(await journal.since(places[3] ?? start)).toEqual({ entries: [], place: places[3] });
    });
  });
}
