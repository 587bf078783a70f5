import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

/** `docs/standards.md` names a test for each row: here it is held to that. */

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");
const rows = [
  ...read("../../docs/standards.md").matchAll(/^\| +(.+?) +\| +(.+?) +\| +(.+?) +\| +`([^`]+)` "([^"]+)" +\|$/gm),
];

describe("docs/standards.md", () => {
  test("every row of its tables names a test", () => {
    const all = read("../../docs/standards.md").match(/^\| +(?!Standard|-)/gm) ?? [];
    expect(rows.length).toBe(all.length);
    expect(rows.length).toBeGreaterThan(30);
  });

  test.each(rows.map(([, standard, section, , file = "", title = ""]) => [standard, section, file, title] as const))(
    "%s %s is proven by %s: %s",
    (_standard, _section, file, title) => {
      const path = new URL(`../${file}`, import.meta.url);
      expect(existsSync(path)).toBe(true);
      expect(readFileSync(path, "utf8")).toContain(title);
    },
  );
});
