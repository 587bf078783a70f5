import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createIdp } from "../../src/index.ts";
import { idp, newFolder } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";

/** Users and clients that are added, changed and removed one at a time: the same with the server running and stopped. */

const fixtures = {
  users: [{ username: "alice", password: "alice" }, { username: "bob" }],
  clients: [{ client_id: "app", client_secret: "app-secret", redirect_uris: ["http://localhost:3000/callback"] }],
};

for (const mode of ["running", "stopped"] as const) {
  describe(`with the server ${mode}`, () => {
    const cwd = newFolder(afterAll);
    beforeAll(async () => {
      const server = await createIdp({ data: join(cwd, ".idp"), port: 0, fixtures });
      if (mode === "stopped") await server.close();
      return () => server.close();
    });

    /** Runs a command with --json: its exit code and the one document that it printed. */
    async function run(args: readonly string[], input = ""): Promise<{ code: number | null; json: unknown }> {
      const { code, stdout, stderr } = await idpIn(cwd, [...args, "--json"], input);
      return { code, json: JSON.parse(code === 0 ? stdout : (stderr.split("\n")[0] ?? "")) as unknown };
    }
    const line = (text: string, input?: string) => run(text.split(" "), input);
    const error = (code: string, more: object = {}): unknown => ({ error: expect.objectContaining({ code, ...more }) });

    test("a user is added, changed, renamed and removed", async () => {
      const added = await line(
        "users add erin --email erin@example.com --set language=tr --password-stdin",
        "s3cret\n",
      );
      expect(added).toMatchObject({
        code: 0,
        json: { username: "erin", email: "erin@example.com", language: "tr", status: "active", hasPassword: true },
      });
      expect(JSON.stringify(added)).not.toContain("s3cret");
      expect(await line("users add erin")).toEqual({ code: 4, json: error("conflict") });
      expect(await line("users edit erin --set displayName=42x --set website=null")).toMatchObject({
        code: 0,
        json: { displayName: "42x", language: "tr", hasPassword: true },
      });
      expect(await line("users edit erin --set displayName=42 --set phone=null")).toMatchObject({
        code: 0,
        json: { displayName: "42", phone: null },
      });
      expect(await line("users edit erin --set username=bob")).toEqual({ code: 4, json: error("conflict") });
      expect(await line("users edit erin --set username=erna")).toMatchObject({ code: 0, json: { username: "erna" } });
      expect(await line("users edit erin --status banned")).toEqual({ code: 3, json: error("not_found") });
      expect(await line("users edit erna --set id=1")).toEqual({ code: 4, json: error("conflict") });
      expect(await line("users remove erna")).toEqual({ code: 0, json: { removed: "erna" } });
      expect(await line("users remove erna")).toMatchObject({ code: 3, json: error("not_found") });
    });

    test("the problems of a user are reported field by field, and nothing is changed", async () => {
      const wrong = await line("users add fay --email nowhere --set languge=tr");
      expect(wrong).toEqual({
        code: 2,
        json: error("usage", {
          problems: [
            { path: "email", message: expect.any(String) },
            { path: "languge", message: expect.stringContaining("language") },
          ],
        }),
      });
      expect(await line("users show fay")).toMatchObject({ code: 3 });
    });

    test("an id that JavaScript cannot hold stays to the digit", async () => {
      expect(await line("users add gus --set id=7123456789012345677")).toMatchObject({
        code: 0,
        json: { id: "7123456789012345677" },
      });
      expect(await line('users edit gus --set claims={"tenant":7123456789012345678}')).toEqual({
        code: 2,
        json: error("usage", {
          problems: [{ path: "claims.tenant", message: expect.stringContaining("put it in quotes") }],
        }),
      });
      expect(await line("users add hal --set id=7123456789012345677")).toEqual({ code: 4, json: error("conflict") });
    });

    test("a ban by edit revokes grants; removing a user removes theirs", async () => {
      const granted = await line("issue grant --user bob --client app");
      expect(granted.code).toBe(0);
      expect(await line("users edit bob --status banned")).toMatchObject({ code: 0, json: { status: "banned" } });
      expect((await line("grants list --user bob")).json).toMatchObject([{ status: "revoked" }]);
      expect((await line("users remove bob")).code).toBe(0);
      expect((await line("grants list")).json).toEqual([]);
    });

    test("a client gets a secret that is shown once, is changed, rotated and removed", async () => {
      const added = await line(
        "clients add shop --redirect-uri http://localhost:1/cb --redirect-uri http://localhost:2/cb",
      );
      expect(added).toMatchObject({
        code: 0,
        json: {
          client_id: "shop",
          client_secret: expect.stringMatching(/^[\w-]{43}$/),
          redirect_uris: ["http://localhost:1/cb", "http://localhost:2/cb"],
          public: false,
        },
      });
      expect((await line("clients show shop")).json).not.toHaveProperty("client_secret");
      expect(await line("clients add shop --redirect-uri http://localhost:1/cb")).toEqual({
        code: 4,
        json: error("conflict"),
      });
      expect(await run(["clients", "edit", "shop", "--scope", "openid email", "--set", "audience=api"])).toMatchObject({
        code: 0,
        json: { scope: "openid email", audience: "api" },
      });
      expect(await line("clients edit shop --set default_max_age=60 --set client_name=7")).toMatchObject({
        code: 0,
        json: { default_max_age: 60, client_name: "7" },
      });
      expect((await line("clients edit shop --set audience=null")).json).not.toHaveProperty("audience");
      const rotated = (await line("clients rotate-secret shop")).json as { readonly client_secret: string };
      expect((await line("clients show shop --show-secrets")).json).toMatchObject(rotated);
      expect(rotated.client_secret).not.toBe((added.json as typeof rotated).client_secret);
      expect((await line("clients rotate-secret shop --secret-stdin", "mine\n")).json).not.toHaveProperty(
        "client_secret",
      );
      expect((await line("clients show shop --show-secrets")).json).toMatchObject({ client_secret: "mine" });
      expect((await line("issue grant --user alice --client shop")).code).toBe(0);
      expect(await line("clients remove shop")).toEqual({ code: 0, json: { removed: "shop" } });
      expect((await line("grants list --user alice")).json).toEqual([]);
      expect(await line("clients remove shop")).toMatchObject({ code: 3 });
    });

    test("a public client has no secret, and becomes confidential with one", async () => {
      const added = await line("clients add spa --public --redirect-uri http://localhost:5173/cb");
      expect(added).toMatchObject({ code: 0, json: { public: true } });
      expect(added.json).not.toHaveProperty("client_secret");
      expect(await line("clients rotate-secret spa")).toEqual({ code: 6, json: error("refused") });
      expect(await line("clients edit spa --secret-stdin", "mine")).toMatchObject({ code: 0, json: { public: false } });
      expect(await line("clients edit spa --public")).toMatchObject({ code: 0, json: { public: true } });
      expect((await line("clients show spa --show-secrets")).json).not.toHaveProperty("client_secret");
      expect(await line("clients add bad --redirect-uri ftp://x")).toEqual({
        code: 2,
        json: error("usage", { problems: [{ path: "redirect_uris[0]", message: expect.any(String) }] }),
      });
    });

    test("one grant is revoked by its id", async () => {
      const { id } = (await line("issue grant --user alice --client app")).json as { readonly id: string };
      expect(await line(`grants revoke ${id}`)).toMatchObject({
        code: 0,
        json: { revoked: [{ id, status: "revoked" }] },
      });
      expect(await line(`grants revoke ${id}`)).toEqual({ code: 0, json: { revoked: [] } });
      expect(await line("grants revoke g_nope")).toEqual({ code: 3, json: error("not_found") });
    });
  });
}

