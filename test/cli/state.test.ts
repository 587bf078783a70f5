import { once } from "node:events";
import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { launch, newFolder, startIdp } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";

/** `idp export`, `idp import` and `idp reset`: the state of a folder or a running server, taken along or put back. */

const words = (line: string): string[] => line.split(" ");

/** A folder with the demo, in which something has happened. */
async function lived(): Promise<{ readonly cwd: string; readonly live: string; readonly dead: string }> {
  const cwd = newFolder();
  const run = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await idpIn(cwd, words(line));
    expect(code, stderr).toBe(0);
    return stdout;
  };
  await run("seed");
  await run("users add eve --set language=tr");
  await run("clients add shop --redirect-uri http://localhost:3000/callback");
  await run("users suspend bob");
  const live = await run("token issue --user alice --client demo-app");
  const dead = await run("token issue --user eve --client demo-app");
  expect((await idpIn(cwd, words("token revoke -"), dead)).code).toBe(0);
  await run("issue grant --user eve --client shop");
  await run("revoke --user eve --client shop");
  await run("keys rotate");
  return { cwd, live, dead };
}

test("export and import into an empty folder are the identity: tokens live and are dead as before, and the next export is the same", async () => {
  const { cwd, live, dead } = await lived();
  const written = await idpIn(cwd, words("export --output state.json"));
  expect(written).toEqual({
    code: 0,
    stdout: "Wrote state.json: 5 users, 5 clients, 3 grants.\n",
    stderr: "It contains private keys, client secrets and password hashes: keep it safe.\n",
  });
  expect(statSync(join(cwd, "state.json")).mode & 0o777).toBe(0o600);
  const text = readFileSync(join(cwd, "state.json"), "utf8");

  const other = newFolder();
  const imported = await idpIn(other, words("import - --json"), text);
  expect(imported.code, imported.stderr).toBe(0);
  expect(JSON.parse(imported.stdout)).toMatchObject({ users: 5, clients: 5, grants: 3, otherIssuer: null });
  expect((await idpIn(other, ["export"])).stdout).toBe(text);
  const verify = async (input: string) => (await idpIn(other, words("token introspect -"), input)).code;
  expect([await verify(live), await verify(dead)]).toEqual([0, 6]);

  // A running server keeps the issuer that it is served under.
  const third = newFolder();
  const server = await startIdp([], { cwd: third });
  const there = await idpIn(third, words("import - --json"), text);
  expect(JSON.parse(there.stdout)).toMatchObject({ users: 5, clients: 5 });
  const { stdout } = await idpIn(third, words("token issue --user eve --client demo-app"));
  const answer = await fetch(`${server.issuer}/api/v2/oauth/userinfo`, {
    headers: { authorization: `Bearer ${stdout.trim()}` },
  });
  expect(answer.status).toBe(200);
});

test.each([
  ["no JSON", '{"format":', /^state\.json:1:\d+ /m],
  ["something else", '{"a":1}', /is not an export of idp; nothing was imported\n {2}Make one: idp export/],
  ["a fixture file", '{"users":[]}', /It looks like a fixture file\. To apply it: idp seed state.json/],
  ["a data file", '{"schemaVersion":1,"generation":"x"}', /It is the data file of a folder/],
  ["a newer export", '{"format":"idp-state","schemaVersion":2}', /A newer idp made it \(version 2; this one knows 1\)/],
])("%s is refused with what to do, and nothing is lost", async (_what, text, said) => {
  const cwd = newFolder();
  await idpIn(cwd, ["seed"]);
  const before = (await idpIn(cwd, ["export"])).stdout;
  writeFileSync(join(cwd, "state.json"), text);
  const { code, stdout, stderr } = await idpIn(cwd, words("import state.json"));
  expect({ code, stdout }).toEqual({ code: 7, stdout: "" });
  expect(stderr).toMatch(said);
  expect((await idpIn(cwd, ["export"])).stdout).toBe(before);
});

