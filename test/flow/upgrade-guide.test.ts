import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { load } from "js-yaml";
import { newFolder, startIdp } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";
import { blocks } from "../helpers/readme.ts";

/** docs/upgrade.md, and the export of docs/fixtures.md: the lines run as printed. */

const linesOf = (heading: string, first: string): readonly string[] =>
  (blocks(heading, "sh").find((block) => block.startsWith(first)) ?? "").split("\n");

test("the lines of the upgrade guide run in this order, and tokens stay valid", async () => {
  const cwd = newFolder();
  const { issuer } = await startIdp([], { cwd });
  const { stdout: token } = await idpIn(cwd, ["token", "issue", "--user", "alice", "--client", "demo-app"]);
  const lines = linesOf("Move to a newer version", "idp stop");
  expect(lines.at(-1)).toBe("idp start");
  for (const line of lines.slice(0, -1).filter((one) => one.startsWith("idp "))) {
    expect([line, (await idpIn(cwd, line.split(" ").slice(1), "", { IDP_PORT: "auto" })).code]).toEqual([line, 0]);
  }
  expect(existsSync(join(cwd, "before-upgrade.json"))).toBe(true);
  // On another port here, and the issuer is that of before.
  await startIdp(["--issuer", issuer], { cwd });
  expect(await idpIn(cwd, ["token", "verify", "-"], token)).toMatchObject({ code: 0 });
});

test("the export as fixtures is a file that starts a server with the same records; state has no YAML", async () => {
  const cwd = newFolder();
  const users = [{ username: "alice", claims: { zip: "007", share: "1.10", day: "2024-01-01", no: "no" } }];
  writeFileSync(join(cwd, "before.json"), JSON.stringify({ users }));
  await startIdp(["--fixtures", "before.json"], { cwd });
  const [line = ""] = linesOf("Reset, export, import, watch", "idp export --as fixtures");
  expect(await idpIn(cwd, line.split(" ").slice(1))).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Wrote /),
  });
  expect(await idpIn(cwd, ["seed", "--check", "exported.yaml"])).toMatchObject({ code: 0 });
  expect(load(readFileSync(join(cwd, "exported.yaml"), "utf8"))).toMatchObject({ users });
  const printed = await idpIn(cwd, ["export", "--as", "fixtures"]);
  expect(JSON.parse(printed.stdout)).toMatchObject({ users });
  expect(printed.stderr).toMatch(/It is JSON\. For YAML: idp export --as fixtures --output exported\.yaml\n$/);
  expect((await idpIn(cwd, ["export"])).stderr).not.toContain("YAML");
  expect(await idpIn(cwd, ["export", "--output", "state.yaml"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("only fixtures are written as YAML"),
  });
});
