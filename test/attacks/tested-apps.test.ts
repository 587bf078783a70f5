import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";

/** What a program under test, which may have bugs of its own or of its dependencies, gets from a check, and does to it. */

const foreign = {
  IDP_CONTROL_TOKENS: '[{"name":"qa","role":"tester","token":"qa-token-qa-token"}]',
  IDP_STORE: "postgres://idp:the-password@127.0.0.1:1/idp",
  IDP_ADMIN_TOKEN: "admin-token-of-another-server",
};

/** A program that writes its environment down, and ends. */
function folderWithApp(): { readonly cwd: string; readonly app: string; readonly seen: () => string } {
  const cwd = newFolder();
  const [app, file] = [join(cwd, "app.mjs"), join(cwd, "seen.json")];
  writeFileSync(
    app,
    `require("node:fs").writeFileSync(${JSON.stringify(file)}, JSON.stringify(process.env));`
      .replace("require", "process.getBuiltinModule")
      .replace("node:fs", "fs"),
  );
  return { cwd, app, seen: () => readFileSync(file, "utf8") };
}

test.each([
  ["exec", ["exec", "--"]],
  ["check client", ["check", "client", "--start", "http://127.0.0.1:9/", "--signed-in", "http://127.0.0.1:9/", "--"]],
  [
    "check scim of an address",
    [
      "check",
      "scim",
      "--url",
      "http://127.0.0.1:9/scim",
      "--token-env",
      "APP_TOKEN",
      "--other-token-env",
      "OTHER",
      "--",
    ],
  ],
])("the program of %s gets no token of another server, and no database", async (_name, words) => {
  const { cwd, app, seen } = folderWithApp();
  const env = { ...foreign, APP_TOKEN: "the token of the app", OTHER: "the token of somebody else" };
  await idpIn(cwd, [...words, process.execPath, app], "", env);
  const text = seen();
  for (const secret of ["qa-token-qa-token", "the-password", "admin-token-of-another-server"])
    expect(text).not.toContain(secret);
  expect(text.includes("the token of somebody else")).toBe(words[1] !== "scim");
});

test("a line without end is cut, and at most 20 lines of an app are shown", async () => {
  const cwd = newFolder();
  const script =
    'process.stdout.write("x".repeat(5e6)); for (let i = 0; i < 50; i++) console.log("\\n" + "y".repeat(5000)); process.exit(3)';
  const at = "http://127.0.0.1:9/";
  const words = ["check", "client", "--start", at, "--signed-in", at, "--", process.execPath, "-e", script];
  const { code, stderr } = await idpIn(cwd, words);
  expect(code).toBe(5);
  expect(stderr.length).toBeLessThan(20 * 2100);
  expect(Math.max(...stderr.split("\n").map((line) => line.length))).toBeLessThan(2100);
});
