import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { idp as command, newFolder, startIdp } from "../helpers/cli.ts";

test("two servers and eight commands on one folder at once: one server runs, the other is refused, no command is lost", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ users: [{ username: "alice" }] }));
  expect((await command(["seed"], { cwd })).code).toBe(0);
  const commands = Array.from({ length: 8 }, (_, index) => command(["users", "add", `user-${index}`], { cwd }));
  const added = await Promise.all(commands);
  expect(added.map(({ code, stderr }) => [code, code === 0 ? "" : stderr])).toEqual(Array(8).fill([0, ""]));

  const server = await startIdp([], { cwd });
  const second = await command(["start", "--port", "auto"], { cwd });
  expect(second.code).toBe(4);
  expect(second.stderr).toContain(server.issuer);
  const more = await Promise.all(
    Array.from({ length: 8 }, (_, index) => command(["users", "suspend", `user-${index}`], { cwd })),
  );
  expect(more.map(({ code }) => code)).toEqual(Array(8).fill(0));
  server.child.kill("SIGKILL");
  await server.ended;
  const { stdout } = await command(["users", "list", "--json"], { cwd });
  const users = JSON.parse(stdout) as { username: string; status: string }[];
  expect(users.filter(({ username, status }) => username.startsWith("user-") && status === "suspended")).toHaveLength(
    8,
  );
});
