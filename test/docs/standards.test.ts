import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

/** `docs/standards.md` names a test in each row, and each of these tests exists. */

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

  test("it says why the logo of a client is not shown", () => {
    expect(read("../../docs/standards.md")).toMatch(/^- `logo_uri` .*not shown/m);
  });

  test("every test that it names is in the file that it names", () => {
    const missing = rows.filter(([, , , , file = "", title = ""]) => {
      const path = new URL(`../${file}`, import.meta.url);
      return !existsSync(path) || !readFileSync(path, "utf8").includes(title);
    });
    expect(missing.map(([row]) => row)).toEqual([]);
  });
});
