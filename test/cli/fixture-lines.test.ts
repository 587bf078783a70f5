import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder, startIdp } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";

/** After a change, the lines that the fixture file lacks are printed. */

const fixtures = {
  users: [{ username: "alice", password: "alice" }, { username: "bob" }],
  clients: [{ client_id: "app", client_secret: "app-secret", redirect_uris: ["http://localhost:3000/callback"] }],
};

test("a change to a client prints the lines that its fixture file lacks", async () => {
  const cwd = newFolder();
  const app = "client_id: app, client_secret: s, audience: api, redirect_uris: [http://localhost:1/]";
  writeFileSync(join(cwd, "idp.fixtures.yaml"), `clients: [{ ${app} }]`);
  await idpIn(cwd, ["seed"]);
  const said = async (flags: string, command = "edit app"): Promise<readonly string[]> =>
    (await idpIn(cwd, `clients ${command} ${flags}`.trim().split(" "), "another\n")).stderr.split("\n").slice(0, -2);
  const lacking =
    "idp.fixtures.yaml does not have this change yet, and idp reset undoes it. To keep it, change client app there:";
  expect(await said("--add-redirect-uri http://localhost:2/ --set audience=null --secret-stdin")).toEqual([
    lacking,
    "  remove audience",
    '  redirect_uris: ["http://localhost:1/","http://localhost:2/"]',
    '  client_secret: "<its secret>"',
  ]);
  expect(await said("--add-redirect-uri http://localhost:2/")).toEqual([]);
  expect(await said("--remove-redirect-uri http://localhost:2/")).toEqual([
    lacking,
    '  redirect_uris: ["http://localhost:1/"]',
  ]);
  expect(await said("--secret-stdin --yes", "rotate-secret app")).toEqual([lacking, '  client_secret: "<its secret>"']);
  const entry = [
    "idp.fixtures.yaml does not have this client yet, and idp reset removes it. To keep it, add it to clients:",
    '  - client_id: "shop"',
    '    client_secret: "<its secret>"',
    '    redirect_uris: ["http://localhost:3/"]',
  ];
  expect(await said("--redirect-uri http://localhost:3/ --secret-stdin", "add shop")).toEqual(entry);
  expect(await said("--name Shop", "edit shop")).toEqual([...entry, '    client_name: "Shop"']);
  const credentials = '[{"issuer":"https://ci.test","subject":"s","audience":"a"}]';
  const deploy = `--set grant_types=["client_credentials"] --set federated_credentials=${credentials}`;
  expect(await said(deploy, "add deploy")).toContain(`    federated_credentials: ${credentials}`);
  expect(await said("--name Deploy", "edit deploy")).not.toContain('    client_secret: "<its secret>"');
  expect(await said("--yes", "remove shop")).toEqual(["Its tokens get 401 from now on."]);
  expect(await said("--yes", "remove app")).toEqual([
    "Its tokens get 401 from now on.",
    "idp.fixtures.yaml still has app, and idp reset brings it back. Remove it there too.",
  ]);
});

test("the lines are for the file that a running server uses, wherever the command is typed", async ({
  onTestFinished,
}) => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "users.json"), JSON.stringify({ users: fixtures.users }));
  writeFileSync(join(cwd, "apps.json"), JSON.stringify({ clients: fixtures.clients }));
  await startIdp(["--fixtures", "users.json", "--fixtures", "apps.json"], { cwd }, onTestFinished);
  const elsewhere = (words: string) => idpIn(newFolder(), [...words.split(" "), "--data", join(cwd, ".idp")]);
  expect((await elsewhere("clients edit app --name App")).stderr).toContain(
    'apps.json does not have this change yet, and idp reset undoes it. To keep it, change client app there:\n  "client_name": "App"\n',
  );
  expect((await elsewhere("clients add spa --public --redirect-uri http://localhost:3/")).stderr).toContain(
    'add it to clients:\n  { "client_id": "spa", "redirect_uris": ["http://localhost:3/"], "token_endpoint_auth_method": "none" }\n',
  );
});

test("on a folder the lines are for the file that the data were made from, and not for another one that is there", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "team.json"), JSON.stringify(fixtures));
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ users: [{ username: "carol" }] }));
  await idpIn(cwd, ["seed", "team.json"]);
  const edited = await idpIn(cwd, "clients edit app --name App".split(" "));
  expect(edited.stderr).toContain("team.json does not have this change yet");
  await idpIn(cwd, "issuers add tenant".split(" "));
  const users = await idpIn(cwd, "users list --issuer tenant --json".split(" "));
  expect(JSON.parse(users.stdout)).toMatchObject([{ username: "alice" }, { username: "bob" }]);
  rmSync(join(cwd, "team.json"));
  expect((await idpIn(cwd, "clients edit app --name Other".split(" "))).stderr).not.toContain("does not have this");
});

test("without fixture files there is nothing to write", async () => {
  const cwd = newFolder();
  await idpIn(cwd, ["seed", "-"], JSON.stringify(fixtures));
  expect((await idpIn(cwd, ["clients", "edit", "app", "--name", "App"])).stderr).toBe(
    `in ${join(".idp", "data.json")}\n`,
  );
});
