import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startIdp } from "../helpers/cli.ts";
import { blocks } from "../helpers/readme.ts";
import { freePort, newProject, shell } from "../helpers/shell.ts";

/** Every other block of the README, run in a project that has the package installed. The first minute has a test of its own. */

const lines = (heading: string): string[] => blocks(heading, "sh").flatMap((block) => block.split("\n"));

test("your own users and clients", async () => {
  const { cwd, env } = newProject();
  const [fixtures = ""] = blocks("Your own users and clients", "yaml");
  writeFileSync(join(cwd, "idp.fixtures.yaml"), fixtures);
  const [last, ...others] = lines("Your own users and clients").reverse();
  expect(others).not.toHaveLength(0);
  for (const line of others.reverse()) expect(await shell(line, { cwd, env }), line).toMatchObject({ code: 0 });
  expect(last).toBe("idp start");
  await startIdp([], { cwd, env });
  const { stdout } = await shell("idp users list --json; idp clients list --json", { cwd, env });
  for (const name of ["erin", "frank", "shop"]) expect(stdout).toContain(`"${name}"`);
  for (const name of ["alice", "demo-app"]) expect(stdout).not.toContain(`"${name}"`);
});

test("commands", async () => {
  const { cwd, env } = newProject();
  const idp = await startIdp([], { cwd, env });
  for (const line of lines("Commands")) expect(await shell(line, { cwd, env }), line).toMatchObject({ code: 0 });
  expect(await idp.ended).toEqual({ code: 0, signal: null });
});

test("in CI", async () => {
  const { cwd, env } = newProject();
  const port = await freePort();
  const [exec = "", script = ""] = blocks("In CI", "sh");
  const scripts = {
    test: `node -e "fetch(process.env.OIDC_ISSUER + '/_idp/health').then(({ status }) => process.exit(status))"`,
  };
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ scripts }));
  expect(await shell(exec, { cwd, env })).toMatchObject({ code: 200 });
  const ended = await shell(script.replaceAll("4370", port), { cwd, env: { ...env, IDP_PORT: port } });
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stdout).toContain('"username":"alice"');
});

test("in tests", async () => {
  const { cwd, env } = newProject();
  const [program = ""] = blocks("In tests", "js");
  writeFileSync(join(cwd, "app.mjs"), program);
  expect(await shell("node app.mjs", { cwd, env })).toEqual({ code: 0, stdout: "200\n403\n", stderr: "" });
});
