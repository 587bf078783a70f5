import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { dataUrl, pictures } from "../helpers/pictures.ts";
import { idpIn, startHere } from "../helpers/command.ts";

const write = (cwd: string, name: string, value: unknown): void => {
  writeFileSync(join(cwd, name), typeof value === "string" ? value : JSON.stringify(value, null, 2));
};

test("the default file is applied, then its changes, and the output says so", async () => {
  const cwd = newFolder();
  write(cwd, "idp.fixtures.json", { users: [{ username: "alice" }, { username: "bob" }] });
  expect(await idpIn(cwd, ["seed"])).toEqual({
    code: 0,
    stdout: "idp.fixtures.json: users 2 added\n",
    stderr: "in .idp/data.json\n",
  });
  write(cwd, "idp.fixtures.json", {
    users: [{ username: "alice", email: "a@b.test" }, { username: "bob" }, { username: "eve" }],
  });
  const { stdout } = await idpIn(cwd, ["seed"]);
  expect(stdout).toBe("idp.fixtures.json: users 1 added, 1 changed (alice: email), 1 same\n");
  expect((await idpIn(cwd, ["seed"])).stdout).toBe("idp.fixtures.json: users 3 same\n");
});

test("a running server is seeded where it runs, files and folders alike", async () => {
  const cwd = newFolder();
  await startHere([], { cwd });
  write(cwd, "more.yaml", "users: [{ username: eve }]\nsettings: { access_token_ttl: 77 }\n");
  const { code, stdout, stderr } = await idpIn(cwd, ["seed", "more.yaml", "--json"]);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ users: { added: ["eve"], changed: [], same: 0 } });
  expect(stderr).toMatch(/^via the running server http/);
  // Settings too are in force at once.
  const tokens = await idpIn(cwd, "issue tokens --user eve --client demo-app --json".split(" "));
  expect(JSON.parse(tokens.stdout)).toMatchObject({ expires_in: 77 });
  expect((await idpIn(cwd, ["users", "show", "eve"])).code).toBe(0);
});

test("a logo is read where the command runs; a color that is hard to read is adjusted, and the output says so", async () => {
  const cwd = newFolder();
  await startHere([], { cwd });
  writeFileSync(join(cwd, "logo.svg"), pictures.svg);
  write(cwd, "brand.yaml", 'settings:\n  brand:\n    color: "#fc0"\n    logo: logo.svg\n');
  const adjusted =
    /^brand\.color #fc0 has a contrast of 1\.3:1 on light pages, and text needs 4\.5:1, so they use #[0-9a-f]{6}$/m;
  for (const flags of [["--check"], []]) {
    const { code, stderr } = await idpIn(cwd, ["seed", "brand.yaml", ...flags]);
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(adjusted);
  }
  const { stdout } = await idpIn(cwd, ["export", "--as", "fixtures"]);
  expect(JSON.parse(stdout)).toMatchObject({ settings: { brand: { logo: dataUrl("image/svg+xml", pictures.svg) } } });
  write(cwd, "brand.yaml", "settings:\n  brand:\n    logo: ../logo.svg\n");
  for (const flags of [["--check"], []]) {
    const { code, stderr } = await idpIn(cwd, ["seed", "brand.yaml", ...flags]);
    expect(code).toBe(7);
    expect(stderr).toContain(
      'brand.yaml:3:11 settings.brand.logo "../logo.svg" is not in the folder of the fixture file',
    );
  }
});

const broken = `users:
  - username: alice
    email: alice.example.test
  - username: alice
    langage: en
clients:
  - client_id: web
    redirect_uris: ["http://example.test/cb"]
`;

