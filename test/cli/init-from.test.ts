import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpHere, idpIn } from "../helpers/command.ts";
import { serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { wordsOf } from "../helpers/html.ts";
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
  const { code, stdout, stderr } = await idpIn(cwd, ["init", "--from", "dex", "dex.yaml"]);
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
  const { code, stdout } = await idpIn(cwd, ["init", "--from", "hydra", "hydra.json", "--stdout", "--json"]);
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
  const refused = await idpIn(cwd, words);
  expect(refused).toMatchObject({ code: 4, stdout: "" });
  expect(refused.stderr).toContain("To replace it: idp init --from navikt navikt.json --force");
  expect(readFileSync(join(cwd, target), "utf8")).toBe("users: []\n");
  expect((await idpIn(cwd, [...words, "--force"])).code).toBe(0);
  expect(readFileSync(join(cwd, target), "utf8")).toContain("subByCode");
});

test("a hostile value breaks no line, on the terminal and in the comments", async () => {
  const cwd = newFolder();
  const user = { username: "x\nError: fake\u001b[2J\u202e", "\nodd": 1, firstName: "\u001b]0;title\u0007" };
  writeFileSync(join(cwd, "realm.json"), JSON.stringify({ realm: "r", enabled: true, users: [user] }));
  for (const more of [[], ["--stdout", "--json"], ["--stdout"]]) {
    const { code, stdout, stderr } = await idpIn(cwd, ["init", "--from", "keycloak", "realm.json", ...more]);
    expect(code, stderr).toBe(0);
    for (const line of stderr.trim().split("\n").slice(1)) expect(line).toMatch(/^(?:realm\.json:\d|Next)/);
    for (const letter of ["\u001b", "\u0007", "\u202e"]) expect(stdout + stderr).not.toContain(letter);
  }
  expect(readFileSync(join(cwd, target), "utf8")).not.toMatch(/^(?!#).*Error: fake/m);
});

describe("many losses", () => {
  const hash = { type: "password", secretData: "{}", credentialData: '{"algorithm":"pbkdf2-sha256"}' };
  const users = Array.from({ length: 270 }, (_, number) => ({ username: `u${number}`, credentials: [hash] }));
  const fields = Object.fromEntries(Array.from({ length: 30 }, (_, number) => [`someSetting${number}`, number + 1]));
  const clients = ["a", "b", "c", "d", "e", "f", "g"].map((id) => ({
    ...{ clientId: id, secret: "**********", redirectUris: ["http://localhost/cb"] },
  }));
  const realm = { realm: "r", enabled: true, ...fields, displayName: "R", users, clients };
  const write = () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "realm.json"), JSON.stringify(realm, null, 1));
    return cwd;
  };

  test("equal ones are one line with their number, those to act on are first, and none is cut", async () => {
    const cwd = write();
    const { code, stderr } = await idpIn(cwd, ["init", "--from", "keycloak", "realm.json"]);
    expect(code, stderr).toBe(0);
    const lines = stderr.trim().split("\n");
    expect(lines[0]).toBe("Not carried over:");
    expect(lines[1]).toMatch(
      /^realm\.json:\d+:\d+ users\[0\]\.credentials\[0\] is a hash \(pbkdf2-sha256\): .* \(270 times\)$/,
    );
    for (const [index, { clientId }] of clients.entries())
      expect(lines[index + 2]).toMatch(new RegExp(`clients\\[${index}\\]\\.secret .*"${clientId}-secret"`));
    expect(lines[9]).toBe("31 values of fields that have no counterpart here:");
    const names = lines.slice(10, -1).join(" ");
    for (const name of [...Object.keys(fields), "displayName"]) expect(names).toMatch(new RegExp(`\\b${name}\\b`));
    expect(lines.length).toBeLessThan(20);
    for (const line of lines.slice(10)) expect(line.length).toBeLessThan(110);
  });

  test("the file has the place of each, and --json every one", async () => {
    const cwd = write();
    const { stdout } = await idpIn(cwd, ["init", "--from", "keycloak", "realm.json", "--json", "--stdout"]);
    const { leftOut, text } = JSON.parse(stdout) as { leftOut: { line: number; column: number }[]; text: string };
    expect(leftOut).toHaveLength(270 + 7 + 31);
    for (const { line, column } of leftOut) expect(text).toMatch(new RegExp(`^#.*\\b${line}:${column}\\b`, "m"));
    const comments = text.split("\n").filter((line) => line.startsWith("#"));
    expect(comments.length).toBeLessThan(100);
  });
});

