import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idp, newFolder } from "../helpers/cli.ts";
import { idpHere } from "../helpers/command.ts";
import { foreignFiles } from "../helpers/foreign-files.ts";
import { repository } from "../helpers/readme.ts";

/** `idp init --from`: what it says, what it refuses, and what other commands say of such a file. What it reads: test/core. */

const target = "idp.fixtures.yaml";
const sample = (name: string): string => join(repository, "test", "fixtures-from", name);

function folderWith(...names: readonly string[]): string {
  const cwd = newFolder();
  for (const name of names) copyFileSync(sample(name), join(cwd, name));
  return cwd;
}

test("the file is written; what is not carried over is on stderr and in the file", async () => {
  const cwd = folderWith("dex.yaml");
  const { code, stdout, stderr } = await idp(["init", "--from", "dex", "dex.yaml"], { cwd });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Created idp.fixtures.yaml: 1 user, 3 clients of dex.yaml\n" });
  const hash =
    "dex.yaml:38:11 staticPasswords[0].hash is a hash (bcrypt): give the user a password in the fixture file, or let them sign in from the picker";
  expect(stderr.split("\n")).toEqual(expect.arrayContaining(["Not carried over:", hash, "Next: idp start"]));
  const text = readFileSync(join(cwd, target), "utf8");
  expect(text).toContain(`#   ${hash}\n`);
  expect(text).toMatch(/^# Made by: idp init --from dex dex\.yaml\n/);
  expect(text).toContain("    # password: … # only its hash is known");
});

test("--json and --stdout", async () => {
  const cwd = folderWith("hydra.json");
  const { code, stdout } = await idp(["init", "--from", "hydra", "hydra.json", "--stdout", "--json"], { cwd });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ file: null, tool: "hydra", users: 0, clients: 2, text: expect.stringContaining("username: alice") },
    leftOut: expect.arrayContaining([
      { file: "hydra.json", line: 23, column: 7, path: "items[0].metadata", message: "is not carried over" },
    ]),
  });
  expect(existsSync(join(cwd, target))).toBe(false);
});

test("a fixture file that is there stays: exit 4, and --force replaces it", async () => {
  const cwd = folderWith("navikt.json");
  writeFileSync(join(cwd, target), "users: []\n");
  const words = ["init", "--from", "navikt", "navikt.json"];
  const refused = await idp(words, { cwd });
  expect(refused).toMatchObject({ code: 4, stdout: "" });
  expect(refused.stderr).toContain("To replace it: idp init --from navikt navikt.json --force");
  expect(readFileSync(join(cwd, target), "utf8")).toBe("users: []\n");
  expect((await idp([...words, "--force"], { cwd })).code).toBe(0);
  expect(readFileSync(join(cwd, target), "utf8")).toContain("subByCode");
});

test("a hostile value breaks no line, on the terminal and in the comments", async () => {
  const cwd = newFolder();
  const user = { username: "x\nError: fake\u001b[2J\u202e", "\nodd": 1, firstName: "\u001b]0;title\u0007" };
  writeFileSync(join(cwd, "realm.json"), JSON.stringify({ realm: "r", enabled: true, users: [user] }));
  for (const more of [[], ["--stdout", "--json"], ["--stdout"]]) {
    const { code, stdout, stderr } = await idp(["init", "--from", "keycloak", "realm.json", ...more], { cwd });
    expect(code, stderr).toBe(0);
    for (const line of stderr.trim().split("\n").slice(1)) expect(line).toMatch(/^(?:realm\.json:\d|Next)/);
    for (const letter of ["\u001b", "\u0007", "\u202e"]) expect(stdout + stderr).not.toContain(letter);
  }
  expect(readFileSync(join(cwd, target), "utf8")).not.toMatch(/^(?!#).*Error: fake/m);
});

describe("refused", () => {
  const dex = sample("dex.yaml");
  test.each<[string, readonly string[], number, RegExp]>([
    [
      "a tool that is not known",
      ["--from", "okta", dex],
      2,
      /okta.*keycloak, auth0, dex, soluto, navikt, hydra, emulate, fusionauth, authelia/,
    ],
    ["no file", ["--from", "dex"], 2, /no file is named\n.*idp init --from dex FILE/],
    ["no files of Soluto", ["--from", "soluto"], 2, /idp init --from soluto USERS CLIENTS/],
    ["two files of a tool with one", ["--from", "dex", dex, dex], 2, /dex takes 1 file, and there are 2/],
    ["a file without --from", [dex], 2, /a file is read with --from only/],
    ["a flag that would have no effect", ["--from", "dex", dex, "--client", "x"], 2, /--client has no effect/],
    ["a file that is not there", ["--from", "dex", "nothing.yaml"], 7, /nothing\.yaml cannot be read/],
    ["a file of another tool", ["--from", "auth0", dex], 7, /is a configuration of dex.*\n.*idp init --from dex/],
    ["a file of no tool", ["--from", "dex", join(repository, "package.json")], 7, /is not a configuration of dex/],
  ])("%s", async (_, words, code, says) => {
    const ended = await idpHere(["init", ...words, "--stdout"]);
    expect(ended).toMatchObject({ code, stdout: "" });
    expect(ended.stderr).toMatch(says);
  });
});

describe("idp seed --check says what such a file is, and which command reads it", () => {
  test.each(foreignFiles)("%s %s", async (tool, ...names) => {
    const files = names.map(sample);
    const { code, stdout, stderr } = await idpHere(["seed", "--check", ...files]);
    expect({ code, stdout }).toEqual({ code: 7, stdout: "" });
    const [first = "", second = "", ...more] = stderr.split("\n");
    expect(first).toMatch(/^Error: \S+ is .+, and not a fixture file; nothing was applied$/);
    expect(second.trim()).toBe(`Make one of it: idp init --from ${tool} ${files.join(" ")}`);
    expect(more).toEqual([""]);
  });

  test("the start says so too", async () => {
    const ended = await idpHere(["start", "--memory", "--port", "auto", "--fixtures", sample("dex.yaml")]);
    expect(ended).toMatchObject({ code: 7, stderr: expect.stringContaining("idp init --from dex ") });
  });

  test("a fixture file with a mistake is still reported as a fixture file", async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "f.json"), '{"users":[{"username":"x","user_id":"auth0|1"}]}');
    const { stderr } = await idpHere(["seed", "--check", join(cwd, "f.json")]);
    expect(stderr).toContain("users[0].user_id unknown key");
  });
});
