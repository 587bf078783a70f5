import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";
import { controlC, onTerminal } from "../helpers/terminal.ts";

/** `idp start` on a terminal listens for keys. */

const start = "start --port auto";
const help = "l  sign in, as an app does (idp login)";

test("h shows the keys, r pressed twice resets, q quits", { tags: ["script"] }, async () => {
  const cwd = newFolder();
  const { type, shown, ended, screen, written } = onTerminal(start, cwd);
  await shown("Press h for the keys");
  expect(screen()).not.toContain(help);
  type("h");
  await shown(help);
  expect((await idpIn(cwd, "users add erin".split(" "))).code).toBe(0);
  type("r");
  await shown("Press r again to reset.");
  expect((await idpIn(cwd, "users show erin".split(" "))).code).toBe(0);
  type("r");
  await shown("Reset to the fixtures.");
  expect((await idpIn(cwd, "users show erin".split(" "))).code).toBe(3);
  expect(written()).not.toContain("\u001b[2J");
  type("cq");
  expect(await ended).toBe(0);
  expect(written()).toContain("\u001b[2J");
});

test("o opens the inspector in the browser, with a key", { tags: ["script"] }, async () => {
  const cwd = newFolder();
  const [browser, opened] = [join(cwd, "browser"), join(cwd, "opened")];
  writeFileSync(browser, `#!/bin/sh\necho "$1" > "${opened}.part"; mv "${opened}.part" "${opened}"\n`, { mode: 0o755 });
  const { type, shown, ended } = onTerminal(`${start} --memory`, cwd, { BROWSER: browser });
  await shown("Press h for the keys");
  type("o");
  await expect.poll(() => existsSync(opened)).toBe(true);
  expect(readFileSync(opened, "utf8")).toMatch(/^http:\/\/localhost:\d+\/_idp\/[\w-]{22}\/\?key=[\w-]{43}\n$/);
  type("q");
  expect(await ended).toBe(0);
});

test(
  "the screen says how to open the inspector, and gives neither its path nor a key",
  { tags: ["script"] },
  async () => {
    const cwd = newFolder();
    const { type, shown, ended, screen } = onTerminal(start, cwd);
    await shown("Press h for the keys");
    expect(screen()).toContain("press o, or run: idp open");
    expect(screen()).not.toMatch(/\/_idp\//);
    type("h");
    await shown("o  open the inspector in a browser");
    type("q");
    expect(await ended).toBe(0);
  },
);

test("l signs in: the address is shown, and the server goes on", { tags: ["script"] }, async () => {
  const { type, shown, ended } = onTerminal(`${start} --memory`, newFolder(), { BROWSER: "true" });
  await shown("Press h for the keys");
  type("l");
  await shown("client_id=idp-cli");
  await shown("Ctrl+C stops the server too.");
  type(controlC);
  expect(await ended).toBe(0);
});

test.each([
  ["--json", '"event":"ready"'],
  ["--no-input", "Ctrl+C to stop"],
])("with %s no key is read, and Ctrl+C ends it", { tags: ["script"] }, async (flag, ready) => {
  const { type, shown, ended, screen } = onTerminal(`${start} ${flag}`, newFolder());
  await shown(ready);
  type("h");
  type(controlC);
  expect(await ended).toBe(0);
  expect(screen()).not.toContain("Press h");
  expect(screen()).not.toContain(help);
  expect(screen()).not.toContain("?key=");
});
