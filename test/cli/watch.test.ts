import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { idp, newFolder, startIdp } from "../helpers/cli.ts";
import { pictures } from "../helpers/pictures.ts";
import { controlC, onTerminal } from "../helpers/terminal.ts";

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

test("the logo of a brand is watched too, also while it is not there", async () => {
  const cwd = newFolder();
  mkdirSync(join(cwd, "img"));
  writeFileSync(join(cwd, "idp.fixtures.yaml"), "users: [{ username: alice }]");
  const server = await startIdp(["--watch", "--json"], { cwd });
  writeFileSync(join(cwd, "idp.fixtures.yaml"), "settings: { brand: { logo: img/logo.svg } }");
  await server.printed('"path":"settings.brand.logo"');
  writeFileSync(join(cwd, "img", "logo.svg"), pictures.svg);
  await server.printed('"settings":{"added":["settings"]');
  writeFileSync(join(cwd, "img", "logo.svg"), pictures.scriptedSvg);
  await server.printed('"changed":[{"name":"settings","fields":["brand"]}]');
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

test("on a terminal it is on, unless --no-watch or a variable says otherwise", { tags: ["script"] }, async () => {
  const cwd = newFolder();
  const file = join(cwd, "idp.fixtures.yaml");
  writeFileSync(file, "users: [{ username: alice }]");
  const on = onTerminal("start --memory --port auto", cwd);
  const off = onTerminal("start --memory --port auto --no-watch", cwd);
  const offToo = onTerminal("start --memory --port auto", cwd, { IDP_WATCH: "false" });
  for (const one of [on, off, offToo]) await one.shown("Ctrl+C");
  writeFileSync(file, "users: [{ username: alice }, { username: eve }]");
  await on.shown("idp.fixtures.yaml: users 1 added, 1 same");
  for (const one of [on, off, offToo]) {
    one.type(controlC);
    expect(await one.ended).toBe(0);
  }
  expect(off.screen() + offToo.screen()).not.toContain("1 added, 1 same");
});

test("after a watched change, a reset still reads the files again", async () => {
  const cwd = newFolder();
  const write = (text: string): void => writeFileSync(join(cwd, "a.yaml"), text);
  write("users: [{ username: alice }]");
  const server = await startIdp(["--watch", "--fixtures", "a.yaml"], { cwd });
  write("users: [{ username: alice }, { username: bob }]");
  await server.printed("a.yaml: users 1 added, 1 same");
  write("usrs: [{ username: eve }]");
  const refused = await idp(["reset", "--yes"], { cwd });
  expect(refused).toMatchObject({ code: 7, stdout: "" });
  expect(refused.stderr).toContain("a.yaml:1:1 usrs");
  write("users: [{ username: eve }]");
  expect(await idp(["reset", "--yes"], { cwd })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Reset to a.yaml: 1 user,"),
  });
});

test("pages with a mistake: the error and what still holds, and nothing about fixtures; then they are read again", async () => {
  const cwd = newFolder();
  // As most editors save: the file is there whole or not at all.
  const write = (text: string): void => {
    writeFileSync(join(cwd, "pages", "home.eta~"), text);
    renameSync(join(cwd, "pages", "home.eta~"), join(cwd, "pages", "home.eta"));
  };
  mkdirSync(join(cwd, "pages"));
  write("<p>one</p>");
  const server = await startIdp(["--watch", "--memory", "--templates", "pages"], { cwd });
  // A change before the folder is watched is not noticed, so it is made again.
  await vi.waitFor(
    () => {
      write("<p>two <% if (");
      expect(server.output.stderr).toMatch(
        /home\.eta:1:8 unclosed tag: %> is missing\nError: the templates have mistakes\n {2}The server still uses what/,
      );
    },
    { timeout: 20_000, interval: 500 },
  );
  const page = async () => (await fetch(server.issuer, { headers: { accept: "text/html" } })).text();
  expect(await page()).toContain("one");
  write("<p>three</p>");
  await server.printed("pages: pages read again");
  expect(await page()).toContain("three");
  expect(server.output.stdout).not.toContain("fixture file is gone");
});
