import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { idp, newFolder } from "../helpers/cli.ts";
import { commandTree, idpHere, leaves } from "../helpers/command.ts";

/** The help of every command, each in a file of its own. A new command makes the file of its own with `npx vitest run test/cli/help.test.ts`. */

const fileOf = (path: string): string => `${path === "" ? "idp" : path.replaceAll(" ", "-")}.txt`;
const helpOf = (path: string) => idpHere([...path.split(" ").filter(Boolean), "--help"]);

test.each([...commandTree().keys()])("idp %s --help", async (path) => {
  const { code, stdout, stderr } = await helpOf(path);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  await expect(stdout).toMatchFileSnapshot(`help/${fileOf(path)}`);
});

test("no help is kept of a command that is gone", () => {
  const kept = readdirSync(fileURLToPath(new URL("help", import.meta.url)));
  expect(kept.sort()).toEqual([...commandTree().keys()].map(fileOf).sort());
});

test.each(leaves())(
  "the help of idp %s shows two examples or more, that begin with what they are about",
  async (path) => {
    const { stdout } = await helpOf(path);
    const examples = stdout.slice(stdout.indexOf("\nExamples:\n")).match(/^ {2}\$ .+$/gm) ?? [];
    expect(examples.length).toBeGreaterThanOrEqual(2);
    expect(examples.filter((line) => line.includes(`idp ${path}`)).length).toBeGreaterThanOrEqual(1);
  },
);

test.each([...commandTree().keys()])(
  "the help of idp %s fits 80 columns; only examples may be longer",
  async (path) => {
    const { stdout } = await helpOf(path);
    expect(stdout.split("\n").filter((line) => line.length > 80 && !line.startsWith("  $ "))).toEqual([]);
  },
);

test("idp alone prints the help, and as a process too", async () => {
  const alone = await idpHere([]);
  expect(alone).toEqual(await idpHere(["--help"]));
  expect(await idp([], { cwd: newFolder() })).toEqual(alone);
});
