import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { program, startChild } from "./child.ts";
import { newFolder, openAt, scopesIn } from "./folder.ts";

test(
  "a full disk: failed writes leave nothing, reads go on, smaller changes pass, nothing confirmed is lost",
  { timeout: 30_000 },
  async () => {
    const dir = newFolder();
    const seed = await openAt(dir);
    await seed.transaction((tx) =>
      tx.insert("scopes", { name: "seed", description: { en: "x".repeat(50_000) }, claims: [] }),
    );
    await seed.close();

    const { code, lines } = await startChild(await program("limited"), [dir], 64).end();
    expect(code).toBe(0);
    const seen = JSON.parse(lines[0] ?? "") as {
      filled: number;
      failure: string;
      batch: string[];
      notes: string[];
      [name: string]: unknown;
    };
    const kept = ["seed", ...Array.from({ length: seen.filled }, (_, i) => `full-${i}`)];
    expect(seen.filled).toBeGreaterThan(10);
    expect(seen.failure).toMatch(
      /^StorageError: The change could not be written to .*data\.journal: .*ulimit -f.*\(EFBIG\)$/,
    );
    expect(seen["afterFailure"]).toEqual(kept);

    expect(seen.batch).toHaveLength(6);
    for (const answer of seen.batch) expect(answer).toMatch(/^StorageError: The change could not be written/);
    expect(seen["readMeanwhile"]).toEqual({ names: kept, codes: 0 });
    expect([seen["beside"], seen["behind"]]).toEqual([false, false]);
    expect(seen["codes"]).toBe("done");

    expect(seen["small"]).toBe("done");
    expect(seen["atEnd"]).toEqual([...kept, "small"]);

    // Closing could not fold the journal: data.json would be larger than the limit.
    expect(seen.notes).toEqual([
      expect.stringMatching(/data\.json could not be rewritten: .*\(EFBIG\)\. Nothing is lost/),
    ]);
    expect(existsSync(join(dir, "data.journal"))).toBe(true);
    expect(await scopesIn(dir)).toEqual([...kept, "small"]);
    expect(existsSync(join(dir, "data.journal"))).toBe(false);
  },
);
