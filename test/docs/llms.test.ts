import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../helpers/readme.ts";

/** llms.txt lists the guides for coding agents, as docs/README.md does for people. */

const read = (path: string): string => readFileSync(join(repository, path), "utf8");

test("llms.txt has each guide, with the line of docs/README.md", () => {
  const rows = [...read("docs/README.md").matchAll(/^\| \[([\w.-]+)\]\(\1\) +\| (.*?) +\|$/gm)];
  const listed = [...read("llms.txt").matchAll(/^- \[([\w.-]+)\]\(docs\/\1\): (.*)$/gm)];
  expect(listed.map(([, name, what]) => `${name}: ${what}`)).toEqual(rows.map(([, name, what]) => `${name}: ${what}`));
  const guides = readdirSync(join(repository, "docs")).filter((name) => name.endsWith(".md") && name !== "README.md");
  expect(listed.map(([, name]) => name).toSorted()).toEqual(guides.toSorted());
});
