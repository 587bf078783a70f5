import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { idpIn } from "../helpers/command.ts";
import { startIdp } from "../helpers/cli.ts";
import { blocks } from "../helpers/readme.ts";
import { newProject, shell } from "../helpers/shell.ts";

/** docs/cross-app-access.md: its fixtures, its program and its commands as printed. */

test("a company and a tool: the agent acts for its user at the tool, and a flawed ID-JAG is refused", async () => {
  const { cwd, env } = newProject();
  writeFileSync(join(cwd, "idp.fixtures.yaml"), blocks("A company and a tool", "yaml")[0] ?? "");
  writeFileSync(join(cwd, "agent.mjs"), blocks("The two requests", "js")[0] ?? "");
  const { issuer } = await startIdp([], { cwd, env });
  const place = { cwd, env: { ...env, OIDC_ISSUER: issuer } };
  const [run = ""] = blocks("The two requests", "sh");
  const { code, stdout } = await shell(run, place);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^al files:read\n/) });
  expect(JSON.parse(stdout.slice(stdout.indexOf("\n")))).toMatchObject([
    { user: "al", by: issuer, scope: "files:read" },
  ]);

  const [flawed = ""] = blocks("What the tool refuses", "sh");
  const refused = await shell(`${run.split("\n")[0] ?? ""}\n${flawed}`, place);
  expect(refused).toMatchObject({ code: 0, stdout: expect.stringContaining("the tool refused it\n") });
  expect(refused.stderr).toMatch(/invalid_grant: .*https:\/\/wrong-audience\.invalid|invalid_grant: .*aud/);
});

test("the entries for a provider or a tool of your own are valid", async () => {
  const { cwd } = newProject();
  const [audiences = "", issuers = ""] = blocks("With a provider or a tool of your own", "yaml");
  const indented = (text: string): string => text.replaceAll(/^/gm, "    ");
  const client = "  - client_id: agent\n    redirect_uris: [http://localhost:3000/callback]\n";
  writeFileSync(join(cwd, "f.yaml"), `clients:\n${client}${indented(audiences)}\nsettings:\n${indented(issuers)}\n`);
  expect(await idpIn(cwd, ["seed", "--check", "f.yaml"])).toMatchObject({ code: 0 });
});