test("roles of a realm are found: by --role, in the table, and in the picker", async () => {
  const roles = { realmRoles: ["pilot", "default-roles-r"], clientRoles: { web: ["editor"] } };
  const web = { clientId: "web", publicClient: true, redirectUris: ["http://localhost/cb"] };
  const users = [{ username: "erin", ...roles }, { username: "frank" }];
  const cwd = newFolder();
  writeFileSync(join(cwd, "realm.json"), JSON.stringify({ realm: "r", enabled: true, clients: [web], users }));
  expect((await idpIn(cwd, ["init", "--from", "keycloak", "realm.json"])).code).toBe(0);
  const server = await serve({ fixtures: [join(cwd, target)] });
  const list = async (...flags: string[]) =>
    (await idpHere(["users", "list", ...flags, "--url", server.issuer], "", { IDP_ADMIN_TOKEN: server.adminToken }))
      .stdout;
  for (const role of ["pilot", "editor", "default-roles-r"]) {
    const found = await list("--role", role);
    expect(found).toMatch(/erin .*pilot editor/);
    expect(found).not.toContain("frank");
  }
  expect(await list()).not.toContain("default-roles-r");
  const browser = new Browser(server.issuer);
  const login = await browser.open("/account");
  const { body } = await browser.open(`${login.url}?q=editor`);
  expect(body).toContain('data-testid="login-as-erin"');
  expect(body).not.toContain('data-testid="login-as-frank"');
  expect(wordsOf(body)).toMatch(/pilot\s+editor/);
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
    ["a file that is not there", ["--from", "dex", "nothing.yaml"], 7, /nothing\.yaml cannot be read.*\n {2}Name /],
    ["a file of another tool", ["--from", "auth0", dex], 7, /is a configuration of dex.*\n.*idp init --from dex/],
    [
      "a file of no tool",
      ["--from", "dex", join(repository, "package.json")],
      7,
      /is not a configuration of dex.*\n.*idp seed --check \S+package\.json$/m,
    ],
  ])("%s", async (_, words, code, says) => {
    const ended = await idpHere(["init", ...words, "--stdout"]);
    expect(ended).toMatchObject({ code, stdout: "" });
    expect(ended.stderr).toMatch(says);
  });
});

test.each([
  ["", "a.json:1:1 the file is empty"],
  ["{", "a.json:1:2 a } is missing"],
])("a file that cannot be read (%j) is refused with its position and what to do", async (text, problem) => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "a.json"), text);
  expect(await idpIn(cwd, ["init", "--from", "auth0", "a.json"])).toEqual({
    code: 7,
    stdout: "",
    stderr: `${problem}\nError: a.json cannot be read; nothing was written\n  Export it again, or correct it at that place\n`,
  });
});

describe("idp seed --check says what such a file is, and which command reads it", () => {
  test("two files of one tool", async () => {
    const files = ["soluto-users.yaml", "soluto-clients.json"].map(sample);
    const { code, stdout, stderr } = await idpHere(["seed", "--check", ...files]);
    expect({ code, stdout }).toEqual({ code: 7, stdout: "" });
    const [first = "", second = "", ...more] = stderr.split("\n");
    expect(first).toMatch(/^Error: \S+ is .+, and not a fixture file; nothing was applied$/);
    expect(second.trim()).toBe(`Make one of it: idp init --from soluto ${files.join(" ")}`);
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
    expect(stderr).toContain("users[0].user_id is an unknown key");
  });
});
