import { expect, test } from "vitest";
import { freePort } from "../../helpers/port.ts";
import { newDatabase, postgresPassword } from "../../helpers/postgres.ts";
import { blocks } from "../../helpers/readme.ts";
import { timeLimit } from "../../helpers/runs.ts";
import { newProject, shell } from "../../helpers/shell.ts";

/** docs/shared-store.md, line by line, as one script. */

test("two instances, commands beside them, and data from a folder and back", { timeout: timeLimit }, async () => {
  const store = new URL(await newDatabase());
  store.password = "";
  const project = newProject();
  const env = { ...project.env, PGPASSWORD: postgresPassword, IDP_ADMIN_TOKEN: "the-admin-token-of-both" };
  const [start = "", compose] = blocks("Start two instances", "sh");
  expect(compose).toMatch(
    /^POSTGRES_PASSWORD=\S+ IDP_ADMIN_TOKEN=\S+ docker compose -f examples\/compose-postgres\.yaml up$/,
  );
  const commands = ["Use commands on the store", "Move data between a folder and the store"].flatMap((heading) =>
    blocks(heading, "sh"),
  );
  let script = ["idp seed", start, ...commands, "idp stop --url http://localhost:4371", "idp status --json"].join("\n");
  for (const port of ["4370", "4371", "4372"]) script = script.replaceAll(port, await freePort());
  const given = "postgres://idp@localhost:5432/idp";
  expect(script).toContain(given);
  const { code, stdout, stderr } = await shell(script.replaceAll(given, store.href), { ...project, env });
  expect(code, stdout + stderr).toBe(0);
  expect(stdout).toContain("Wrote state-of-store.json: 4 users");
  expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toMatchObject({ running: true, store: { instances: 1 } });
  expect(stdout + stderr).not.toContain(postgresPassword);
});
