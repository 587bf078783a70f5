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
      "USERNAME  EMAIL              STATUS     ROLES         NAME",
      "alice     alice@example.com  active     admin editor  alice",
      "bob       bob@example.com    active     editor        bob",
      "carol     carol@example.com  suspended  editor        carol",
      "dave      dave@example.com   active                   dave",
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
  expect(await names("--group staff")).toEqual([]);
  expect((await run("users list --group staff")).stdout).toBe(
    'No user has the group "staff". Groups come from claims.groups, and no user has any.\n',
  );
  expect((await run("users list --role owner")).stdout).toBe('No user has the role "owner". Roles: admin, editor\n');
  expect((await run("users list --status banned")).stdout).toBe("No user matches.\n");
});

test("users list --group finds the users of a group", async () => {
  const run = await seeded([{ username: "dave", claims: { groups: ["staff", "night"] } }, { username: "erin" }]);
  expect((await run("users list --group staff --json")).stdout).toMatch(/"dave"(?!.*"erin")/s);
  expect((await run("users list --group day")).stdout).toBe('No user has the group "day". Groups: night, staff\n');
});

test("without roles, there is no column for roles", async () => {
  const run = await seeded([{ username: "dave" }]);
  expect((await run("users list")).stdout).toMatch(/^USERNAME +EMAIL +STATUS +NAME\n/);
  expect((await run("users list --role admin")).stdout).toBe(
    'No user has the role "admin". Roles come from claims.roles, and no user has any.\n',
  );
});

test("users list shows the note of users without roles", async () => {
  const note = "never pays";
  const run = await seeded([{ username: "dave", note }]);
  expect((await run("users list")).stdout).toBe(
    "USERNAME  EMAIL             STATUS  NOTE        NAME\ndave      dave@example.com  active  never pays  dave\n",
  );
  expect(JSON.parse((await run("users show dave --json")).stdout)).toMatchObject({ note });
  expect((await run("users edit dave --set note=")).stderr).toContain("note must be one line of 1 to 60 characters");
  expect(JSON.parse((await run("export --as fixtures")).stdout)).toMatchObject({ users: [{ note }] });
  expect((await run("users edit dave --set note=null --json")).stdout).toContain('"note":null');
});

test("suspend, restore, ban and remove take several names; an unknown one is refused before anything is done", async () => {
  const run = await seeded();
  const statuses = async (): Promise<unknown> =>
    (JSON.parse((await run("users list --json")).stdout) as { status: string }[]).map(({ status }) => status);
  const unknown = await run("users suspend alice nobody");
  expect(unknown).toMatchObject({ code: 3, stderr: expect.stringContaining('no user "nobody"') });
  expect(await statuses()).toEqual(["active", "active", "suspended", "active"]);
  const suspended = await run("users suspend alice bob alice");
  expect(suspended.stdout).toBe(
    "alice is suspended: sign-in is refused, and tokens get 403.\nbob is suspended: sign-in is refused, and tokens get 403.\n",
  );
  expect(suspended.stderr).toContain("Undo: idp users restore alice bob\n");
  const restored = await run("users restore bob carol --json");
  expect(JSON.parse(restored.stdout)).toMatchObject([
    { username: "bob", status: "active" },
    { username: "carol", status: "active" },
  ]);
  expect((await run("users ban bob carol")).stdout).toMatch(/^bob is banned\..*\ncarol is banned\..*\n$/);
  expect(await statuses()).toEqual(["suspended", "banned", "banned", "active"]);
  expect(JSON.parse((await run("users remove bob carol --json")).stdout)).toEqual({ removed: ["bob", "carol"] });
  expect((await run("users remove alice")).stdout).toBe("Removed alice, with their grants and sessions.\n");
  expect(await statuses()).toEqual(["active"]);
});

test("users edit --add-claim sets one claim and keeps the others", async () => {
  const run = await seeded([{ username: "erin", claims: { tenant: "acme", roles: ["editor"] } }]);
  const edited = await run('users edit erin --add-claim roles=["admin"] --add-claim level=3 --json');
  expect(JSON.parse(edited.stdout)).toMatchObject({ claims: { tenant: "acme", roles: ["admin"], level: 3 } });
  expect(await run("users edit erin --add-claim a=1 --set claims={}")).toMatchObject({
    code: 2,
    stderr: "Error: give --add-claim or --set claims, not both\n",
  });
});

test("users add --add-claim gives the new user claims", async () => {
  const run = await seeded();
  const added = await run('users add gina --add-claim roles=["admin"] --add-claim level=3 --json');
  expect(JSON.parse(added.stdout)).toMatchObject({ username: "gina", claims: { roles: ["admin"], level: 3 } });
  expect(await run("users add hans --add-claim a=1 --set claims={}")).toMatchObject({
    code: 2,
    stderr: "Error: give --add-claim or --set claims, not both\n",
  });
});

test.each([
  ["users edit alice --set roles=admin", "idp users edit alice --add-claim roles=admin"],
  ["users edit alice --set claims.team=[1]", "idp users edit alice --add-claim 'team=[1]'"],
  ['users add gina --set roles=["admin"]', `idp users add gina --add-claim 'roles=["admin"]'`],
  ["users add gina --set claims.a.b=x", "idp users add gina --add-claim a.b=x"],
])("idp %s: claims are not fields, and the hint sets the claim", async (words, command) => {
  const run = await seeded();
  const { code, stderr } = await run(words);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^Error: --set \S+ is an unknown key\. Put it in the claims of the user\n/);
  expect(stderr).toContain(`Set the claim: ${command}\n`);
  expect((await run(command.slice("idp ".length).replaceAll("'", ""))).code).toBe(0);
});

test("a field of --set is named as it was typed, even where a flag sets nearly the same", async () => {
  const run = await seeded();
  await run("clients add app --redirect-uri http://localhost:3000/callback");
  const { code, stderr } = await run("clients edit app --set redirect_uri=x");
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/^Error: --set redirect_uri is an unknown key\. Did you mean redirect_uris\?\n/),
  });
  expect((await run("clients edit app --set redirect_uris=x")).stderr).toContain("--set redirect_uris must be a");
  expect((await run("clients edit app --redirect-uri x")).stderr).toContain('Error: --redirect-uri "x" is');
});
