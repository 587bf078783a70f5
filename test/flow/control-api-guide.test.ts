import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { blocks } from "../helpers/readme.ts";
import { newProject, shell } from "../helpers/shell.ts";

/** docs/control-api.md: its script runs as printed, and leaves no server behind. */

test("the fixture as a script", { tags: ["bash", "curl"] }, async () => {
  const { cwd, env } = newProject();
  const [script = ""] = blocks("The whole fixture as a script", "bash");
  writeFileSync(join(cwd, "fixture.sh"), script);
  const { code, stdout, stderr } = await shell("bash -e fixture.sh", { cwd, env });
  expect(code, stderr).toBe(0);
  const answers = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(answers).toMatchObject([
    { name: "t1", users: 1, clients: 1 },
    [{ client_id: "shop", client_secret: "s" }],
    { url: expect.stringMatching(/^http:\/\/localhost:3000\/callback\?code=.*state=some-state/) },
    { token_type: "Bearer", scope: "openid email" },
    { username: "erin", status: "suspended" },
    { revoked: [{ user: "erin", client: "shop" }] },
    { frozen: false },
    { endpoint: "token", status: 503 },
    { met: true },
    [],
  ]);
  const { issuer } = answers[0] as { readonly issuer: string };
  await expect(fetch(`${issuer}/_idp/health`)).rejects.toThrow();
});
