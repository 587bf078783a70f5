import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder, startIdp } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";

/** Fixtures that come without a file. */

test.each([
  ["from standard input, as YAML", "-", "users:\n  - username: eve\n"],
  ["from standard input, as JSON", "-", '{ "users": [{ "username": "eve" }] }'],
  ["as the text itself", '{ "users": [{ "username": "eve" }] }', ""],
])("fixtures %s, with the flag, the variable, and at a reset", async (_how, fixtures, input) => {
  const admin = "an-admin-token-of-mine";
  for (const [args, env] of [
    [["--fixtures", fixtures], {}],
    [[], { IDP_FIXTURES: fixtures }],
  ] as const) {
    const place = { cwd: newFolder(), env: { ...env, IDP_ADMIN_TOKEN: admin } };
    const { issuer, output } = await startIdp([...args, "--watch"], place, undefined, input);
    expect(output.stdout).toContain("users 1 added");
    const call = async (method: string, path: string): Promise<unknown> => {
      const headers = { authorization: `Bearer ${admin}`, "content-type": "application/json" };
      const body = method === "POST" ? { body: "{}" } : {};
      return (await fetch(`${issuer}/_idp/api/${path}`, { method, headers, ...body })).json();
    };
    await call("POST", "reset");
    expect(await call("GET", "users")).toEqual([expect.objectContaining({ username: "eve" })]);
  }
});

test("two usual files are refused with a command that names one of them", async () => {
  const cwd = newFolder();
  for (const name of ["idp.fixtures.json", "idp.fixtures.yml"]) writeFileSync(join(cwd, name), "{}");
  const { code, stderr } = await idpIn(cwd, ["start", "--memory", "--port", "auto"]);
  expect(code).toBe(7);
  expect(stderr).toContain("name the file to use: idp start --memory --port auto --fixtures idp.fixtures.json\n");
});

test("a problem in a text without a file is reported with its position", async () => {
  const inline = await idpIn(newFolder(), ["start", "--memory", "--port", "auto", "--fixtures", '{"users": [{}]}']);
  expect([inline.code, inline.stderr]).toEqual([7, expect.stringContaining("inline:1:12")]);
  const piped = await idpIn(newFolder(), ["seed", "--check", "-"], "users:\n  - nickname: eve\n");
  expect([piped.code, piped.stderr]).toEqual([7, expect.stringContaining("stdin:2:5")]);
});
