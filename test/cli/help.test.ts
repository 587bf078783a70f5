import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { idp, newFolder } from "../helpers/cli.ts";
import { commandTree, idpHere } from "../helpers/command.ts";

/** The help of every command, one file for each. `npx vitest run test/cli/help.test.ts` writes the file of a new command. */

const fileOf = (path: string): string => `${path === "" ? "idp" : path.replaceAll(" ", "-")}.txt`;
const helpOf = (path: string) => idpHere([...path.split(" ").filter(Boolean), "--help"]);

test.each([...(await commandTree()).keys()])("idp %s --help", async (path) => {
  const { code, stdout, stderr } = await helpOf(path);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  await expect(stdout).toMatchFileSnapshot(`help/${fileOf(path)}`);
});

test("no help file is left of a removed command", async () => {
  const kept = readdirSync(fileURLToPath(new URL("help", import.meta.url)));
  expect(kept.sort()).toEqual([...(await commandTree()).keys()].map(fileOf).sort());
});

test("each help that is kept fits 80 columns but for its examples; that of a command shows two examples or more", async () => {
  for (const [path, { commands }] of await commandTree()) {
    const help = readFileSync(fileURLToPath(new URL(`help/${fileOf(path)}`, import.meta.url)), "utf8");
    expect(help.split("\n").filter((line) => line.length > 80 && !line.startsWith("  $ "))).toEqual([]);
    if (commands.length > 0) continue;
    const examples = help.slice(help.indexOf("\nExamples:\n")).match(/^ {2}\$ .+$/gm) ?? [];
    expect(examples.length, path).toBeGreaterThanOrEqual(2);
    expect(examples.filter((line) => line.includes(`idp ${path}`)).length, path).toBeGreaterThanOrEqual(1);
  }
});

test("idp alone prints the help, and as a process too", async () => {
  const alone = await idpHere([]);
  expect(alone).toEqual(await idpHere(["--help"]));
  expect(await idp([], { cwd: newFolder() })).toEqual(alone);
});
