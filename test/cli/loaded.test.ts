import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { bin, idp, newFolder, type Ended } from "../helpers/cli.ts";
import { repository } from "../helpers/readme.ts";

/** What a command loads: its first output waits for that. */

async function loadedBy(
  args: readonly string[],
): Promise<Ended & { readonly modules: readonly string[]; readonly packages: readonly string[] }> {
  const cwd = newFolder();
  // Writes down each file that is loaded: by require, as all of the command line is, and by import, as nothing should be.
  writeFileSync(
    join(cwd, "hooks.mjs"),
    `import { appendFileSync } from "node:fs";
     export async function load(url, context, next) {
       if (url.startsWith("file:")) appendFileSync(new URL("imported.txt", import.meta.url), url + "\\n");
       return next(url, context);
     }`,
  );
  writeFileSync(
    join(cwd, "register.cjs"),
    `require("node:module").register("./hooks.mjs", require("node:url").pathToFileURL(__filename));
     const own = Object.keys(require.cache);
     process.on("exit", () => {
       const files = Object.keys(require.cache).filter((file) => !own.includes(file));
       require("node:fs").writeFileSync(${JSON.stringify(join(cwd, "required.json"))}, JSON.stringify(files));
     });`,
  );
  const ended = await idp(args, { cwd, nodeArgs: ["--require", join(cwd, "register.cjs")] });
  expect(existsSync(join(cwd, "imported.txt"))).toBe(false);
  const files = JSON.parse(readFileSync(join(cwd, "required.json"), "utf8")) as readonly string[];
  // What each file was made of, as the build tells.
  const built = join(repository, "dist", "cli");
  const madeOf = JSON.parse(readFileSync(join(built, ".modules.json"), "utf8")) as Readonly<Record<string, string[]>>;
  const modules = files
    .filter((file) => file !== bin)
    .flatMap((file) => madeOf[relative(built, file)] ?? [`unknown: ${file}`]);
  const packages = modules.flatMap((module) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(module)?.[1] ?? []);
  return { ...ended, modules, packages: [...new Set(packages)].sort() };
}

test("decoding loads neither express, inquirer, lowdb, jose nor zod, nor anything of the server", async () => {
  const token = `${Buffer.from('{"alg":"none"}').toString("base64url")}.e30.`;
  const { code, modules, packages } = await loadedBy(["token", "decode", token]);
  expect(code).toBe(0);
  expect(modules).toContain("src/cli/commands/token/decode.ts");
  const ofServer = /^unknown|^src\/(http|client)\/|^src\/store\/(?!store\.ts|collections\.ts|postgres\/address\.ts)/;
  expect(modules.filter((module) => ofServer.test(module))).toEqual([]);
  // The flags of `token issue` are flaws of a token; those of responses, and what is said of a wrong word, are for others.
  const forOthers =
    /^src\/core\/controls\/faults\/(?!flaws\/(?:access-token|flaw)\.ts)|^src\/cli\/(?:commands\/completion|usage\/(?!typed\.ts))/;
  expect(modules.filter((module) => forOthers.test(module))).toEqual([]);
  expect(packages).toEqual(["chalk", "commander", "fastest-levenshtein"]);
});

test("a start shows its first screen before anything loads zod, inquirer, jose, pg or a reader of fixture files", async () => {
  const { code, stdout, modules, packages } = await loadedBy(["start", "--port", "auto", "--until-stdin-closes"]);
  expect(code).toBe(0);
  expect(stdout).toContain("idp ready ");
  expect(modules).toContain("src/cli/commands/start/first-screen.ts");
  const late = [
    "xml-crypto",
    "@xmldom/xmldom",
    "xml-encryption",
    "xpath",
    "zod",
    "inquirer",
    "jose",
    "pg",
    "js-yaml",
    "jsonc-parser",
    "@simplewebauthn/server",
    "open",
  ];
  expect(packages).toContain("express");
  expect(packages.filter((name) => late.includes(name))).toEqual([]);
});