test.each(["running", "stopped"] as const)(
  "with the server %s every problem of a broken file is reported, and nothing is applied",
  async (mode) => {
    const cwd = newFolder();
    if (mode === "running") await startHere([], { cwd });
    else await idpIn(cwd, ["seed"]);
    write(cwd, "broken.yaml", broken);
    for (const flags of [[], ["--check"]]) {
      const { code, stdout, stderr } = await idpIn(cwd, ["seed", "broken.yaml", ...flags]);
      expect({ code, stdout }).toEqual({ code: 7, stdout: "" });
      const problems = stderr.split("\n").filter((line) => /^broken\.yaml:\d+:\d+ \S+ \S/.test(line));
      expect(problems).toHaveLength(4);
      expect(stderr).toMatch(/^broken\.yaml:3:12 users\[0\]\.email .*alice\.example\.test/m);
      expect(stderr).toMatch(/^broken\.yaml:5:5 users\[1\]\.langage .*Did you mean language/m);
      expect(stderr).toContain("Error: the fixtures have 4 problems; nothing was applied");
    }
    const json = await idpIn(cwd, ["seed", "broken.yaml", "--json"]);
    const { error } = JSON.parse(json.stderr) as { error: { code: string; problems: unknown[] } };
    expect(error.code).toBe("invalid");
    expect(error.problems[0]).toMatchObject({ file: "broken.yaml", line: 3, column: 12, path: "users[0].email" });
    expect((await idpIn(cwd, ["users", "list", "--json"])).stdout).not.toContain('"email":"alice.example.test"');
  },
);

test("--check applies nothing and needs no data", async () => {
  const cwd = newFolder();
  write(cwd, "idp.fixtures.yaml", "users: [{ username: alice }]");
  expect(await idpIn(cwd, ["seed", "--check"])).toMatchObject({
    code: 0,
    stdout: "idp.fixtures.yaml: no problem found\n",
  });
  expect(existsSync(join(cwd, ".idp"))).toBe(false);
});

test("without a file, the fixtures of the running server are checked and applied, never the demo", async () => {
  const cwd = newFolder();
  mkdirSync(join(cwd, "team"));
  write(cwd, "team/a.yaml", "users: [{ username: erin }]");
  await startHere(["--fixtures", "team"], { cwd });
  expect((await idpIn(cwd, ["seed"])).stdout).toBe("team/a.yaml: users 1 same\n");
  write(cwd, "team/a.yaml", "users: [{ username: erin }, { username: fay }]");
  expect((await idpIn(cwd, ["seed", "--check"])).stdout).toBe("team/a.yaml: no problem found\n");
  expect((await idpIn(cwd, ["seed"])).stdout).toBe("team/a.yaml: users 1 added, 1 same\n");
  expect((await idpIn(cwd, ["users", "list", "--json"])).stdout).not.toContain('"alice"');
  write(cwd, "team/a.yaml", "usrs: []");
  for (const flags of [["--check"], []]) {
    const { code, stderr } = await idpIn(cwd, ["seed", ...flags]);
    expect(code).toBe(7);
    expect(stderr).toContain("team/a.yaml:1:1 usrs");
  }
  const doctor = await idpIn(cwd, ["doctor"]);
  expect(doctor.code).toBe(6);
  expect(doctor.stdout.replaceAll(/\s+/g, " ")).toContain("team/a.yaml:1:1 usrs");
});

