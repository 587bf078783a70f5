import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../helpers/readme.ts";

/** SECURITY.md and the list of attacks name tests that exist, and all of them. */

const security = readFileSync(join(repository, "SECURITY.md"), "utf8");
const attacks = readFileSync(join(repository, "test/attacks/README.md"), "utf8");

/** What stands between backquotes in the last column of a table: a test, of the folder of attacks where none is named. */
const testsIn = (text: string): string[] =>
  [...text.matchAll(/^\|.*\|([^|]*)\|$/gm)].flatMap(([, last = ""]) =>
    [...last.matchAll(/`([\w/-]+)`/g)].map(([, name = ""]) => name),
  );
const isThere = (name: string): boolean =>
  [name, `attacks/${name}`].some((path) =>
    [`test/${path}.test.ts`, `test/${path}`].some((file) => existsSync(join(repository, file))),
  );

test.each([
  ["SECURITY.md", security, 20],
  ["test/attacks/README.md", attacks, 40],
])("every test that %s names is there", (_name, text, least) => {
  const named = testsIn(text);
  expect(named.length).toBeGreaterThan(least);
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});

test.each([
  ["SECURITY.md", security],
  ["test/attacks/README.md", attacks],
])("every file of attacks is in the list of %s", (_name, text) => {
  const files = readdirSync(join(repository, "test/attacks")).filter((name) => name.endsWith(".test.ts"));
  const named = new Set(testsIn(text).map((name) => name.replace("attacks/", "")));
  expect(files.map((name) => name.replace(".test.ts", "")).filter((name) => !named.has(name))).toEqual([]);
});