test("a new client without a redirect URI, off a terminal: exit 2, naming the flag", async () => {
  const cwd = newFolder();
  const { code, stdout, stderr } = await idpIn(cwd, "clients add shop".split(" "));
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("idp clients add shop --redirect-uri http://localhost:3000/callback");
});

test("a wrong value names its flag, and the help of the command", async () => {
  const cwd = newFolder();
  await idpIn(cwd, ["seed"]);
  const { code, stderr } = await idpIn(cwd, "users add fay --email nowhere".split(" "));
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(
      /^Error: --email "nowhere" is not an e-mail address\n {2}See: idp users add --help\n$/,
    ),
  });
  const unknown = await idpIn(cwd, "users edit alice --set shoe=42".split(" "));
  expect(unknown.stderr).toBe("Error: --set shoe is an unknown key\n  Every field: idp seed --fields users\n");
});

test("a value that a flag adds or removes names that flag, and the claim", async () => {
  const cwd = newFolder();
  await idpIn(cwd, ["seed"]);
  const said = async (words: string) => (await idpIn(cwd, words.split(" "))).stderr.split("\n")[0];
  expect(await said("users edit alice --add-claim sub=1 --add-claim roles=a")).toMatch(
    /^Error: --add-claim sub is set/,
  );
  expect(await said('users edit alice --set claims={"sub":1}')).toMatch(/^Error: --set claims\.sub is set/);
  expect(await said("clients edit demo-app --add-redirect-uri nowhere")).toMatch(
    /^Error: --add-redirect-uri "nowhere" is not absolute/,
  );
  expect(await said("clients edit demo-app --remove-redirect-uri http://localhost:3000/callback")).toMatch(
    /^Error: --remove-redirect-uri needs an address for authorization_code/,
  );
});

