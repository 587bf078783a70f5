import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allCases } from "../../src/check/sp/cases/list.ts";
import { checkGuide, inCode, leftOut, pipelineWords, withVerdicts } from "../helpers/check-guide.ts";
import { idp, newFolder } from "../helpers/cli.ts";
import { freePort } from "../helpers/port.ts";
import { repository } from "../helpers/readme.ts";

/** docs/check-sp.md: its table of cases is complete, its pipeline runs, and its verdicts are those of the installed libraries. */

const guide = checkGuide("check-sp");
const example = (name: string): readonly string[] => [process.execPath, join(repository, "examples/check-sp", name)];

async function check(app: readonly string[], flags: readonly string[], command?: readonly string[]) {
  const cwd = newFolder();
  const port = await freePort();
  const url = `http://localhost:${port}`;
  // The apps with samlify have no logout.
  const hasLogout = !app.some((word) => word.includes("samlify"));
  const saml = { acs: [`${url}/acs`], ...(hasLogout && { slo: `${url}/slo` }) };
  writeFileSync(
    join(cwd, "idp.fixtures.json"),
    JSON.stringify({ users: [{ username: "alice" }], clients: [{ client_id: `${url}/metadata`, saml }] }),
  );
  const at = ["--start", "http://localhost:3000/login", "--signed-in", "http://localhost:3000/me"];
  const words = command ?? ["check", "sp", ...at, ...flags, "--json", "--"];
  const given = [...words, ...app].map((word) => word.replace("http://localhost:3000", url));
  return withVerdicts(await idp(given, { cwd, env: { PORT: port } }));
}

test("the table names every case", () => {
  expect(leftOut(guide, allCases)).toEqual([]);
});

/** The verdicts of a row of the guide. */
async function hasVerdictsOf(library: string, app: readonly string[]): Promise<void> {
  const row = new RegExp(`^\\| ${library} +\\| ([\\d.]+) +\\| (\\d+) +\\| (.*?) +\\| (.*?) +\\|$`, "m").exec(guide);
  const [, , noticed = "", unnoticed = "", optional = ""] = row ?? [];
  const { named, stderr } = await check(app, []);
  const list = (verdict: string): string => inCode(named(verdict));
  expect(
    { noticed: named("noticed").length, unnoticed: list("unnoticed"), optional: list("not-required") },
    stderr,
  ).toEqual({
    noticed: Number(noticed),
    unnoticed,
    optional,
  });
}

test.each([
  ["passport-saml", "passport-saml.js", "@node-saml/passport-saml"],
  ["passport-saml, complete", "passport-saml-complete.js", "@node-saml/passport-saml"],
  ["samlify", "samlify.js", "samlify"],
  ["samlify, complete", "samlify-complete.js", "samlify"],
])("%s has the verdicts of the guide", async (library, file, name) => {
  const { version } = JSON.parse(readFileSync(join(repository, "node_modules", name, "package.json"), "utf8")) as {
    readonly version: string;
  };
  expect(guide).toMatch(new RegExp(`^\\| ${library} +\\| ${version} +\\|`, "m"));
  await hasVerdictsOf(library, example(file));
});

test("python3-saml has the verdicts of the guide", { tags: ["python3-saml"] }, async () => {
  await hasVerdictsOf("python3-saml", ["python3", join(repository, "examples/check-sp/python3_saml.py")]);
});

test.each([
  ["node-saml 5.0.0", "unnoticed", ["digest-comment", "pi-in-nameid"]],
  ["node-saml 5.1.0", "noticed", ["digest-comment", "pi-in-nameid"]],
  ["samlify 2.9.1", "unnoticed", ["xsw-2", "comment-in-nameid", "pi-in-nameid"]],
  ["samlify 2.13.1", "noticed", ["xsw-2", "comment-in-nameid", "pi-in-nameid"]],
] as const)("%s, with its defaults: %s are %j", async (library, verdict, names) => {
  const app = [process.execPath, join(repository, "test/helpers/advised-sp.js"), library];
  const { named, stderr } = await check(
    app,
    names.flatMap((name) => ["--case", name]),
  );
  expect(named(verdict), stderr).toEqual(names);
  const rows = guide.split("\n").filter((line) => line.includes(` ${library} `));
  for (const name of names)
    expect(
      rows.some((row) => row.includes(`\`${name}\``)),
      name,
    ).toBe(true);
});

test.each(["passport-saml", "samlify"])("the lines that the guide shows for %s are in the complete app", (library) => {
  const code = readFileSync(join(repository, `examples/check-sp/${library}-complete.js`), "utf8");
  const [shown = ""] = guide.split(`### ${library}\n`)[1]?.match(/(?<=^```js\n)[\s\S]*?(?=^```$)/m) ?? [];
  expect(shown).not.toBe("");
  for (const part of shown.split("\n\n")) expect(code).toContain(part.trim());
});

test("the command of the pipeline runs", async () => {
  const { code, stdout } = await check(example("passport-saml.js"), [], pipelineWords(guide, "audience-wrong"));
  expect(code, stdout).toBe(0);
});
