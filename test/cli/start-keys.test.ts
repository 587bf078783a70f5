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

test.each(["false", "true"])(
  "o shows the address of the inspector once, whole, whatever the browser does (BROWSER=%s)",
  { tags: ["script"] },
  async (browser) => {
    const { type, shown, ended, screen } = onTerminal(`${start} --memory`, newFolder(), { BROWSER: browser });
    await shown("Press h for the keys");
    type("o");
    await shown("?key=");
    if (browser === "false") await shown("open the address above yourself");
    const addresses = screen().match(/http:\/\/localhost:\d+\/_idp\/\S+/g) ?? [];
    expect(addresses).toEqual([expect.stringMatching(/\/\?key=[\w-]{43}$/)]);
    const [address = ""] = addresses;
    expect((await fetch(address, { redirect: "manual" })).status).toBe(303);
    type("q");
    expect(await ended).toBe(0);
  },
);

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
