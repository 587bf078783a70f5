import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";

/** Users as a team has them: roles that tell them apart, and commands that name several. */

const users = [
  { username: "alice", claims: { roles: ["admin", "editor"] } },
  { username: "bob", claims: { roles: "editor" } },
  { username: "carol", status: "suspended", claims: { roles: ["editor"] } },
  { username: "dave" },
];

async function seeded(of: readonly object[] = users): Promise<(words: string) => ReturnType<typeof idpIn>> {
  const cwd = newFolder();
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ users: of }));
  expect((await idpIn(cwd, ["seed"])).code).toBe(0);
  return (words) => idpIn(cwd, words.split(" "));
}

test("users list shows the roles of each, and only those with a role or a status", async () => {
  const run = await seeded();
  expect((await run("users list")).stdout).toBe(
    [
      "USERNAME  EMAIL               STATUS     ROLES         NAME",
      "alice     alice@example.test  active     admin editor  alice",
      "bob       bob@example.test    active     editor        bob",
      "carol     carol@example.test  suspended  editor        carol",
      "dave      dave@example.test   active                   dave",
      "",
    ].join("\n"),
  );
  const names = async (flags: string): Promise<unknown> =>
    (JSON.parse((await run(`users list ${flags} --json`)).stdout) as { username: string }[]).map(
      ({ username }) => username,
    );
  expect(await names("--role editor")).toEqual(["alice", "bob", "carol"]);
  expect(await names("--role editor --status active")).toEqual(["alice", "bob"]);
  expect(await names("--status banned")).toEqual([]);
  expect((await run("users list --role owner")).stdout).toBe('No user has the role "owner". Roles: admin, editor\n');
  expect((await run("users list --status banned")).stdout).toBe("No user matches.\n");
});

test("where nobody has a role, there is no column for roles", async () => {
  const run = await seeded([{ username: "dave" }]);
  expect((await run("users list")).stdout).toMatch(/^USERNAME +EMAIL +STATUS +NAME\n/);
  expect((await run("users list --role admin")).stdout).toBe(
    'No user has the role "admin". Roles come from claims.roles, and no user has any.\n',
  );
});
