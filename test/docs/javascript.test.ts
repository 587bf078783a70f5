import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createIdp, OperationError } from "../../src/index.ts";

/** docs/javascript.md lists every option and every member of the library. */

const page = readFileSync(new URL("../../docs/javascript.md", import.meta.url), "utf8");

/** The names in the first column of the table below a heading. */
function namesBelow(heading: string): readonly string[] {
  const [, section = ""] = page.split(`## ${heading}\n`);
  const cells = section.split("\n## ")[0]?.match(/^\| `.*?` +\|/gm) ?? [];
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)/g)].map(([, name = ""]) => name)).sort();
}

test("every option of createIdp", async () => {
  const refusal = await createIdp({ nonsense: true } as never).catch((error: unknown) => error);
  const hint = refusal instanceof OperationError ? (refusal.hint?.text ?? "") : "";
  expect(namesBelow("Options of createIdp")).toEqual(hint.replace("It has: ", "").split(", ").sort());
});

test("every member of what it returns", async ({ onTestFinished }) => {
  const idp = await createIdp();
  onTestFinished(() => idp.close());
  expect(namesBelow("What createIdp returns")).toEqual(Object.keys(idp).sort());
});
