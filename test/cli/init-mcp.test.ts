import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";

/** `idp init --mcp-config`: the entry for coding agents in `.mcp.json`. */

const entry = { command: "npx", args: ["dev-idp", "mcp-server"] };
const words = [
  "init",
  "--no-input",
  "--client",
  "web",
  "--type",
  "public",
  "--redirect-uri",
  "http://localhost:3000/cb",
];
const configIn = (cwd: string): string => readFileSync(join(cwd, ".mcp.json"), "utf8");

test("without the flag the entry is printed, and nothing is written", async () => {
  const cwd = newFolder();
  const { code, stderr } = await idpIn(cwd, words);
  expect(code).toBe(0);
  expect(stderr).toContain(JSON.stringify({ mcpServers: { "dev-idp": entry } }));
  expect(stderr).toMatch(/(?:npx dev-idp|idp) init --mcp-config\n/);
  expect(existsSync(join(cwd, ".mcp.json"))).toBe(false);
});

test("with the flag the entry is written, with the fixtures or beside those that are there; the second time nothing changes", async () => {
  const cwd = newFolder();
  expect((await idpIn(cwd, [...words, "--mcp-config"])).code).toBe(0);
  expect(JSON.parse(configIn(cwd))).toEqual({ mcpServers: { "dev-idp": entry } });
  expect(existsSync(join(cwd, "idp.fixtures.yaml"))).toBe(true);
  const before = configIn(cwd);
  const again = await idpIn(cwd, ["init", "--mcp-config"]);
  expect([again.code, configIn(cwd), again.stderr]).toEqual([
    0,
    before,
    expect.stringContaining("nothing was changed"),
  ]);
  expect((await idpIn(cwd, [...words, "--mcp-config"])).code, "the app is there").toBe(4);
});

test("the other entries stay as they are written, and so does one of this name", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "idp.fixtures.yaml"), "users: []\n");
  const text = '{\n\t"mcpServers": {\n\t\t"other": { "command": "x", "args": [] }\n\t},\n\t"more": 1\n}\n';
  writeFileSync(join(cwd, ".mcp.json"), text);
  await idpIn(cwd, ["init", "--mcp-config"]);
  expect(JSON.parse(configIn(cwd))).toEqual({
    mcpServers: { other: { command: "x", args: [] }, "dev-idp": entry },
    more: 1,
  });
  expect(configIn(cwd)).toMatch(/^\{\n\t"mcpServers"/);
  const own = JSON.stringify({ mcpServers: { "dev-idp": { command: "mine" } } });
  writeFileSync(join(cwd, ".mcp.json"), own);
  expect((await idpIn(cwd, ["init", "--mcp-config"])).code).toBe(0);
  expect(configIn(cwd)).toBe(own);
});

test("a file that cannot be read is not overwritten, and a link out of the folder is not followed; nothing else is written then", async () => {
  for (const text of ["{ // mine\n}", "[]", '{"mcpServers":[]}', '{"mcpServers":"x"}']) {
    const cwd = newFolder();
    writeFileSync(join(cwd, ".mcp.json"), text);
    const { code, stderr } = await idpIn(cwd, [...words, "--mcp-config"]);
    expect([code, configIn(cwd)]).toEqual([7, text]);
    expect(stderr).toContain('"dev-idp"');
    expect(existsSync(join(cwd, "idp.fixtures.yaml"))).toBe(false);
  }
  const cwd = newFolder();
  const elsewhere = join(newFolder(), "file.json");
  writeFileSync(elsewhere, "{}");
  symlinkSync(elsewhere, join(cwd, ".mcp.json"));
  expect((await idpIn(cwd, [...words, "--mcp-config"])).code).toBe(2);
  expect(readFileSync(elsewhere, "utf8")).toBe("{}");
});
