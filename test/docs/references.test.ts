import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../helpers/readme.ts";

/** Documents point only to files and scripts that exist. */

const below = (folder: string): string[] =>
  readdirSync(join(repository, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));
// The README shows files of apps too.
const documents = [...below("."), ...below("docs"), ...below("docs/decisions"), "bench/README.md", "test/README.md"];
const { scripts } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as { scripts: object };
/** Without blocks of code: nothing in them is a link. */
const textOf = (document: string): string =>
  readFileSync(join(repository, document), "utf8").replaceAll(/^```.*?^```/gms, "");

test.each(documents)("every link and every test file in %s exists", (document) => {
  const links = [...textOf(document).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, path = ""]) =>
    join(dirname(document), path),
  );
  const tests =
    document === "README.md"
      ? []
      : [...textOf(document).matchAll(/\b(?:src|test|scripts)\/[\w./-]+\.[jt]s\b/g)].map(([path]) => path);
  expect([...links, ...tests].filter((path) => !existsSync(join(repository, path)))).toEqual([]);
});

/** Tables of a reference are wider: a row is one entry. */
const references = ["docs/check-sp.md", "docs/fields.md", "docs/standards.md"];

test.each(below("docs").filter((name) => !references.includes(name)))(
  "no line of %s is over 200 characters",
  (guide) => {
    const lines = readFileSync(join(repository, guide), "utf8").split("\n");
    expect(lines.filter((line) => line.length > 200)).toEqual([]);
  },
);

test.each(documents)("every table in %s has a line below its head, without which it is no table", (document) => {
  const tables = textOf(document).match(/(?:^[ ]*\|.*\n)+/gm) ?? [];
  expect(tables.filter((table) => !/^.*\n[ ]*\|(?: ?:?-+:? ?\|)+\n/.test(table))).toEqual([]);
});

test.each(documents)("every npm script in %s exists", (document) => {
  const named = [...textOf(document).matchAll(/npm run (?!-)([\w:]+)/g)].map(([, name = ""]) => name);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

/** "`core/protocol/tokens/sign.ts` `idToken`, `refreshToken`": a file below `src`, and what it declares. */
const steps = /`([a-z][\w-]*\/[\w./-]+\.ts)`((?:,?\s`\w+`)*)/g;

test("each file in CONTRIBUTING.md exists, and declares the functions that stand behind it", () => {
  const named = [...textOf("CONTRIBUTING.md").matchAll(steps)].filter(
    ([, file = ""]) => !/^(?:test|scripts)\//.test(file),
  );
  const missing = named.flatMap(([, file = "", names = ""]) => {
    const path = join(repository, file.startsWith("src/") ? "" : "src", file);
    if (!existsSync(path)) return [file];
    const text = readFileSync(path, "utf8");
    const functions = [...names.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);
    return functions.flatMap((name) =>
      new RegExp(`^(?:export )?(?:async )?(?:function|const|class) ${name}\\b`, "m").test(text)
        ? []
        : [`${file} ${name}`],
    );
  });
  expect(missing).toEqual([]);
  expect(named.length).toBeGreaterThan(40);
});
