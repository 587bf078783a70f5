import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../helpers/readme.ts";

/** E-mail addresses that idp makes up, or that its documents name, pass the validators that refuse reserved names (RFC 6761 6.2). */

const textsOf = (folder: string): readonly string[] =>
  readdirSync(join(repository, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|js|mjs|py|go|java|md|json|ya?ml|eta|svg)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes("node_modules"));

test.each(["src", "fixtures", "templates", "docs", "examples", "action", "integrations"])(
  "no address in %s ends in .test",
  (folder) => {
    const paths = textsOf(folder);
    const found = paths.flatMap((path) =>
      [...readFileSync(path, "utf8").matchAll(/(?<![/\w])[\w.}-]+@[\w.-]+\.test\b/g)].map(
        ([address]) => `${path}: ${address}`,
      ),
    );
    expect(paths).not.toEqual([]);
    expect(found).toEqual([]);
  },
);
