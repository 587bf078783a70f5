import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { giveAway, ofStrangers } from "../helpers/another-user.ts";
import { newFolder } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";

/** What another user put where a file with secrets is about to be written: a link that leads to them, a pipe that they read. */

const fixtures =
  "clients: [{ client_id: app, redirect_uris: [http://localhost:3000/cb] }]\nusers: [{ username: alice }]\n";

function project(): string {
  const cwd = newFolder();
  writeFileSync(join(cwd, "idp.fixtures.yaml"), fixtures);
  return cwd;
}

const writers: readonly (readonly [file: string, words: readonly string[]])[] = [
  ["state.json", ["export", "--output", "state.json"]],
  ["idp.yaml", ["export", "--as", "fixtures", "--output", "idp.yaml"]],
  [".env.test", ["env", "--write", ".env.test"]],
  ["requests.log", ["exec", "--log", "requests.log", "--", "true"]],
];

const planted: readonly (readonly [string, (file: string, elsewhere: string) => void])[] = [
  ["link", (file, elsewhere) => symlinkSync(elsewhere, file)],
  ["link to nothing", (file, elsewhere) => symlinkSync(`${elsewhere}-new`, file)],
  ["pipe", (file) => spawnSync("mkfifo", [file])],
];

test.each(ofStrangers(planted.flatMap(([kind, plant]) => writers.map((writer) => [kind, plant, ...writer] as const))))(
  "a %s of another user gets nothing (%#)",
  async (_kind, plant, file, words) => {
    const cwd = project();
    await idpIn(cwd, ["seed"]);
    const elsewhere = join(newFolder(), "there");
    writeFileSync(elsewhere, "");
    plant(join(cwd, file), elsewhere);
    giveAway(join(cwd, file));
    const { code, stderr } = await idpIn(cwd, words);
    expect({ code, stderr }).toMatchObject({
      code: words[0] === "exec" ? 125 : 2,
      stderr: expect.stringMatching(/of another user/) as string,
    });
    expect([readFileSync(elsewhere, "utf8"), existsSync(`${elsewhere}-new`)]).toEqual(["", false]);
  },
);

test.each(writers)("%s: a link of this user stays, and its file gets what is written", async (file, words) => {
  const cwd = project();
  await idpIn(cwd, ["seed"]);
  const elsewhere = join(newFolder(), "there");
  symlinkSync(elsewhere, join(cwd, file));
  expect(await idpIn(cwd, words)).toMatchObject({ code: 0 });
  expect(existsSync(elsewhere)).toBe(true);
});

test.each([
  ["its fixtures", "idp.fixtures.yaml"],
  ["the variables", ".env.local"],
  ["what git ignores", ".gitignore"],
])("init does not follow a link for %s out of the project", async (_what, name) => {
  const cwd = newFolder();
  mkdirSync(join(cwd, ".git"));
  const elsewhere = join(newFolder(), "there");
  writeFileSync(elsewhere, "mine\n");
  symlinkSync(elsewhere, join(cwd, name));
  const { code, stderr } = await idpIn(cwd, ["init", "--yes", "--force", "--type", "confidential"]);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(name) as string });
  expect(readFileSync(elsewhere, "utf8")).toBe("mine\n");
});

test("init does not write code into a folder that is a link out of the project", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ dependencies: { next: "15.0.0", "next-auth": "4.24.0" } }));
  const elsewhere = newFolder();
  symlinkSync(elsewhere, join(cwd, "app"));
  symlinkSync(elsewhere, join(cwd, "src"));
  symlinkSync(elsewhere, join(cwd, "pages"));
  const { stderr } = await idpIn(cwd, ["init", "--yes"]);
  expect({ stderr, left: spawnSync("find", [elsewhere, "-type", "f"]).stdout.toString() }).toMatchObject({ left: "" });
});

test("a link within the project is followed", async () => {
  const cwd = newFolder();
  mkdirSync(join(cwd, "config"));
  writeFileSync(join(cwd, "config", "env"), "A=1\n");
  symlinkSync("config/env", join(cwd, ".env.local"));
  expect(await idpIn(cwd, ["init", "--yes", "--type", "confidential"])).toMatchObject({ code: 0 });
});
