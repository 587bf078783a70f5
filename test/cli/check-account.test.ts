import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { built } from "../helpers/built.ts";
import { idp, launch, newFolder, startIdp } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";
import { freePort } from "../helpers/port.ts";

/** `idp check client --mark`: what is printed, what stays in the app, and where no mark may be. The cases: test/client/account-neglect.test.ts. */

const child = await built(fileURLToPath(new URL("children/accounts-app.ts", import.meta.url)));
const secret = "the-secret-of-the-app-under-test";

async function appFolder() {
  const cwd = newFolder();
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const clientAt = (name: string) => [
    { client_id: `app-${name}`, client_secret: secret, redirect_uris: [`${url}/callback/${name}`] },
  ];
  const users = [{ username: "alice", email: "alice@corp.example.com", emailVerified: true }];
  const fixtures = { users, clients: clientAt("one"), issuers: { other: { users, clients: clientAt("two") } } };
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify(fixtures));
  const at = ["check", "client", "--start", `${url}/login/one`, "--signed-in", `${url}/me`];
  const words = (flags: readonly string[], findsBy: string) => {
    return [...at, ...flags, "--", process.execPath, child, port, findsBy];
  };
  return { cwd, url, at, words, port };
}

/** Twelve letters in quotes, in the last line of a check. */
const markIn = (text: string): string => /Left in the app: [^]*the text "([a-z]{12})" of alice/.exec(text)?.[1] ?? "";

test("an app that lets in the wrong person: who, whose, what to change, and what stays in the app", async () => {
  const { cwd, url, words } = await appFolder();
  const cases = ["email-taken", "username-taken", "other-issuer"].flatMap((name) => ["--case", `account.${name}`]);
  const flags = ["--mark", `${url}/note`, "--second-start", `${url}/login/two`, "--report", "report.md", ...cases];
  const { code, stdout, stderr } = await idp(words(flags, "email"), { cwd });
  expect(code).toBe(6);
  expect(stdout).toContain("Is it the right account?\n");
  expect(stdout).toMatch(/^ {2}✗ unnoticed +account\.email-taken +/m);
  expect(stdout).toContain("showed another person with alice's e-mail the text of alice");
  expect(stdout).toMatch(/^ {2}✓ noticed +account\.username-taken +signed in to another account$/m);
  expect(stdout).toMatch(/^ {2}✗ unnoticed +account\.other-issuer/m);
  expect(stdout).toContain("2 of 5 cases let in the wrong person.");
  expect(stdout).toMatch(/change +find users by \(iss, sub\), never by email/);
  const mark = markIn(stderr);
  expect(mark).not.toBe("");
  expect(stderr).toMatch(/the account of idp-check-\w+/);
  // What tells accounts apart is in no report.
  expect(stdout + readFileSync(join(cwd, "report.md"), "utf8")).not.toContain(mark);
});

test("that nobody wrong was let in is said only where nothing went unnoticed", async () => {
  const { cwd, url, words } = await appFolder();
  const flags = ["--mark", `${url}/note`, "--case", "account.name-taken"];
  const careful = await idp(words(flags, "issuer-and-sub"), { cwd });
  expect(careful.stdout).toContain("None of 3 cases let in the wrong person.");
  const { code, stdout } = await idp(words([...flags, "--case", "id-token.aud-wrong"], "issuer-and-sub"), { cwd });
  expect(code).toBe(6);
  expect(stdout).toMatch(/✓ noticed +account\.name-taken/);
  expect(stdout).not.toContain("wrong person.");
});

test("--json: what stays in the app is in the document, without the text", async () => {
  const { cwd, url, words } = await appFolder();
  const flags = ["--mark", `${url}/note`, "--case", "account.email-taken", "--json"];
  const { code, stdout } = await idp(words(flags, "email"), { cwd });
  expect(code).toBe(6);
  expect(JSON.parse(stdout)).toMatchObject({
    left: [`the text of alice (${url}/note)`, expect.stringMatching(/^the account of idp-check-/)],
  });
});

