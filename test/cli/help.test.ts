import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { idp, newFolder } from "../helpers/cli.ts";
import { commandTree, documentOf, idpHere } from "../helpers/command.ts";

/** The help of every command, one file for each. `npx vitest run test/cli/help.test.ts` writes the file of a new command. */

const fileOf = (path: string): string => `${path === "" ? "idp" : path.replaceAll(" ", "-")}.txt`;
const helpOf = (path: string) => idpHere([...path.split(" ").filter(Boolean), "--help"]);

test.each([...(await commandTree()).keys()])("idp %s --help", async (path) => {
  const { code, stdout, stderr } = await helpOf(path);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  await expect(stdout).toMatchFileSnapshot(`help/${fileOf(path)}`);
});

/** Their help leaves out what a working day does not need. */
const shortened = ["", "start", "exec"];
const fileOfAll = (path: string): string => fileOf(path).replace(".txt", "-all.txt");

test.each(shortened)("idp %s --help --all: every command and flag, in the other order too", async (path) => {
  const words = path.split(" ").filter(Boolean);
  const { stdout } = await idpHere([...words, "--help", "--all"]);
  await expect(stdout).toMatchFileSnapshot(`help/${fileOfAll(path)}`);
  expect((await idpHere(["help", ...words, "--all"])).stdout).toBe(stdout);
  const { options = [], commands = [] } = (await commandTree()).get(path) ?? {};
  for (const { long } of options)
    expect(stdout).toContain(`  ${path === "" && long === "--version" ? "-V, " : ""}${long ?? ""}`);
  for (const command of commands) expect(stdout).toMatch(new RegExp(`^ {2}${command.name()} `, "m"));
  const short = (await helpOf(path)).stdout;
  expect(short).toContain(`idp ${path} --help --all`.replace("  ", " "));
  expect(short.length).toBeLessThan(stdout.length);
});

test("the help of start has the twenty flags of a working day, and root help begins with how to start", async () => {
  const flags = (await helpOf("start")).stdout.match(/^ {2}--\S+/gm) ?? [];
  expect(flags).toHaveLength(20);
  expect((await helpOf("")).stdout).toMatch(/^Get started:\n {2}idp init /);
});

test.each([
  [["help", "--json"], "idp"],
  [["--help", "--json"], "idp"],
  [["--json"], "idp"],
  [["help", "users", "list", "--json"], "idp users list"],
  [["token", "issue", "--json", "-h"], "idp token issue"],
  [["start", "--help", "--json"], "idp start"],
] as const)("%j prints one document, with all that there is", async (words, command) => {
  const { code, stdout, stderr } = await idpHere(words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const help = documentOf(stdout) as {
    readonly flags: readonly { readonly flags: string; readonly choices?: readonly string[] }[];
    readonly commands: readonly { readonly name: string }[];
    readonly examples: readonly string[];
  };
  const { options = [], commands = [] } = (await commandTree()).get(command.replace(/^idp ?/, "")) ?? {};
  expect(help).toMatchObject({
    command,
    description: expect.stringMatching(/./),
    usage: expect.stringContaining(command),
  });
  expect(help.flags.map(({ flags }) => flags)).toEqual(options.map(({ flags }) => flags));
  expect(help.commands.map(({ name }) => name)).toEqual(commands.map((one) => one.name()));
  if (commands.length === 0) expect(help.examples[0]).toContain(command);
});

test("no help file is left of a removed command", async () => {
  const kept = readdirSync(fileURLToPath(new URL("help", import.meta.url)));
  const expected = [...[...(await commandTree()).keys()].map(fileOf), ...shortened.map(fileOfAll)];
  expect(kept.sort()).toEqual(expected.sort());
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
