import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";

/** `seed`, `diff` and `reset` without a path: the data remember what they were made from. */

function write(folder: string, name: string, content: unknown): void {
  writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
}

async function usersIn(cwd: string, more: readonly string[] = []): Promise<readonly string[]> {
  const { stdout } = await idpIn(cwd, ["users", "list", "--json", ...more]);
  return (JSON.parse(stdout) as { username: string }[]).map(({ username }) => username);
}

/** Data that were made from team.json, in a folder without usual fixtures. */
async function madeFromTeam(): Promise<string> {
  const cwd = newFolder();
  write(cwd, "team.json", { users: [{ username: "erin" }] });
  expect((await idpIn(cwd, ["seed", "team.json"])).code).toBe(0);
  return cwd;
}

const commands = [["seed"], ["diff"], ["reset", "--yes"]];

test("without a path and a server: the files that the data were made from, as they are now, from any folder", async () => {
  const cwd = await madeFromTeam();
  write(cwd, "team.json", { users: [{ username: "erin" }, { username: "fay" }] });
  const elsewhere = newFolder();
  const data = ["--data", join(cwd, ".idp")];
  const { code, stdout } = await idpIn(elsewhere, ["diff", ...data]);
  expect({ code, stdout }).toEqual({ code: 6, stdout: "users  - fay\n" });
  expect((await idpIn(elsewhere, ["seed", ...data])).stdout).toMatch(/team\.json: users 1 added, 1 same\n/);
  await idpIn(cwd, ["users", "remove", "erin", "--yes"]);
  expect((await idpIn(cwd, ["reset", "--yes"])).stdout).toContain("Reset to team.json: 2 users");
  expect(await usersIn(cwd)).toEqual(["erin", "fay"]);
});

test.each(commands)("%s: another fixture file of the folder is named, and not used", async (...words) => {
  const cwd = await madeFromTeam();
  write(cwd, "idp.fixtures.yaml", "users: [{ username: zoe }]");
  const { code, stderr } = await idpIn(cwd, words);
  expect(code).toBe(0);
  expect(stderr.replaceAll(/\s+/g, " ")).toContain(
    `Used team.json, which the data were made from, and not idp.fixtures.yaml of this folder. To use that: idp ${words[0] ?? ""} --fixtures idp.fixtures.yaml`,
  );
  expect(await usersIn(cwd)).toEqual(["erin"]);
  expect((await idpIn(cwd, ["reset", "--yes", "--fixtures", "idp.fixtures.yaml"])).code).toBe(0);
  // And these are what the data are made from now.
  expect((await idpIn(cwd, ["reset", "--yes"])).stdout).toContain("Reset to idp.fixtures.yaml");
});

test.each(commands)(
  "%s: files that are gone, and fixtures that were no files, exit 2 with --fixtures",
  async (...words) => {
    const cwd = await madeFromTeam();
    rmSync(join(cwd, "team.json"));
    const gone = await idpIn(cwd, words);
    expect(gone).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/made from team\.json, .*--fixtures/s) as string,
    });
    const other = newFolder();
    await idpIn(other, ["seed", "-"], JSON.stringify({ users: [{ username: "erin" }] }));
    const { code, stderr } = await idpIn(other, words);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("--fixtures") as string });
    expect(await usersIn(other)).toEqual(["erin"]);
  },
);

test("data of an import were made from no fixtures", async () => {
  const [cwd, other] = [await madeFromTeam(), newFolder()];
  const { stdout } = await idpIn(cwd, ["export"]);
  write(other, "state.json", stdout);
  expect((await idpIn(other, ["import", "state.json", "--yes"])).code).toBe(0);
  expect((await idpIn(other, ["reset", "--yes"])).code).toBe(2);
  await startHere([], { cwd: other });
  expect((await idpIn(other, ["reset", "--yes"])).stderr).toMatch(/import.*--fixtures/s);
  expect(await usersIn(other)).toEqual(["erin"]);
});

test("data of nobody take what start would", async () => {
  const cwd = newFolder();
  expect((await idpIn(cwd, ["seed"])).stdout).toMatch(/^built-in demo: users 4 added/);
  expect((await idpIn(cwd, ["reset", "--yes"])).stdout).toContain("4 users");
  expect(await idpIn(cwd, ["diff"])).toMatchObject({ code: 0 });
});

test("start adds no demo to data of other fixtures: it takes their files, or leaves the data as they are", async () => {
  const cwd = await madeFromTeam();
  const first = await startHere([], { cwd });
  expect(await usersIn(cwd)).toEqual(["erin"]);
  expect((await idpIn(cwd, ["reset", "--yes"])).stdout).toContain("Reset to team.json");
  await first.stop();
  rmSync(join(cwd, "team.json"));
  await startHere([], { cwd });
  expect(await usersIn(cwd)).toEqual(["erin"]);
  for (const words of commands) expect(await idpIn(cwd, words)).toMatchObject({ code: 2 });
  expect(await usersIn(cwd)).toEqual(["erin"]);
});

test("with a server, its fixtures count, and not the file of the folder", async () => {
  const cwd = newFolder();
  mkdirSync(join(cwd, "team"));
  write(cwd, "team/a.json", { users: [{ username: "erin" }] });
  await startHere(["--fixtures", "team/a.json"], { cwd });
  write(cwd, "idp.fixtures.json", { users: [{ username: "zoe" }] });
  for (const words of commands) {
    const { code, stderr } = await idpIn(cwd, words);
    expect(code).toBe(0);
    expect(stderr.replaceAll(/\s+/g, " ")).toContain("Used team/a.json of the server, and not idp.fixtures.json");
  }
  expect(await usersIn(cwd)).toEqual(["erin"]);
});
