import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort } from "../helpers/port.ts";
import { blocks, headingsOf } from "../helpers/readme.ts";
import { timeLimit } from "../helpers/runs.ts";
import { newProject, shell } from "../helpers/shell.ts";

/** docs/team.md, line by line, as one script: who starts the server, what each role does, and what brings data back. */

test("the files and the commands of the guide", { timeout: timeLimit }, async () => {
  const { cwd, env } = newProject();
  const port = await freePort();
  mkdirSync(join(cwd, "fixtures"));
  for (const text of blocks("The folder of fixtures", "yaml")) {
    const name = /^# (fixtures\/\S+)$/m.exec(text)?.[1] ?? expect.fail("a file without its name");
    writeFileSync(join(cwd, name), text);
  }
  writeFileSync(join(cwd, "tokens.yaml"), blocks("Who starts it", "yaml")[0] ?? "");
  const scripts = headingsOf("docs/team.md").flatMap((heading) => blocks(heading, "sh"));
  expect(scripts).toHaveLength(6);
  const script = [...scripts, "unset IDP_URL IDP_ADMIN_TOKEN", "idp stop"].join("\n").replaceAll("4370", port);
  const { code, stdout, stderr } = await shell(script, { cwd, env: { ...env, IDP_PORT: port } });
  expect(code, stdout + stderr).toBe(0);
  expect(stdout).toContain("frank  email:");
  expect(stdout).toMatch(/\bqa\b.*users suspend erin/);
  expect(stdout).toContain('"email": "frank@shop.example.com"');
});

test("what the guide says of a role that may not, and of a name in two files", { timeout: timeLimit }, async () => {
  const { cwd, env } = newProject();
  const port = await freePort();
  writeFileSync(join(cwd, "tokens.yaml"), blocks("Who starts it", "yaml")[0] ?? "");
  mkdirSync(join(cwd, "fixtures"));
  for (const name of ["a.yaml", "b.yaml"]) writeFileSync(join(cwd, "fixtures", name), "users: [{ username: erin }]\n");
  const script = [
    "idp seed --check fixtures || echo exit $?",
    "rm fixtures/b.yaml",
    "idp start --fixtures fixtures --control-tokens tokens.yaml > idp.log &",
    "idp wait",
    `export IDP_URL=http://localhost:${port} IDP_ADMIN_TOKEN=token-of-a-tester-0001`,
    "idp reset --yes || echo exit $?",
    "unset IDP_URL IDP_ADMIN_TOKEN",
    "idp stop",
  ].join("\n");
  const { stdout, stderr } = await shell(script, { cwd, env: { ...env, IDP_PORT: port } });
  expect(stdout.match(/^exit \d$/gm)).toEqual(["exit 7", "exit 6"]);
  expect(stderr).toMatch(/fixtures\/b\.yaml:1:\d+ .*erin/);
  expect(stderr).toContain("'qa' is a tester: reset needs an admin");
});