test("Ctrl+C: what stays in the app is said, too", async () => {
  const { cwd, url, words } = await appFolder();
  const flags = [
    "--mark",
    `${url}/note`,
    ...["email-taken", "name-taken"].flatMap((name) => ["--case", `account.${name}`]),
  ];
  const running = launch(words(flags, "issuer-and-sub"), { cwd });
  onTestFinished(() => void running.kill("SIGKILL"));
  let [stdout, stderr] = ["", ""];
  running.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  await new Promise<void>((resolve) => {
    running.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      if (stdout.includes("account.email-taken")) resolve();
    });
  });
  const ended = new Promise((resolve) => running.on("close", resolve));
  running.kill("SIGINT");
  expect(await ended).toBe(130);
  expect(markIn(stderr)).not.toBe("");
});

test("on a running server that asks for passwords: nothing of the check stays there, and no mark is in its ledger or log", async () => {
  const { cwd, url, words, at, port } = await appFolder();
  const server = await startIdp(["--json", "--login", "password"], { cwd });
  const env = {
    ...{ OIDC_ISSUER: server.issuer, OIDC_CLIENT_ID: "app-one", OIDC_CLIENT_SECRET: secret },
    ...{ OIDC_2_ISSUER: `${server.issuer}/i/other`, OIDC_2_CLIENT_ID: "app-two", OIDC_2_CLIENT_SECRET: secret },
  };
  const { spawn } = await import("node:child_process");
  const app = spawn(process.execPath, [child, port, "email"], { env: { ...process.env, ...env } });
  onTestFinished(() => void app.kill("SIGKILL"));
  const flags = ["--mark", `${url}/note`, "--second-start", `${url}/login/two`, "--client", "app-one"];
  const before = await idpIn(cwd, ["export", "--json"]);
  expect(words(flags, "email")).toContain("--mark");
  const { code, stderr } = await idp(
    [...at, ...flags, "--case", "account.email-taken", "--case", "account.other-issuer"],
    { cwd },
  );
  expect(code).toBe(6);
  const mark = markIn(stderr);
  expect(mark).not.toBe("");
  const ledger = await idpIn(cwd, ["requests", "list", "--json"]);
  expect(ledger.stdout).toContain("app-one");
  expect(ledger.stdout + server.output.stderr + server.output.stdout).not.toContain(mark);
  const usersIn = (text: string) => (JSON.parse(text) as { readonly users: readonly unknown[] }).users;
  const after = await idpIn(cwd, ["export", "--json"]);
  expect(usersIn(after.stdout)).toEqual(usersIn(before.stdout));
  expect((await idpIn(cwd, ["faults", "list", "--json"])).stdout.trim()).toBe("[]");
});

test("the user cannot be the other one: exit 2", async () => {
  const { cwd, words } = await appFolder();
  expect(await idp(words(["--attacker", "alice"], "email"), { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--attacker alice is the user who signs in") as string,
  });
});

test.each([
  [["--account", "http://localhost:1/me"], "--account-id"],
  [["--mark", "http://localhost:1/note", "--account", "http://localhost:1/me"], "leave one of them out"],
  [["--show", "http://localhost:1/me"], "needs --mark"],
  [["--mark", "PUT http://localhost:1/note {}"], "{mark}"],
  [["--mark", "PUT http://localhost:1/note {mark}"], "is not JSON"],
  [["--mark", "https://192.0.2.1/note"], "--allow-remote"],
  [["--account", "http://localhost:1/me", "--account-id", "/(a)(b)/"], "2 groups"],
  [["--mark", "http://localhost:1/note", "--mark-header", "secret-value"], "a name and a value"],
  [["--second-issuer", "other"], "--second-issuer needs --second-start"],
] as const)("wrong arguments: exit 2 (%j)", async (flags, said) => {
  const { cwd, at } = await appFolder();
  const ended = await idpIn(cwd, [...at, ...flags]);
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(said) as string });
  expect(ended.stderr).not.toContain("secret-value");
});
