import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort } from "../helpers/port.ts";
import { blocks, repository } from "../helpers/readme.ts";
import { newProject, shell } from "../helpers/shell.ts";

/** The resource server of docs/resource-servers.md, and the bad tokens that it has to refuse, as they are printed there. */

const heading = "Negative tests of a resource server";

test("a resource server takes the good token and refuses each of the bad ones", { tags: ["curl"] }, async () => {
  const { cwd, env } = newProject();
  symlinkSync(join(repository, "node_modules", "jose"), join(cwd, "node_modules", "jose"));
  const [port, apiPort] = [await freePort(), await freePort()];
  const onFreePorts = (text = ""): string => text.replaceAll("4370", port).replaceAll("3001", apiPort);
  writeFileSync(join(cwd, "api.mjs"), onFreePorts(blocks(heading, "js")[0]));
  // The guide ends its API: nothing listens there any more.
  const ended = "wait $api || true\n! curl -s -o answer.txt http://localhost:3001/keys";
  const script = onFreePorts(`${blocks(heading, "sh")[0] ?? ""}\n${ended}`);
  const { code, stdout, stderr } = await shell(script, { cwd, env: { ...env, IDP_PORT: port } });
  expect(code, stderr).toBe(0);
  const flaws = "expired not-yet-valid wrong-issuer wrong-audience bad-signature unknown-kid alg-none".split(" ");
  const answers = (check: string): string[] => [`200 ${check} good`, ...flaws.map((flaw) => `401 ${check} ${flaw}`)];
  expect(stdout.split("\n").filter((line) => /^\d{3} /.test(line))).toEqual([
    ...answers("keys"),
    ...answers("introspection"),
    "200 keys revoked",
    "401 introspection revoked",
  ]);
});
