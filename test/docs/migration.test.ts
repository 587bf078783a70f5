import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder, startIdp } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";
import { repository } from "../helpers/readme.ts";

/** docs/migration.md, run: each command reads a file in its tool's published form, and users of what it writes sign in. */

const samples: Readonly<Record<string, string>> = {
  "realm-export.json": "keycloak-realm.json",
  "users.ndjson": "auth0-users.ndjson",
  "config.yaml": "dex.yaml",
  "users.yaml": "soluto-users.yaml",
  "config.json": "navikt.json",
  "emulate.config.yaml": "emulate.yaml",
  "kickstart.json": "fusionauth.json",
  "configuration.yml": "authelia.yml",
  "users_database.yml": "authelia-users.yml",
};
/** The clients of two tools are in files of one name. */
const sampleOf = (tool: string, file: string): string =>
  samples[file] ?? (tool === "hydra" ? "hydra.json" : "soluto-clients.json");

const page = readFileSync(join(repository, "docs", "migration.md"), "utf8");
const commands = [...page.matchAll(/^```sh\nidp (.+)\n```$/gm)].map(([, words = ""]) => words);
const users: Readonly<Record<string, string>> = {
  ...{ keycloak: "ada", auth0: "ada@example.com", dex: "admin", soluto: "User1", navikt: "subByCode", hydra: "alice" },
  ...{ emulate: "octocat", fusionauth: "heidi@example.com", authelia: "judy" },
};

test("every tool has a command", () => {
  expect(commands.map((words) => words.split(" ")[2])).toEqual(Object.keys(users));
});

test.each(commands)("idp %s", async (words) => {
  const cwd = newFolder();
  const [, , tool = "", ...files] = words.split(" ");
  for (const file of files)
    copyFileSync(join(repository, "test", "fixtures-from", sampleOf(tool, file)), join(cwd, file));
  const made = await idpIn(cwd, words.split(" "));
  expect(made.code, made.stderr).toBe(0);
  expect(made.stderr).toContain("Not carried over:\n");
  expect(await idpIn(cwd, ["seed", "--check"])).toMatchObject({ code: 0 });
  const { issuer } = await startIdp(["--memory"], { cwd });
  const login = ["login", "--issuer", issuer, "--user", users[tool] ?? "", "--approve", "--no-browser", "--json"];
  const signedIn = await idpIn(cwd, login);
  expect(signedIn.code, signedIn.stderr).toBe(0);
  expect(JSON.parse(signedIn.stdout)).toMatchObject({ valid: true });
});
