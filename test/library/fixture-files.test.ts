import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { builtInDemo, findFixtures } from "../../src/serve/fixture-files.ts";
import { OperationError } from "../../src/core/base/errors.ts";
import type { FixtureFile } from "../../src/core/admin/fixtures/schema.ts";
import { userSchema } from "../../src/core/records/users/schema.ts";
import { seed } from "../../src/core/admin/seed/seed.ts";
import { problemsOf } from "../helpers/fixtures.ts";
import { seedWorld } from "../helpers/seed-context.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "idp-fixtures-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const write = (name: string, text: string | Uint8Array = "{}"): void => {
  mkdirSync(join(folder, name, ".."), { recursive: true });
  writeFileSync(join(folder, name), text);
};
const refusal = (...paths: string[]): OperationError => {
  try {
    findFixtures(paths, folder);
  } catch (error) {
    if (error instanceof OperationError) return error;
    throw error;
  }
  throw new Error("was not refused");
};

describe("which fixtures are used", () => {
  it("those that are named, in their order", () => {
    write("b.yaml", "users: []");
    write("a.json");
    write("idp.fixtures.json");
    expect(findFixtures(["b.yaml", "./a.json"], folder)).toEqual({
      names: ["b.yaml", "./a.json"],
      sources: [
        { name: "b.yaml", text: "users: []", folder },
        { name: "./a.json", text: "{}", folder },
      ],
    });
  });

  it("of a folder all its fixture files by name, and nothing else in it", () => {
    for (const name of ["f/b.yml", "f/a.json", "f/c.YAML", "f/README.md", "f/.hidden.json", "f/x.schema.json"])
      write(name);
    write("f/sub.json/deep.json");
    expect(findFixtures(["f"], folder).names).toEqual(["f/a.json", "f/b.yml", "f/c.YAML"]);
  });

  it("each file once, also through its folder and a link", () => {
    write("f/a.json");
    symlinkSync(join(folder, "f", "a.json"), join(folder, "f", "link.json"));
    expect(findFixtures(["f", "f/a.json"], folder).sources).toHaveLength(1);
  });

  it.each(["idp.fixtures.json", "idp.fixtures.yaml", "idp.fixtures.yml"])("else %s of the working folder", (name) => {
    write(name, "{ }");
    expect(findFixtures([], folder)).toEqual({ names: [name], sources: [{ name, text: "{ }", folder }] });
  });

  it("else the built-in demo", () => {
    expect(findFixtures([], folder)).toEqual({ names: [], sources: [builtInDemo()] });
  });
});

describe("fixtures that are refused", () => {
  it.each<[string, string[], string]>([
    ["a file that is not there", ["no.yaml"], "file not found: no.yaml"],
    ["a folder that is not there", ["no"], "file not found: no"],
    ["an empty folder", ["empty"], "the folder empty holds no fixture files"],
    ["an empty name", [""], "the name of a fixture file is empty"],
    ["a file of another kind", ["notes.txt"], "notes.txt does not have the name of a fixture file"],
  ])("%s", (_, paths, message) => {
    mkdirSync(join(folder, "empty"));
    write("notes.txt");
    expect(refusal(...paths)).toMatchObject({ code: "invalid", message, hint: { text: expect.any(String) } });
  });

  it("two usual files", () => {
    write("idp.fixtures.json");
    write("idp.fixtures.yml");
    expect(refusal().message).toBe("found idp.fixtures.json and idp.fixtures.yml: use only one of them");
  });

  it("a file that is not UTF-8", () => {
    write("a.yaml", Buffer.from([0x61, 0x3a, 0x20, 0xe7]));
    expect(refusal("a.yaml").problems).toEqual([
      { file: "a.yaml", line: 1, column: 4, path: "$", message: "this is not UTF-8; save the file in UTF-8" },
    ]);
  });

  it("a link that leads to itself", () => {
    symlinkSync(join(folder, "a.yaml"), join(folder, "a.yaml"));
    expect(refusal("a.yaml").message).toBe("a.yaml cannot be read: ELOOP");
  });
});

it("the example that ships keeps every rule", async () => {
  const { sources } = findFixtures(["example.yaml"], fileURLToPath(new URL("../../fixtures", import.meta.url)));
  expect(await problemsOf(...sources)).toEqual([]);
});

describe("the built-in demo", () => {
  const demo = builtInDemo();
  const fixtures = ("value" in demo ? demo.value : undefined) as FixtureFile;

  it("keeps every rule", async () => {
    expect(await problemsOf({ value: fixtures })).toEqual([]);
  });

  it("has the users and clients of the demo", async () => {
    const world = seedWorld();
    await seed(world, [demo], { mode: "now" });
    const users = await world.store.read((tx) => [...tx.all("users")]);
    expect(users.map(({ username, status }) => [username, status])).toEqual([
      ["alice", "active"],
      ["bob", "active"],
      ["carol", "suspended"],
      ["dave", "banned"],
    ]);
    expect(fixtures.users?.map(({ password }) => password)).toEqual(["alice", "bob", "carol", "dave"]);
    const clients = await world.store.read((tx) => [...tx.all("clients")]);
    const device = "urn:ietf:params:oauth:grant-type:device_code";
    expect(
      clients.map((client) => [client.client_id, client.client_secret, client.redirect_uris, client.grant_types]),
    ).toEqual([
      ["demo-app", "demo-secret", ["http://localhost:3000/callback"], undefined],
      ["demo-spa", undefined, ["http://localhost:5173/callback"], undefined],
      ["demo-service", "demo-service-secret", [], ["client_credentials"]],
      ["idp-cli", undefined, ["http://127.0.0.1:*/callback"], ["authorization_code", "refresh_token", device]],
    ]);
    expect(clients[0]).toMatchObject({ post_logout_redirect_uris: ["http://localhost:3000/"] });
    expect(clients[0]).not.toHaveProperty("token_endpoint_auth_method");
  });

  it("has one user with every field, and every claim of OpenID Connect Core 5.1", () => {
    const [alice] = fixtures.users ?? [];
    // A second step and other issuers are for those who ask for them: the demo stays without.
    const { factors: _, otp_secret: __, federated: ___, ...fields } = userSchema.shape;
    expect(Object.keys(alice ?? {}).sort()).toEqual(Object.keys(fields).sort());
    expect(Object.values(alice ?? {})).not.toContain(null);
    expect(Object.keys(alice?.claims ?? {})).toEqual(
      expect.arrayContaining(
        "given_name family_name middle_name nickname profile gender zoneinfo locale phone_number_verified address".split(
          " ",
        ),
      ),
    );
  });

  it("has one user with none", async () => {
    const world = seedWorld();
    await seed(world, [demo], { mode: "start" });
    const none = {
      theme: null,
      website: null,
      location: null,
      birthDate: null,
      phone: null,
      about: "",
      socialLinks: [],
      claims: {},
    };
    expect(await world.user("bob")).toMatchObject(none);
  });
});
