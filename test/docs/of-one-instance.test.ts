import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ofOneInstance } from "../helpers/of-one-instance.ts";

test("what npm run test:instances leaves out is there", () => {
  const missing = ofOneInstance.filter(({ file, name }) => !readFileSync(file, "utf8").includes(name ?? ""));
  expect(missing).toEqual([]);
});
