import { existsSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { longRuns, timeLimit } from "../helpers/runs.ts";
import { program, startChild } from "./child.ts";
import { newFolder, openAt } from "./folder.ts";

const writer = await program("writer");
const rounds = longRuns(5, 100);

// At a random moment, early in the first rounds and late in the last ones: over the rounds most steps of committing and folding are hit.
test(
  `${rounds} times kill -9 of a process that writes: all that it answered is there, and the next one goes on`,
  { timeout: timeLimit },
  async () => {
    const dir = newFolder();
    const counts = new Map<string, number>();
    const notes: string[] = [];
    let answered = 0;
    for (let round = 0; round < rounds; round++) {
      const child = startChild(writer, [dir]);
      for (let seen = Math.floor(((round + Math.random()) / rounds) * 600); seen >= 0; seen--) await child.line();
      child.process.kill("SIGKILL");
      const { lines } = await child.end();
      answered += lines.length;
      for (const line of lines) {
        const [counter = "", value] = line.split(" ");
        counts.set(counter, Math.max(counts.get(counter) ?? 0, Number(value)));
      }

      const store = await openAt(dir, { kind: "command", log: (note) => notes.push(note) });
      await store.read((tx) => {
        for (const [counter, value] of counts) {
          const stored = Number(tx.get("scopes", `counter-${counter}`)?.claims[0]);
          // What was written and not yet answered may be there, all of it or nothing.
          expect(stored).toBeGreaterThanOrEqual(value);
          expect(tx.get("appliedFixtures", `${counter}/${stored}`)).toBeDefined();
        }
        expect(tx.count("appliedFixtures")).toBe(tx.count("scopes"));
      });
      await store.close();
      expect(readdirSync(dir).sort()).toEqual([".gitignore", "data.json"]);
      expect(notes.filter((note) => note.startsWith("took over the lock"))).toHaveLength(round + 1);
    }
    expect(answered).toBeGreaterThan(50 * rounds);
    expect(existsSync(`${dir}/data.journal`)).toBe(false);
  },
);