test("an export goes where a link leads, also to what is not there yet", async () => {
  const cwd = newFolder();
  await idpIn(cwd, ["seed"]);
  symlinkSync("real.json", join(cwd, "link.json"));
  expect(await idpIn(cwd, words("export --output link.json"))).toMatchObject({ code: 0 });
  expect(lstatSync(join(cwd, "link.json")).isSymbolicLink()).toBe(true);
  expect(JSON.parse(readFileSync(join(cwd, "real.json"), "utf8"))).toMatchObject({ format: "idp-state" });
  expect(statSync(join(cwd, "real.json")).mode & 0o777).toBe(0o600);
  expect(readdirSync(cwd).sort()).toEqual([".idp", "link.json", "real.json"]);
});

test("a slow export on standard input is waited for", async () => {
  const [cwd, other] = [newFolder(), newFolder()];
  await startIdp([], { cwd });
  const { stdout: text } = await idpIn(cwd, ["export"]);
  const child = launch(["import", "-", "--json"], { cwd: other });
  const told: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => told.push(String(part)));
  const ended = once(child, "close");
  child.stdin.on("error", () => undefined).write(text.slice(0, 1000));
  // By now it has read everything so far.
  await idpIn(cwd, ["users", "list"]);
  child.stdin.end(text.slice(1000));
  expect([...(await ended), told.join("")]).toEqual([0, null, expect.stringContaining('"users":4')]);
});

test("each problem is reported with its place, and nothing is imported", async () => {
  const cwd = newFolder();
  await idpIn(cwd, ["seed"]);
  const before = (await idpIn(cwd, ["export"])).stdout;
  const wrong = before
    .replace('"emailVerified": true', '"emailVerified": "yes"')
    .replace('"client_id": "demo-app"', '"client_id": 5')
    .replace('"redirect_uris": [', '"redirects": [');
  writeFileSync(join(cwd, "state.json"), wrong);
  const { code, stderr } = await idpIn(cwd, words("import state.json"));
  expect(code).toBe(7);
  expect(stderr).toMatch(/^state\.json:\d+:\d+ users\[0\]\.emailVerified must be true or false, not "yes"/m);
  expect(stderr).toMatch(/problems?; nothing was imported/);
  const twice = JSON.parse(before) as Record<string, unknown[]>;
  twice["users"]?.push(twice["users"][0]);
  twice["keys"] = [];
  const { stderr: told } = await idpIn(cwd, words("import -"), JSON.stringify(twice));
  expect(told).toMatch(/users\[4\] username "alice" is taken by an earlier one/);
  expect(told).toMatch(/keys has no key that signs with HS256/);
  expect((await idpIn(cwd, ["export"])).stdout).toBe(before);
});

test("--as fixtures is a fixture file that a server starts on", async () => {
  const { cwd } = await lived();
  const { stdout, stderr } = await idpIn(cwd, words("export --as fixtures"));
  expect(stderr).toContain("It has no passwords");
  expect(stdout).not.toMatch(/scrypt|"jwk"/);
  const other = newFolder();
  writeFileSync(join(other, "idp.fixtures.json"), stdout);
  await startHere([], { cwd: other });
  const { stdout: users } = await idpIn(other, words("users list --json"));
  expect(users).toBe(
    (await idpIn(cwd, words("users list --json"))).stdout.replaceAll('"hasPassword":true', '"hasPassword":false'),
  );
});

test("a reset goes back to the fixtures as they are now, also to a file that took the demo's place; a broken one changes nothing", async () => {
  const cwd = newFolder();
  await startHere([], { cwd });
  const write = (text: string): void => writeFileSync(join(cwd, "idp.fixtures.yaml"), text);
  const names = async (): Promise<string[]> => {
    const { stdout } = await idpIn(cwd, ["users", "list", "--json"]);
    return (JSON.parse(stdout) as { displayName: string }[]).map(({ displayName }) => displayName);
  };
  write("users: [{ username: erin, displayName: One }]");
  expect((await idpIn(cwd, ["reset"])).stdout).toContain("Reset to idp.fixtures.yaml: 1 user");
  expect(await names()).toEqual(["One"]);
  write("users: [{ username: erin, displayName: Two }]");
  await idpIn(cwd, ["reset"]);
  expect(await names()).toEqual(["Two"]);
  write("users: [{ username: erin, displayNam: Three }]");
  const broken = await idpIn(cwd, ["reset"]);
  expect([broken.code, broken.stderr]).toEqual([7, expect.stringContaining("idp.fixtures.yaml:1:")]);
  expect(await names()).toEqual(["Two"]);
});
