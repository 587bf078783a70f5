import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkGuide, leftOut, pipelineCommand } from "../helpers/check-guide.ts";
import { idp, newFolder } from "../helpers/cli.ts";
import { freePort } from "../helpers/port.ts";
import { repository } from "../helpers/readme.ts";
import { allCases } from "../../src/check/client/cases/list.ts";

/** docs/check-client.md: its commands run, on the example of openid-client, and its table names cases and versions that exist. */

const guide = checkGuide("check-client");
const examples = join(repository, "examples/check-client");

/** The cases that the list below the table names for a library. */
const listed = (library: string): string | undefined =>
  new RegExp(String.raw`^- ${library}: ((?:.|\n {2})+)`, "m").exec(guide)?.[1];

/** The rows of the table of libraries. */
const rows = Array.from(
  guide.matchAll(/^\| (\S.*?) +\| ([\d.]+) +\| \d+ +\| \d+ +\| (.+) \|$/gm),
  ([, library = "", version = "", unnoticed = ""]) => ({
    ...{ library, version },
    // Where there are many, they are in a list below the table.
    unnoticed: unnoticed.trimEnd().endsWith("below") ? (listed(library) ?? "") : unnoticed,
  }),
);
/** Their programs, where they are not named as the library. */
const programs: Readonly<Record<string, string>> = {
  "@auth/express": "auth-express.js",
  Authlib: "authlib_app.py",
  "Spring Security": "spring/pom.xml",
  mod_auth_openidc: "mod_auth_openidc.conf",
};
const programOf = (library: string): string => programs[library] ?? `${library}.js`;

const [, first = ""] = /^```sh\n(idp check client .+)$/m.exec(guide) ?? [];

test.each([
  ["first command", first],
  ["command of the pipeline", pipelineCommand(guide)],
])("the %s checks an app", async (_title, command) => {
  const cwd = newFolder();
  const port = await freePort();
  const clients = [{ client_id: "app", client_secret: "secret", redirect_uris: [`http://localhost:${port}/callback`] }];
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ users: [{ username: "alice" }], clients }));
  const start = `import ${JSON.stringify(join(examples, "openid-client.js"))};`;
  writeFileSync(join(cwd, "server.js"), start);
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ type: "module", scripts: { start: "node server.js" } }));
  const words = command
    .replaceAll(":3000", `:${port}`)
    .replace(/^(npx dev-idp|idp) /, "")
    .trim()
    .split(/\s+/);
  // With those of nonce, whose verdicts pkce reads.
  const cases = ["pkce", "response.iss-wrong", "id-token.nonce-wrong"].flatMap((name) => ["--case", name]);
  const { code, stdout, stderr } = await idp([...words.slice(0, 2), ...cases, ...words.slice(2)], {
    ...{ cwd, env: { PORT: port } },
  });
  expect(code, stdout + stderr).toBe(0);
  expect(stdout).toContain("5 noticed, 2 working.");
  expect(existsSync(join(cwd, "check-client.xml"))).toBe(command.includes("check-client.xml"));
});

test("the table has the installed versions, and names cases", () => {
  expect(rows).toHaveLength(11);
  const names = allCases.map(({ name }) => name);
  for (const { library, version, unnoticed } of rows) {
    expect(unnoticed, library).toContain("`");
    expect(
      Array.from(unnoticed.matchAll(/`(.+?)`/g), ([, name]) => name).filter((name) => !names.includes(name ?? "")),
    ).toEqual([]);
    // The others are not installed by npm.
    if (!programOf(library).endsWith(".js")) continue;
    const { version: installed } = JSON.parse(
      readFileSync(join(repository, "node_modules", library, "package.json"), "utf8"),
    ) as { readonly version: string };
    expect(version, library).toBe(installed);
  }
});

test("every case is in the guide", () => {
  expect(leftOut(guide, allCases)).toEqual([]);
});

test("every app of the examples is a program that can be read", () => {
  for (const { library } of rows) {
    const file = programOf(library);
    expect(existsSync(join(examples, file)), file).toBe(true);
    if (file.endsWith(".js")) expect(spawnSync(process.execPath, ["--check", join(examples, file)]).status).toBe(0);
  }
});
