import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { idp, newFolder, startIdp } from "../helpers/cli.ts";

/** `idp start --watch`. */

test("a change is applied and reported; a broken file changes nothing, and the next good one applies; a removed entry stays", async () => {
  const cwd = newFolder();
  const write = (text: string): void => {
    // As editors do: a new file in the place of the old one.
    writeFileSync(join(cwd, "new.tmp"), text);
    renameSync(join(cwd, "new.tmp"), join(cwd, "idp.fixtures.yaml"));
  };
  write("users: [{ username: alice }, { username: bob }]");
  const server = await startIdp(["--watch", "--json"], { cwd });
  write("users: [{ username: alice }, { username: bob, email: b@x.test }]\nsettings: { access_token_ttl: 60 }");
  await server.printed('"changed":[{"name":"bob","fields":["email"]}]');
  write("users: [{ username: alice }, { username: bob, emial: b@x.test }]");
  await server.printed('"applied":false');
  await server.printed('"path":"users[1].emial"');
  write("users: [{ username: alice }, { username: eve }]");
  await server.printed('"added":["eve"]');
  expect(server.output.stdout).toContain('"vanished":["user bob"]');
  const { stdout } = await idp(["users", "list", "--json"], { cwd });
  expect((JSON.parse(stdout) as { username: string }[]).map(({ username }) => username)).toEqual([
    "alice",
    "bob",
    "eve",
  ]);
  server.child.kill("SIGTERM");
  expect(await server.ended).toEqual({ code: 0, signal: null });
});

test("a folder: a new file is applied, a removed one is reported; in words", async () => {
  const cwd = newFolder();
  mkdirSync(join(cwd, "f"));
  writeFileSync(join(cwd, "f", "a.yaml"), "users: [{ username: alice }]");
  const server = await startIdp(["--watch", "--fixtures", "f"], { cwd });
  writeFileSync(
    join(cwd, "f", "b.json"),
    '{ "clients": [{ "client_id": "app", "redirect_uris": ["http://localhost/cb"] }] }',
  );
  await server.printed("f/a.yaml, f/b.json: users 1 same; clients 1 added");
  rmSync(join(cwd, "f", "b.json"));
  await server.printed("no longer in them, but kept until idp reset: client app");
});

test("a broken link is reported, and still watched", async () => {
  const cwd = newFolder();
  const file = join(cwd, "a.yaml");
  writeFileSync(file, "users: [{ username: alice }]");
  const server = await startIdp(["--watch", "--json", "--fixtures", "a.yaml"], { cwd });
  rmSync(file);
  symlinkSync("a.yaml", file);
  await server.printed('"applied":false');
  rmSync(file);
  writeFileSync(file, "users: [{ username: bob }]");
  await server.printed('"added":["bob"]');
});