// A process of its own: in this one, helpers/quick-crypto.ts makes hashes quick.
test("a password that is set is kept as a scrypt hash at its full cost, and one of a fixture at a lower one", async () => {
  const cwd = newFolder();
  expect((await idp(["seed"], { cwd })).code).toBe(0);
  expect((await idp("users edit bob --password-stdin".split(" "), { cwd, input: "s3cret" })).code).toBe(0);
  interface User {
    readonly username: string;
    readonly passwordHash: string;
  }
  const { users } = JSON.parse((await idp(["export"], { cwd })).stdout) as { readonly users: readonly User[] };
  const costs = users.map(({ username, passwordHash }) => [
    username,
    /^scrypt\$(\d+)\$8\$1\$[\w-]{22}\$[\w-]{43}$/.exec(passwordHash)?.[1],
  ]);
  expect(Object.fromEntries(costs)).toEqual({ alice: "512", bob: "16384", carol: "512", dave: "512" });
});

test("users show: a field that holds several values in lines of their own, as JSON that reads back", async () => {
  const cwd = newFolder();
  await idpIn(cwd, ["seed"]);
  const { stdout } = await idpIn(cwd, "users show alice".split(" "));
  const lines = stdout.split("\n").map((line) => line.trim());
  expect(lines).toContain('claims       given_name: "Alice"');
  expect(lines).toContain('roles: ["admin"]');
  const address = lines.find((line) => line.startsWith("address: ")) ?? "";
  expect(JSON.parse(address.slice("address: ".length))).toMatchObject({ formatted: expect.stringContaining("\n") });
});

test("diff has a line for each record: what changed of it, + for one only in the data, - for a missing one", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify(fixtures));
  const data = (...words: string[]) => idpIn(cwd, words);
  await data("seed");
  expect(await data("diff")).toMatchObject({ code: 0, stdout: "Nothing differs from the fixtures.\n" });
  await data("users", "edit", "bob", "--display-name", "Bobby", "--email", "bobby@example.com");
  await data("users", "add", "zoe");
  await data("clients", "remove", "app", "--yes");
  expect(await data("diff")).toMatchObject({
    code: 6,
    stdout:
      "users  bob  displayName: bob -> Bobby  email: bob@example.com -> bobby@example.com\n" +
      "users  + zoe\nclients  - app\n",
    stderr: expect.stringMatching(/^Error: 3 records differ from the fixtures\n/) as string,
  });
});

