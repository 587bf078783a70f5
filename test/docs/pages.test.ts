import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../helpers/readme.ts";

/** docs/pages.md lists the hooks of the pages. */

const guide = readFileSync(join(repository, "docs", "pages.md"), "utf8");
const hooks = [...guide.matchAll(/^\| `\w+`.*$/gm)].join("\n");
const templates = readdirSync(join(repository, "templates"), { recursive: true })
  .map(String)
  .filter((name) => name.endsWith(".eta"))
  .map((name) => readFileSync(join(repository, "templates", name), "utf8"))
  .join("\n");

test.each(
  [...hooks.matchAll(/`((?:login|consent|account|error|logout|signedout|device|factor)-[\w<>-]+)`/g)].map(
    ([, name = ""]) => name,
  ),
)("%s is in a template", (hook) => {
  // What follows is filled in.
  expect(templates).toContain(hook.replace(/<.*$/, ""));
});
