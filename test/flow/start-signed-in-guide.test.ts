import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { idp as idpCommand, newFolder } from "../helpers/cli.ts";
import { appClient, plainApp } from "../helpers/plain-app.ts";
import { repository } from "../helpers/readme.ts";

/** docs/start-signed-in.md: its commands make the files that its tools read. */

const guide = readFileSync(join(repository, "docs/start-signed-in.md"), "utf8");

let issuer = "";
const app = await plainApp(() => issuer);
const idp = await serve({
  fixtures: { users: [{ username: "alice" }, { username: "bob" }], clients: [appClient(app.url)] },
});
({ issuer } = idp);
const cwd = newFolder(afterAll);
const here = (text: string): string => text.replaceAll("http://localhost:3000", app.url);
const env = { IDP_URL: idp.issuer, IDP_ADMIN_TOKEN: idp.adminToken };

/** The commands of its shell blocks. */
const commands = Array.from(guide.matchAll(/^idp (sign-in .*)$/gm), ([, words = ""]) => here(words));
/** The code block that has a text in it. */
const blockWith = (text: string): string =>
  here(
    [...guide.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = ""]) => code).find((code) => code.includes(text)) ?? "",
  );

test("each command of the guide signs in, and writes its file", async () => {
  expect(commands.length).toBeGreaterThan(2);
  for (const words of commands) {
    const output = /--output (\S+)/.exec(words)?.[1] ?? "";
    const { code, stderr } = await idpCommand(words.split(" "), { cwd, env });
    expect([words, code, stderr]).toEqual([words, 0, expect.stringContaining("Signed in as alice")]);
    expect(readFileSync(join(cwd, output), "utf8")).toContain("sid");
  }
});

test("the header that the k6 script reads is one that the app takes", async () => {
  const code = blockWith("k6/http");
  const [, read = ""] = /const cookie = open\("\.\/(.+?)"\)/.exec(code) ?? [];
  const cookie = readFileSync(join(cwd, read), "utf8").trim().replace("Cookie: ", "");
  expect((await fetch(`${app.url}/me`, { headers: { cookie }, redirect: "manual" })).status).toBe(200);
});

test("the global setup makes a file for each role", async () => {
  const code = blockWith("globalSetup()");
  const setup = code.replace(
    'execFileSync("npx", [...words',
    `execFileSync(process.execPath, [${JSON.stringify(join(repository, "bin/idp.js"))}, ...words.slice(1)`,
  );
  expect(setup).not.toBe(code);
  writeFileSync(join(cwd, "setup.mjs"), `${setup}\nglobalSetup();\n`);
  await promisify(execFile)(process.execPath, ["setup.mjs"], { cwd, env: { ...process.env, ...env } });
  for (const user of ["alice", "bob"]) {
    const { cookies } = JSON.parse(readFileSync(join(cwd, `auth/${user}.json`), "utf8")) as {
      cookies: { name: string; value: string }[];
    };
    expect(app.sessions.has(cookies.find(({ name }) => name === "sid")?.value ?? "")).toBe(true);
  }
});

test("the command of Cypress sets each cookie as the file has it", async () => {
  const set: unknown[] = [];
  const cy = {
    readFile: (file: string) => Promise.resolve(JSON.parse(readFileSync(join(cwd, file), "utf8")) as unknown),
    setCookie: (...cookie: unknown[]) => set.push(cookie),
  };
  let command = (_user: string): unknown => null;
  const Cypress = { Commands: { add: (_name: string, work: typeof command) => (command = work) } };
  const code = blockWith("Cypress.Commands").replace("cy.readFile", "return cy.readFile");
  // The code of the guide, in a function that has what Cypress gives it.
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  (new Function("Cypress", "cy", code) as (...given: readonly unknown[]) => void)(Cypress, cy);
  await command("alice");
  expect(set[0]).toEqual([
    "sid",
    expect.any(String),
    expect.objectContaining({ hostOnly: true, domain: "localhost", sameSite: "strict" }),
  ]);
});