test("without a file and a server, --check says that it checked the demo; a server with the demo applies it", async () => {
  const cwd = newFolder();
  expect(await idpIn(cwd, ["seed", "--check"])).toEqual({
    code: 0,
    stdout: "built-in demo: no problem found\n",
    stderr: "No fixture file is here, so this is about the demo. To check a file: idp seed --check FILE\n",
  });
  await startHere([], { cwd });
  expect((await idpIn(cwd, ["seed"])).stdout).toMatch(/^the server's fixtures: users 4 /);
});

test("a file that is not there: exit 7", async () => {
  const { code, stdout, stderr } = await idpIn(newFolder(), ["seed", "nowhere.yaml"]);
  expect({ code, stdout }).toEqual({ code: 7, stdout: "" });
  expect(stderr).toContain("file not found: nowhere.yaml");
});

const sections = ["users", "clients", "scopes", "grants", "settings", "workloads", "faults", "issuers"];

test("--fields prints every field with type, default and example; --json as data", async () => {
  const { code, stdout } = await idpIn(newFolder(), ["seed", "--fields"]);
  expect(code).toBe(0);
  expect(stdout).toContain("  code_ttl  whole number or duration\n");
  expect(stdout).toContain("      default: 60\n      example: code_ttl: 5m\n");
  const data = JSON.parse((await idpIn(newFolder(), ["seed", "--fields", "--json"])).stdout) as object;
  expect(Object.keys(data)).toEqual(sections);
});

test("--fields SECTION prints only that section", async () => {
  const { stdout } = await idpIn(newFolder(), ["seed", "--fields", "settings"]);
  expect(stdout).toMatch(/^settings\n {2}code_ttl {2}/);
  expect(stdout).not.toContain("  username");
  const { code, stderr } = await idpIn(newFolder(), ["seed", "--fields", "setings"]);
  expect(code).toBe(2);
  expect(stderr).toContain(`there is no section "setings"; there are ${sections.join(", ")}`);
  expect(stderr).toContain("Did you mean settings?");
});

test("a scope of a client that is not defined is a note, unless the data defines it", async () => {
  const cwd = newFolder();
  const client = { client_id: "shop", redirect_uris: ["http://localhost/cb"], scope: "openid ordrs:read" };
  write(cwd, "idp.fixtures.json", { clients: [client], scopes: { "orders:read": {} } });
  const note = 'Scope "ordrs:read" of client shop is not defined, so it is ignored. Did you mean orders:read?';
  for (const words of [["seed", "--check"], ["seed"]]) {
    expect(await idpIn(cwd, words)).toMatchObject({ code: 0, stderr: expect.stringContaining(note) });
  }
  write(cwd, "scopes.json", { scopes: { "ordrs:read": {} } });
  expect((await idpIn(cwd, ["seed", "scopes.json"])).code).toBe(0);
  expect((await idpIn(cwd, ["seed"])).stderr).not.toContain("is not defined");
});

test("durations, an x- key and a user without an e-mail address; seed says who has none", async () => {
  const cwd = newFolder();
  const text = `x-defaults: &d { password: test }
users:
  - <<: *d
    username: erin
    email: null
    claims: { day: 2024-01-01, no: no }
settings: { code_ttl: 2m, session_ttl: 1h30m }
`;
  writeFileSync(join(cwd, "idp.fixtures.yaml"), text);
  const note = "Without an e-mail address: erin. The service itself always has one.";
  for (const words of [["seed", "--check"], ["seed"]]) {
    expect(await idpIn(cwd, words)).toMatchObject({ code: 0, stderr: expect.stringContaining(note) });
  }
  const state = JSON.parse((await idpIn(cwd, ["export"])).stdout) as { meta?: unknown; users: { email: unknown }[] };
  expect(state.users.map(({ email }) => email)).toEqual([null]);
  expect(JSON.stringify(state)).toContain('"code_ttl":120,"session_ttl":5400');
  expect((await idpIn(cwd, ["users", "list"])).stdout).not.toContain("null");
  const shown = JSON.parse((await idpIn(cwd, ["users", "show", "erin", "--json"])).stdout) as object;
  expect(shown).toMatchObject({ email: null, emailVerified: false, claims: { day: "2024-01-01", no: "no" } });
  expect((await idpIn(cwd, ["users", "edit", "erin", "--email", "erin@example.com"])).code).toBe(0);
});

test("--print-schema prints a JSON Schema that knows the fields of a user", async () => {
  const { code, stdout } = await idpIn(newFolder(), ["seed", "--print-schema"]);
  expect(code).toBe(0);
  const schema = JSON.parse(stdout) as { properties: object };
  expect(Object.keys(schema.properties)).toEqual(
    expect.arrayContaining(["users", "clients", "scopes", "grants", "settings"]),
  );
  expect(stdout).toContain('"birthDate"');
});

test("the data folder is git-ignored and its file is for its owner alone", async () => {
  const cwd = newFolder();
  await idpIn(cwd, ["seed"]);
  expect(readFileSync(join(cwd, ".idp", ".gitignore"), "utf8")).toBe("*\n");
  expect(statSync(join(cwd, ".idp", "data.json")).mode & 0o777).toBe(0o600);
});

test("the issuers that a file names get their fixtures, without a server and beside one", async () => {
  const cwd = newFolder();
  const listed = async () => (await idpIn(cwd, ["users", "list", "--issuer", "shop", "--json"])).stdout;
  const seedShop = async (...users: readonly object[]) => {
    write(cwd, "idp.fixtures.json", JSON.stringify({ issuers: { shop: { users } } }));
    expect((await idpIn(cwd, ["seed"])).code).toBe(0);
  };
  await seedShop({ username: "erin" });
  await seedShop({ username: "erin" }, { username: "fay", password: "of fay" });
  expect(await listed()).toContain('"fay"');
  await startHere([], { cwd });
  await seedShop({ username: "gus" });
  for (const name of ["erin", "fay", "gus"]) expect(await listed()).toContain(`"${name}"`);
});
