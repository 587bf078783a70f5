import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allCases } from "../../src/check/api/cases/list.ts";
import { checkGuide, inCode, leftOut, pipelineWords, withVerdicts } from "../helpers/check-guide.ts";
import { idp, newFolder } from "../helpers/cli.ts";
import { freePort } from "../helpers/port.ts";
import { repository } from "../helpers/readme.ts";

/** docs/check-api.md: its table of cases is complete, its pipeline runs, and its verdicts are those of the installed libraries. */

const guide = checkGuide("check-api");

const example = (library: string): readonly string[] => [join(repository, "examples/check-api", `${library}.js`)];

async function check(api: readonly string[], flags: readonly string[], command?: readonly string[]) {
  const port = await freePort();
  const url = `http://localhost:${port}/orders`;
  const words = command ?? ["check", "api", "--url", url, "--audience", "https://api.test", ...flags, "--json", "--"];
  const given = words.map((word) => word.replace("http://localhost:8080/orders", url));
  return withVerdicts(await idp([...given, process.execPath, ...api], { cwd: newFolder(), env: { PORT: port } }));
}

test("the table names every case", () => {
  expect(leftOut(guide, allCases)).toEqual([]);
});

test.each(["jose", "express-oauth2-jwt-bearer"])(
  "%s with its defaults has the verdicts of the guide",
  async (library) => {
    const [, version = "", noticed = "", works = "", unnoticed = ""] =
      new RegExp(`^\\| ${library} +\\| ([\\d.]+) +\\| (\\d+) +\\| (\\d+) +\\| (.+?) +\\|$`, "m").exec(guide) ?? [];
    const path = join(repository, "node_modules", library, "package.json");
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ version });
    const { named, stdout, stderr } = await check(example(library), []);
    expect(inCode(named("unnoticed"))).toBe(unnoticed);
    expect([named("noticed").length, named("works").length], stdout + stderr).toEqual([Number(noticed), Number(works)]);
  },
);

test.each([
  ["jwt-simple 0.5.2", "alg-confusion", "unnoticed"],
  ["jwt-simple 0.5.6", "alg-confusion", "noticed"],
  ["jsonwebtoken 8.5.1", "alg-none", "unnoticed"],
  ["jsonwebtoken 9", "alg-none", "noticed"],
])("%s in the usage of its advisory: %s is %s", async (library, name, verdict) => {
  const api = [join(repository, "test/helpers/advised-api.js"), library];
  const { named } = await check(api, ["--case", name]);
  expect(named(verdict)).toContain(name);
  const [row = "", version = ""] = library.split(" ");
  expect(guide).toMatch(new RegExp(`^\\| ${row}, .*\\| \`${name}\` .*\\| ${version} \`${verdict}\` +\\|`, "m"));
});

test("@okta/jwt-verifier ends at a token without a signature, and refuses the others", async () => {
  const ended = await check(example("okta-jwt-verifier"), ["--case", "signature-missing"]);
  expect(ended.code).toBe(6);
  expect(ended.named("unnoticed")).toEqual(["signature-missing"]);
  expect(ended.stderr).toContain("the API ended with exit code 1");
  const names = ["expired", "signature-wrong", "alg-none", "aud-wrong", "iss-wrong"];
  const { code, named } = await check(
    example("okta-jwt-verifier"),
    names.flatMap((name) => ["--case", name]),
  );
  expect({ code, noticed: named("noticed").length }).toEqual({ code: 0, noticed: names.length });
});

test("the command of the pipeline runs", async () => {
  const { code, stdout } = await check(example("jose"), [], pipelineWords(guide, "expired"));
  expect(code, stdout).toBe(0);
});
