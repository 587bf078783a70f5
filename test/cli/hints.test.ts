import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { failureOf } from "../../src/cli/failure.ts";
import { StorageError } from "../../src/store/store.ts";
import { idp, newFolder, startIdp } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";

/** What a command says to do next works where it is read, and has nothing that must not be logged. */

const said = async (words: string, cwd: string, env?: Record<string, string>): Promise<string> => {
  const { stdout, stderr } = await (env === undefined
    ? idpIn(cwd, words.split(" "))
    : idp(words.split(" "), { cwd, env }));
  return stdout + stderr;
};

test("a hint's command is for the data or the server that was typed", async () => {
  const cwd = newFolder();
  const tokenFile = join(cwd, "token");
  writeFileSync(tokenFile, "the-admin-token-of-this-test");
  const env = { IDP_ADMIN_TOKEN: "the-admin-token-of-this-test" };
  const { issuer } = await startHere(["--data", "other"], { cwd, env });
  expect(await said("users suspend bob --data other", cwd)).toContain("Undo: idp users restore bob --data other\n");
  expect(await said("users show nobody --data=other", cwd)).toContain("All users: idp users list --data other\n");
  const byUrl = `--url ${issuer} --admin-token-file ${tokenFile}`;
  expect(await said(`users suspend bob ${byUrl}`, cwd)).toContain(`Undo: idp users restore bob ${byUrl}\n`);
  // What the environment names, it names for the next command too.
  const named = await said("users suspend bob", cwd, { IDP_DATA: "other" });
  expect(named).toContain("Undo: idp users restore bob\n");
});

test("hints after npx use npx", async () => {
  const inClone = await said("users list --limt 3", newFolder(), { npm_package_name: "dev-idp" });
  expect(inClone).toContain("npx dev-idp users list --help");
  const answer = await said("users list --limt 3", newFolder(), { npm_command: "exec" });
  expect(answer).toContain("See: npx dev-idp users list --help\n");
});

test("a command on a page of the server works where the server was started", async () => {
  const cwd = newFolder();
  const fixOn = async ({ issuer }: { readonly issuer: string }): Promise<string> => {
    const page = await (await fetch(`${issuer}/api/v2/oauth/authorize`, { headers: { accept: "text/html" } })).text();
    return (/id="error-fix"[^>]*>(.*?)<\/pre>/s.exec(page)?.[1] ?? "").replaceAll(/<[^>]*>/g, "");
  };
  const other = await startHere(["--data", "other"], { cwd, env: { npm_command: "exec" } });
  expect(await fixOn(other)).toBe("npx dev-idp clients list --data other");
  await expect.poll(() => other.output.stdout).toContain("fix: npx dev-idp clients list --data other\n");
  const inMemory = await startHere(["--memory"], { cwd });
  expect(await fixOn(inMemory)).toBe(`idp clients list --url ${inMemory.issuer}`);
});

test.each([
  ["users unban bob", "idp users restore"],
  ["users unsuspend bob", "idp users restore"],
  ["clients delete app", "idp clients remove"],
  ["users create bob", "idp users add"],
  ["decode x", "idp token decode"],
  ["suspend bob", "idp users suspend"],
  ["serve", "idp start"],
  ["delete bob", "idp users remove or idp clients remove"],
])("idp %s: the hint names the intended command", async (words, meant) => {
  const { code, stderr } = await idpIn(newFolder(), words.split(" "));
  expect(code).toBe(2);
  expect(stderr).toContain(`Did you mean ${meant}`);
});

const token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3MTIzNDU2Nzg5MDEyMzQ1Njc4In0.c2lnbmF0dXJlLW9mLXRoaXMtdG9rZW4";

test.each([
  "users add pw --set password=hunter2-of-a-user",
  "users edit bob --password=hunter2-of-a-user",
  "clients edit demo-app --secret=hunter2-of-a-user --json",
  "login --issuer http://me:hunter2-of-a-user@localhost:1/",
  "users list --url http://me:hunter2-of-a-user@localhost:1/",
  "users frobnicate --data http://me:hunter2-of-a-user@localhost:1/",
  "users show bob nope --url http://me:hunter2-of-a-user@localhost:1/",
  `users show ${token}`,
  `grants show ${token} --json`,
  token,
  `token ${token}`,
  `revoke --user ${token}`,
  `seed ${token}`,
])("idp %s: a possible secret is not repeated", async (words) => {
  const cwd = newFolder();
  await idpIn(cwd, ["users", "add", "bob"]);
  const answer = await said(words, cwd);
  expect(answer).toMatch(/error/i);
  expect(answer).not.toContain("hunter2");
  expect(answer).not.toContain(token.slice(-20));
});

test("a server that signs in another user than the one that was asked for fails the sign-in", async () => {
  const cwd = newFolder();
  const server = await startHere(["--data", "d", "--login", "auto:alice", "--consent", "skip"], { cwd });
  for (const flow of ["code", "device"]) {
    const words = `login --flow ${flow} --approve --no-browser --json --data d --user`.split(" ");
    const other = await idpIn(cwd, [...words, "bob"]);
    expect(other.code).toBe(6);
    expect(JSON.parse(other.stdout)).toMatchObject({ valid: false });
    expect(other.stdout).toContain("alice signed in, not bob");
    expect(await idpIn(cwd, [...words, "alice"])).toMatchObject({ code: 0 });
  }
  expect(server.output.stderr).toBe("");
});

test("remarks of a command are not among the errors of --json", async () => {
  const cwd = newFolder();
  const { pid, child } = await startIdp(["--data", "d"], { cwd });
  const ended = new Promise((resolve) => child.once("close", resolve));
  process.kill(pid, "SIGKILL");
  await ended;
  const { code, stderr } = await idpIn(cwd, ["users", "show", "nope", "--json", "--data", "d"]);
  expect([code, JSON.parse(stderr).error.code]).toEqual([3, "not_found"]);
});

test("a file of another user is not reported as a defect of idp", () => {
  const error = Object.assign(new Error("EACCES: permission denied, open 'd/.gitignore'"), { code: "EACCES" });
  expect(failureOf(error)).toMatchObject({
    code: "invalid",
    exit: 7,
    message: "EACCES: permission denied, open 'd/.gitignore'",
    hint: { text: "Fix that, then try again." },
  });
});

test.each(["EACCES", "EPERM", "EROFS"])("a folder that cannot be written (%s): data in memory are named", (code) => {
  const cause = Object.assign(new Error(code), { errno: -1, code });
  const error = new StorageError("The data folder .idp cannot be used: no permission", { cause });
  expect(failureOf(error)).toMatchObject({ exit: 5, hint: { command: ["idp", "start", "--memory"] } });
});
