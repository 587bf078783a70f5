import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startIdp } from "../helpers/cli.ts";
import { blocks } from "../helpers/readme.ts";
import { newProject, shell, type } from "../helpers/shell.ts";

/** docs/issuers.md: its commands, its fixture file and its program run as printed. */

test("the commands of the guide", async () => {
  const { cwd, env } = newProject();
  const [fixtures = ""] = blocks("Add, use and remove an issuer", "yaml");
  const [script = ""] = blocks("Add, use and remove an issuer", "sh");
  writeFileSync(join(cwd, "shop.yaml"), fixtures);
  await startIdp([], { cwd, env });
  for (const line of script.split("\n")) expect(await type(line, { cwd, env }), line).toMatchObject({ code: 0 });
  const { stdout } = await type("idp issuers list", { cwd, env });
  expect(stdout).toContain("/i/shop");
  expect(stdout).not.toContain("staging");
});

test("the fixture file of the guide", async () => {
  const { cwd, env } = newProject();
  const [fixtures = ""] = blocks("Issuers at the start", "yaml");
  writeFileSync(join(cwd, "idp.fixtures.yaml"), fixtures);
  await startIdp([], { cwd, env });
  const { stdout } = await type("idp users list --issuer shop", { cwd, env });
  expect(stdout).toContain("erin");
  expect(stdout).not.toContain("alice");
});

test("the program of the guide", async () => {
  const { cwd, env } = newProject();
  const [program = ""] = blocks("Add an issuer from a program", "js");
  writeFileSync(join(cwd, "issuers.mjs"), program);
  const { code, stdout } = await shell("node issuers.mjs", { cwd, env });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^http:\/\/localhost:\d+\/i\/shop$/m) });
});
