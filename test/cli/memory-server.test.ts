import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";

/** `start --memory` can be commanded in its folder: by a lock in a folder that is this user's alone. */

/** The environment of a machine with a runtime folder of its own. */
const machine = (): { XDG_RUNTIME_DIR: string } => ({ XDG_RUNTIME_DIR: newFolder() });
const placeOf = (env: { XDG_RUNTIME_DIR: string }): string => join(env.XDG_RUNTIME_DIR, "dev-idp");

test("commands in its folder find it, need no token, and say where the change was made", async () => {
  const [cwd, env] = [newFolder(), machine()];
  const { issuer } = await startHere(["--memory"], { cwd, env });
  const suspended = await idpIn(cwd, ["users", "suspend", "bob"], "", env);
  expect(suspended).toMatchObject({ code: 0 });
  expect(suspended.stderr).toContain(`via the running server ${issuer}`);
  expect(await idpIn(cwd, ["users", "list", "--url", issuer], "", env)).toMatchObject({ code: 0 });
  expect((await idpIn(cwd, ["open", "--json"], "", env)).stdout).toContain(issuer);
  const [file = ""] = readdirSync(placeOf(env));
  expect(statSync(placeOf(env)).mode & 0o777).toBe(0o700);
  expect(statSync(join(placeOf(env), file)).mode & 0o777).toBe(0o600);
});

test("its tokens are decoded by its clock, once that was moved", async () => {
  const [cwd, env] = [newFolder(), machine()];
  await startHere(["--memory"], { cwd, env });
  const run = async (words: string) => (await idpIn(cwd, words.split(" "), "", env)).stdout.trim();
  await run("clock advance 2h");
  const token = await run("token issue --user alice --client demo-app");
  const { clock, expiresIn } = JSON.parse(await run(`token decode --json ${token}`)) as Record<string, unknown>;
  expect(clock).toMatchObject({ offset: 7200, frozen: false });
  expect(expiresIn).toBeLessThanOrEqual(1800);
});

test("in another folder there is no server, and its token is not found either", async () => {
  const [cwd, env] = [newFolder(), machine()];
  const { issuer } = await startHere(["--memory"], { cwd, env });
  const other = newFolder();
  expect((await idpIn(other, ["status"], "", env)).code).toBe(5);
  expect((await idpIn(other, ["users", "list", "--url", issuer], "", env)).code).toBe(2);
});

test("it is gone with the server; that of a killed process is ignored", async () => {
  const [cwd, env] = [newFolder(), machine()];
  const running = await startHere(["--memory"], { cwd, env });
  const [file = ""] = readdirSync(placeOf(env));
  const lock = JSON.parse(readFileSync(join(placeOf(env), file), "utf8")) as { pid: number };
  await running.stop();
  expect(readdirSync(placeOf(env))).toEqual([]);
  writeFileSync(join(placeOf(env), "dead.json"), JSON.stringify({ ...lock, pid: 2 ** 22 + 1 }), { mode: 0o600 });
  expect((await idpIn(cwd, ["status"], "", env)).code).toBe(5);
});

test("two servers in one folder: exit 4 with both addresses; so with one on the data folder", async () => {
  const [cwd, env] = [newFolder(), machine()];
  const first = await startHere(["--memory"], { cwd, env });
  const second = await startHere([], { cwd, env });
  const { code, stderr } = await idpIn(cwd, ["users", "list"], "", env);
  expect({ code, first: stderr.includes(first.issuer), second: stderr.includes(second.issuer) }).toEqual({
    ...{ code: 4, first: true, second: true },
  });
  expect((await idpIn(cwd, ["users", "list", "--url", first.issuer], "", env)).code).toBe(0);
  // There --url is the address of what is checked.
  const api = await idpIn(cwd, ["check", "api", "--url", "http://localhost:1/orders"], "", env);
  expect(api).toMatchObject({ code: 4, stderr: expect.stringMatching(/Name one: IDP_URL=http:\/\/localhost:\d+\n/) });
  const scim = await idpIn(cwd, ["check", "scim"], "", env);
  expect(scim).toMatchObject({ code: 4, stderr: expect.stringContaining("Name one: IDP_URL=http") });
});

test.each([
  ["a link to a folder", (place: string) => symlinkSync(newFolder(), place)],
  ["a folder that others may open", (place: string) => mkdirSync(place, { mode: 0o755 })],
  ["a file", (place: string) => writeFileSync(place, "")],
])(
  "%s in its place: the start says so and writes nothing, and commands believe nothing in it",
  async (_name, plant) => {
    const [cwd, env] = [newFolder(), machine()];
    plant(placeOf(env));
    const { issuer, output } = await startHere(["--memory"], { cwd, env });
    expect(output.stderr).toContain("Commands find this server by --url and IDP_ADMIN_TOKEN only");
    expect(output.stdout).toContain("commands find it by --url, and IDP_ADMIN_TOKEN");
    expect((await idpIn(cwd, ["status"], "", env)).code).toBe(5);
    // What somebody else put there.
    const planted = { pid: process.pid, host: "x", folder: cwd, url: issuer, adminToken: "planted-token-planted" };
    try {
      writeFileSync(join(placeOf(env), "planted.json"), JSON.stringify(planted));
    } catch {
      // It is a file.
    }
    expect((await idpIn(cwd, ["status"], "", env)).code).toBe(5);
  },
);