test("an edit prints the old and new values, and of a secret only that it changed", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify(fixtures));
  expect((await idpIn(cwd, ["seed", join(cwd, "idp.fixtures.json")])).code).toBe(0);
  const told = async (words: readonly string[], input = "") => (await idpIn(cwd, words, input)).stdout;
  const uris = ["http://localhost:4000/a", "http://localhost:4000/b"];
  const edit = ["clients", "edit", "app", ...uris.flatMap((uri) => ["--redirect-uri", uri])];
  expect(await told(edit)).toBe(`Changed app\n  redirect_uris  http://localhost:3000/callback -> ${uris.join(" ")}\n`);
  expect(await told(edit)).toBe("No change: app already has these values\n");
  expect(await told(["users", "edit", "bob", "--set", "displayName=B\u001b[2J", "--set", "about=x"])).toBe(
    "Changed bob\n  displayName  bob -> B\\u001b[2J\n  about        nothing -> x\n",
  );
  // Values are escaped for display only, not for the comparison.
  expect(await told(["users", "edit", "bob", "--set", "about=y"])).toBe("Changed bob\n  about  x -> y\n");
  const contacts = (value: readonly string[]) =>
    told(["clients", "edit", "app", "--set", `contacts=${JSON.stringify(value)}`]);
  await contacts(["a b", "c"]);
  expect(await contacts(["a", "b c"])).toMatch(/^Changed app\n/);
  expect(await told(["users", "edit", "bob", "--password-stdin"], "s3cret\n")).toMatch(/^ {2}password +updated$/m);
  const secret = "otp_secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP";
  expect(await told(["users", "edit", "bob", "--set", secret])).toBe("Changed bob\n  otp_secret  updated\n");
  expect(await told(["clients", "edit", "app", "--secret-stdin"], "another-secret\n")).toBe(
    "Changed app\n  client_secret  updated\n",
  );
});

test("scopes and addresses after a sign-out are added one at a time", async () => {
  const cwd = newFolder();
  const [app, all] = [fixtures.clients[0], { ...fixtures.clients[0], client_id: "all" }];
  const clients = [{ ...app, client_id: "app", scope: "openid email" }, all];
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ ...fixtures, clients }));
  await idpIn(cwd, ["seed"]);
  const edit = (words: string) => idpIn(cwd, `clients edit ${words}`.split(" "));
  const shown = async (words: string): Promise<unknown> => JSON.parse((await edit(`${words} --json`)).stdout);
  expect(await shown("app --add-scope phone --add-scope email")).toMatchObject({ scope: "openid email phone" });
  const [one, two] = ["http://localhost:1/bye", "http://localhost:2/bye"];
  const added = `app --add-post-logout-uri ${one} --add-post-logout-uri ${two}`;
  expect(await shown(added)).toMatchObject({ post_logout_redirect_uris: [one, two] });
  expect(await edit("app --add-post-logout-uri nowhere")).toMatchObject({ code: 2 });
  expect((await edit("app --add-scope phnoe")).stderr).toContain("Did you mean phone?");
  expect(await edit("app --scope openid --add-scope phone")).toMatchObject({
    ...{ code: 2, stderr: "Error: give --add-scope or the whole scope, not both\n" },
  });
  // It may request every scope, and a list would take the others away.
  const refused = await edit("all --add-scope phone");
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("it may request every scope already") });
  expect(refused.stderr).toContain("idp clients edit all --scope phone\n");
});

test("redirect URIs are added and removed one at a time", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify(fixtures));
  await idpIn(cwd, ["seed"]);
  const edit = (flags: string) => idpIn(cwd, `clients edit app ${flags} --json`.split(" "));
  const uris = async (flags: string): Promise<unknown> =>
    (JSON.parse((await edit(flags)).stdout) as { redirect_uris: unknown }).redirect_uris;
  const [usual, one, two] = ["http://localhost:3000/callback", "http://localhost:1/a", "http://localhost:2/b"];
  expect(await uris(`--add-redirect-uri ${one} --add-redirect-uri ${two} --add-redirect-uri ${usual}`)).toEqual([
    usual,
    one,
    two,
  ]);
  expect(await uris(`--remove-redirect-uri ${one} --add-redirect-uri http://localhost:3/c`)).toEqual([
    usual,
    two,
    "http://localhost:3/c",
  ]);
  const unknown = await idpIn(cwd, ["clients", "edit", "app", "--remove-redirect-uri", one]);
  expect(unknown).toMatchObject({ code: 2 });
  expect(unknown.stderr).toContain(`redirect URI ${one} is not registered for app`);
  expect(unknown.stderr).toContain(`Registered: ${usual} ${two}`);
  expect((await edit(`--redirect-uri ${one} --add-redirect-uri ${two}`)).code).toBe(2);
});
