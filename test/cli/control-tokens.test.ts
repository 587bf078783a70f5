import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";

/** `start --control-tokens`: a list of tokens with roles, which is read again when it changes. */

const list = `
- { name: qa, role: tester, token: tester-token-of-qa-1 }
- { name: eyes, role: reader, token: reader-token-of-eyes }
`;

test("a command with a control token does what its role may, and exits 6 for the rest", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "tokens.yaml"), list);
  const { issuer } = await startHere(["--memory", "--control-tokens", "tokens.yaml"], { cwd });
  const as = (token: string) => ({ IDP_ADMIN_TOKEN: token });
  const url = ["--url", issuer];
  const qa = as("tester-token-of-qa-1");
  expect(await idpIn(cwd, ["users", "suspend", "bob", ...url], "", qa)).toMatchObject({ code: 0 });
  const reset = await idpIn(cwd, ["reset", "--yes", ...url], "", qa);
  expect(reset).toMatchObject({ code: 6, stdout: "" });
  expect(reset.stderr).toContain("'qa' is a tester: reset needs an admin");
  const acts = await idpIn(cwd, ["acts", "--json", ...url], "", as("reader-token-of-eyes"));
  expect(JSON.parse(acts.stdout)).toMatchObject([
    { by: "qa", role: "tester", command: "idp users suspend bob", status: 200 },
    { by: "qa", role: "tester", command: "idp reset", status: 403 },
  ]);
});

test("a tester signs in and gets the settings of a client that has no secret; another one's secret is refused", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "tokens.yaml"), list);
  const { issuer } = await startHere(["--memory", "--control-tokens", "tokens.yaml"], { cwd });
  const qa = (words: string) =>
    idpIn(cwd, [...words.split(" "), "--url", issuer], "", { IDP_ADMIN_TOKEN: "tester-token-of-qa-1" });
  expect(await qa("login --user alice --approve")).toMatchObject({ code: 0 });
  expect(await qa("env --client demo-spa")).toMatchObject({ code: 0, stdout: expect.stringContaining("demo-spa") });
  for (const words of ["login --client demo-app --user alice --approve", "env --client demo-app"]) {
    const { code, stderr } = await qa(words);
    expect({ code, stderr }).toMatchObject({ code: 6, stderr: expect.stringContaining("'qa' is a tester: clients") });
  }
});

test("who did what has the time of the operators, however they moved the clock, and a restore forgets none of it", async () => {
  const cwd = newFolder();
  await startHere(["--memory"], { cwd });
  const began = Date.now();
  for (const words of ["snapshots save s", "clock advance 2h", "users suspend bob", "snapshots restore s"]) {
    expect(await idpIn(cwd, words.split(" "))).toMatchObject({ code: 0 });
  }
  const { stdout } = await idpIn(cwd, ["acts", "--json"]);
  const acts = JSON.parse(stdout) as { readonly command: string; readonly time: string }[];
  expect(acts.map(({ command }) => command)).toEqual([
    "idp snapshots save s",
    "idp clock advance 2h",
    "idp users suspend bob",
    "idp snapshots restore s",
  ]);
  const times = acts.map(({ time }) => Date.parse(time));
  expect(times.filter((time) => time < began || time > Date.now())).toEqual([]);
});

test.each([
  ["a role that there is not", "- { name: qa, role: boss, token: tester-token-of-qa-1 }", "tokens.yaml:1:21 [0].role"],
  ["a short token", "- { name: qa, role: tester, token: short }", "tokens.yaml:1:36 [0].token"],
  ["the name admin", "- { name: admin, role: tester, token: tester-token-of-qa-1 }", "tokens.yaml:1:11 [0].name"],
  ["one name twice", `${list}- { name: qa, role: reader, token: another-token-of-qa }`, "tokens.yaml:4:11 [2].name"],
  ["one token twice", `${list}- { name: x, role: reader, token: tester-token-of-qa-1 }`, "tokens.yaml:4:35 [2].token"],
  ["no list", "name: qa", "tokens.yaml:1:1"],
])("%s is refused with its position: exit 7, and no token is repeated", async (_name, text, place) => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "tokens.yaml"), text);
  const { code, stderr } = await idpIn(cwd, ["start", "--memory", "--port", "auto", "--control-tokens", "tokens.yaml"]);
  expect({ code, place: stderr.includes(place) }, stderr).toEqual({ code: 7, place: true });
  expect(stderr).not.toContain("token-of-qa");
});

test("IDP_CONTROL_TOKENS may be the list itself, and no child of exec gets it", async () => {
  const cwd = newFolder();
  const tokens = JSON.stringify([{ name: "qa", role: "tester", token: "tester-token-of-qa-1" }]);
  const { issuer } = await startHere(["--memory"], { cwd, env: { IDP_CONTROL_TOKENS: tokens } });
  const env = { IDP_ADMIN_TOKEN: "tester-token-of-qa-1" };
  expect((await idpIn(cwd, ["users", "list", "--url", issuer], "", env)).code).toBe(0);
  const print = ["exec", "--", process.execPath, "-e", "process.exitCode = process.env.IDP_CONTROL_TOKENS ? 1 : 0"];
  expect((await idpIn(cwd, print, "", { IDP_CONTROL_TOKENS: tokens })).code).toBe(0);
});

test("the list is read again when it changes; one with a problem changes nothing", async () => {
  const cwd = newFolder();
  const file = join(cwd, "tokens.yaml");
  writeFileSync(file, list);
  const { issuer, output } = await startHere(["--memory", "--control-tokens", "tokens.yaml"], { cwd });
  const codeOf = async (token: string): Promise<number> =>
    (await fetch(`${issuer}/_idp/api/users`, { headers: { authorization: `Bearer ${token}` } })).status;
  writeFileSync(file, list.replaceAll("eyes", "seer"));
  await expect
    .poll(() => output.stderr)
    .toContain("tokens.yaml: the control tokens are now qa (tester), seer (reader)");
  expect(await codeOf("reader-token-of-seer")).toBe(200);
  expect(await codeOf("reader-token-of-eyes")).toBe(401);
  writeFileSync(file, "- { name: qa }");
  await expect.poll(() => output.stderr).toContain("tokens.yaml: the control tokens stay as they were");
  expect(await codeOf("reader-token-of-seer")).toBe(200);
});
