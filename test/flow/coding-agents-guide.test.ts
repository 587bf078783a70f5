import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bin, environment, idp, newFolder, startIdp } from "../helpers/cli.ts";
import { nouns } from "../../src/cli/nouns.ts";
import { appClient, plainApp } from "../helpers/plain-app.ts";
import { freePort } from "../helpers/port.ts";
import { repository } from "../helpers/readme.ts";

/** docs/coding-agents.md, skills/dev-idp/SKILL.md and llms.txt: what they show is what runs, and what the SDK's client finds. */

const read = (path: string): string => readFileSync(join(repository, path), "utf8");
const [guide, skill, llms] = [read("docs/coding-agents.md"), read("skills/dev-idp/SKILL.md"), read("llms.txt")];

let issuer = "";
const app = await plainApp(() => issuer);
const fixtures = {
  users: [{ username: "alice" }],
  clients: [
    appClient(app.url),
    { client_id: "demo-app", client_secret: "s", redirect_uris: ["http://localhost:3000/callback"] },
  ],
};

/** A folder of an app, with its fixtures. */
function project(): string {
  const cwd = newFolder();
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify(fixtures));
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ scripts: { test: "node --version" } }));
  return cwd;
}

/** The commands that a text shows, without comments. */
const commandsIn = (text: string): readonly string[] =>
  [...text.matchAll(/(?:^|`)npx dev-idp ([^`\n#]+)/gm)].map(([, words = ""]) => words.trim());

const wordsOf = (command: string): readonly string[] => command.replaceAll("http://localhost:3000", app.url).split(" ");

test("the skill shows ten commands, and each of them and of llms.txt runs", async () => {
  const shown = commandsIn(/```sh\n(.*?)```/s.exec(skill)?.[1] ?? "");
  expect(shown).toHaveLength(10);
  expect(skill).toMatch(/^---\nname: dev-idp\ndescription: [^\n]{100,1024}\n---\n/);
  const all = [...new Set([...shown, ...commandsIn(llms)])];
  expect(all).toEqual(expect.arrayContaining(["start --memory", "init --yes", "init --mcp-config"]));
  const cwd = project();
  // A folder of its own is where the locks of servers in memory are.
  const env = { XDG_RUNTIME_DIR: newFolder() };
  const started = await startIdp(["--memory"], { cwd, env });
  ({ issuer } = started);
  for (const command of all) {
    if (command === "start --memory" || command.startsWith("mcp-server")) continue;
    const isNew = command === "init --yes";
    const { code, stderr } = await idp(wordsOf(command), { cwd: isNew ? newFolder() : cwd, env });
    expect([command, code], stderr).toEqual([command, 0]);
  }
  expect(read("package.json")).toContain('"skills"');
  expect(read("package.json")).toContain('"llms.txt"');
});

test("the guide's command writes the entry that it shows", async () => {
  const cwd = project();
  const [, words = ""] = /^idp (init .*)$/m.exec(guide) ?? [];
  expect((await idp(words.split(" "), { cwd })).code).toBe(0);
  const [, shown = ""] = /```json\n(.*?)```/s.exec(guide) ?? [];
  expect(JSON.parse(readFileSync(join(cwd, ".mcp.json"), "utf8"))).toEqual(JSON.parse(shown));
});

/** The SDK's client and the built command. */
async function connect(cwd: string, env: Readonly<Record<string, string>>, words: readonly string[] = []) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, "mcp-server", ...words],
    cwd,
    env: environment(env) as Record<string, string>,
    stderr: "ignore",
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const call = async (name: string, input: object = {}) => {
    const answer = await client.callTool({ name, arguments: { ...input } }, undefined, { timeout: 100_000 });
    const [{ text } = { text: "" }] = answer.content as readonly { readonly text: string }[];
    return { text, isError: answer.isError === true, data: answer.structuredContent as Record<string, unknown> };
  };
  return { client, call };
}

test("the guide's table is the list of tools, and each has its commands", async () => {
  const { client } = await connect(newFolder(), { XDG_RUNTIME_DIR: newFolder() });
  const rows = [...guide.matchAll(/^\| `(\w+)` +\| .*? \| (`.*?) +\|$/gm)];
  expect(rows.map(([, name]) => name)).toEqual((await client.listTools()).tools.map(({ name }) => name));
  const known = Object.values(nouns).flatMap((group) => Object.keys(group));
  for (const [, , commands = ""] of rows) {
    for (const [, noun] of commands.matchAll(/`([\w-]+)/g)) expect(known).toContain(noun);
  }
});

test("from an empty folder and an app in trouble to the reason and its repair, through the tools alone", async () => {
  const cwd = mkdtempSync(join(newFolder(), "app-"));
  const { client, call } = await connect(cwd, { XDG_RUNTIME_DIR: newFolder() });
  const port = Number(await freePort());
  expect((await call("requests")).data["fix"]).toMatch(/^Call the tool start/);
  const { data: started } = await call("start", { port });
  issuer = String(started["issuer"]);
  const start = `${app.url}/login`;
  // The app's client is not registered, then its redirect URI is not, then its secret is another one.
  const unknown = await call("sign_in", { start });
  expect([unknown.isError, unknown.text]).toEqual([true, expect.stringContaining("register it")]);
  await call("add_client", { client_id: "web", redirect_uris: [`${app.url}/old`] });
  const { data: unregistered } = await call("sign_in", { start });
  const { name, arguments: input } = unregistered["tool"] as { readonly name: string; readonly arguments: object };
  await call(name, input);
  const secret = await call("sign_in", { start });
  expect(secret.data).toMatchObject({ from_request: { error: expect.stringMatching(/^invalid_client/) } });
  await call("edit_client", { client_id: "web", client_secret: appClient("").client_secret });
  expect((await call("sign_in", { start, signed_in: `${app.url}/me` })).isError).toBe(false);
  const checked = await call("check", {
    what: "client",
    ...{ start, signed_in: `${app.url}/me`, client: "web", case: ["response.state-wrong"] },
  });
  expect(checked.data, checked.text).toMatchObject({ what: "client", passed: expect.any(Boolean) });
  await client.close();
  await expect(fetch(`${issuer}/_idp/health`)).rejects.toThrow();
});
