import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { repository } from "../helpers/readme.ts";

/** `docs/reliability.md` names files and commands that exist. */

const text = readFileSync(`${repository}/docs/reliability.md`, "utf8");
const { scripts } = JSON.parse(readFileSync(`${repository}/package.json`, "utf8")) as { scripts: object };

test("every file that docs/reliability.md names is there, and every script", () => {
  const files = [...new Set([...text.matchAll(/\btest\/[\w./-]+\.ts\b/g)].map(([file]) => file))];
  expect(files.length).toBeGreaterThan(15);
  expect(files.filter((file) => !existsSync(`${repository}/${file}`))).toEqual([]);
  const named = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name = ""]) => name);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  expect(named).toContain("soak");
});
