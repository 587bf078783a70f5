import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { built } from "../helpers/built.ts";
import { idp, launch, newFolder, type Ended } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";
import { freePort } from "../helpers/port.ts";
import { isRunning } from "../helpers/processes.ts";
import { controlC, onTerminal } from "../helpers/terminal.ts";

/**
 * `idp check client` with an app that it starts: the exit codes, and what is printed. On a running server: check-client-server.test.ts. What each
 * case finds: test/client/neglect.test.ts.
 */

const child = await built(fileURLToPath(new URL("children/app.ts", import.meta.url)));
const secret = "the-secret-of-the-app-under-test";

interface AppFolder {
  readonly cwd: string;
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  /** The command line. @param app how the app behaves, and what it neglects */
  readonly words: (flags: readonly string[], ...app: readonly string[]) => readonly string[];
  /** The processes of the app that are still there. */
  readonly left: () => readonly number[];
}

async function appFolder(): Promise<AppFolder> {
  const cwd = newFolder();
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const pids = join(cwd, "pids");
  const clients = [{ client_id: "app", client_secret: secret, redirect_uris: [`${url}/callback`] }];
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ users: [{ username: "alice" }], clients }));
  const at = ["--start", `${url}/login`, "--signed-in", `${url}/me`];
  return {
    ...{ cwd, url, env: { APP_PIDS: pids } },
    words: (flags, mode = "careful", ...neglects) => {
      const node = [process.execPath, child, mode, port, ...neglects];
      return ["check", "client", ...at, ...flags, "--", ...node];
    },
    left: () => (existsSync(pids) ? readFileSync(pids, "utf8").trim().split("\n").map(Number) : []).filter(isRunning),
  };
}

async function check(
  flags: readonly string[],
  ...app: readonly string[]
): Promise<Ended & { readonly app: AppFolder }> {
  const folder = await appFolder();
  const ended = await idp(folder.words(flags, ...app), folder);
  expect(folder.left()).toEqual([]);
  return { ...ended, app: folder };
}

test("an app that notices everything: exit 0, and one document", async () => {
  const { code, stdout, stderr } = await check(["--case", "response.iss-wrong", "--case", "pkce-fresh", "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { passed, cases } = JSON.parse(stdout) as { passed: boolean; cases: Readonly<Record<string, unknown>>[] };
  expect(passed).toBe(true);
  expect(cases.map(({ name, verdict }) => [name, verdict])).toEqual([
    ["control", "works"],
    ["pkce-fresh", "noticed"],
    ["response.iss-wrong", "noticed"],
    ["control", "works"],
  ]);
  for (const one of cases) {
    expect(Object.keys(one)).toEqual(["name", "verdict", "did", "should", "paragraph", "fix"]);
  }
});

test("an app that does not: a line for each case, what to change, exit 6, and the reports", async () => {
  const report = ["--case", "id-token.nonce-wrong", "--case", "keys.keys-empty", "--report"];
  const { code, stdout, stderr, app } = await check([...report, "report.xml"], "careful", "nonce");
  expect({ code, stderr }).toEqual({
    code: 6,
    stderr: expect.stringMatching(
      /^Error: the app fails 1 of 4 cases\n[^]*idp\.check\.yaml:\n +client:\n +accept:\n +id-token\.nonce-wrong: why\n/m,
    ),
  });
  expect(stdout).toMatch(/^✓ works {9}control/m);
  expect(stdout).toMatch(/^✗ unnoticed {5}id-token.nonce-wrong {10}signed the user in$/m);
  expect(stdout).toMatch(/^✓ noticed {7}keys.keys-empty/m);
  expect(stdout).toContain("(OpenID Connect Core 3.1.3.7 (11), ASVS 5.0 10.5.1)");
  expect(stdout).toMatch(/change +keep nonce in the session/);
  expect(stdout).toMatch(/1 unnoticed, 1 noticed, 2 working\.\n$/);
  const xml = readFileSync(join(app.cwd, "report.xml"), "utf8");
  expect(xml).toContain('tests="4" failures="1" errors="0" skipped="0"');
  expect(xml).toContain('<testcase classname="check-client.id-token" name="id-token.nonce-wrong">');
});

test("the sentence about the wrong person counts a fixed session, and says none only where others came for the account", async () => {
  const fixed = await check(["--case", "session-fixed"], "careful", "session-id");
  expect(fixed.stdout).toContain("\n1 of 3 cases let in the wrong person.\n");
  const { stdout } = await check(["--case", "session-fixed", "--case", "refresh.sub-wrong"]);
  expect(stdout).toMatch(/^✓ noticed +refresh\.sub-wrong/m);
  expect(stdout).not.toContain("wrong person");
});

test("an accepted case does not fail the run; one that is noticed now is stale", async () => {
  const cases = ["--case", "id-token.nonce-wrong", "--case", "pkce-fresh"];
  const given = [
    ...cases,
    "--report",
    "report.xml",
    "--accept",
    "id-token.nonce-wrong=one user only",
    "--accept",
    "pkce-fresh",
  ];
  const { code, stdout, stderr, app } = await check(given, "careful", "nonce");
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining("pkce-fresh is accepted, but is noticed now"),
  });
  expect(stdout).toMatch(/^- unnoticed +id-token.nonce-wrong +signed the user in \(accepted: one user only\)$/m);
  expect(stdout).toContain("1 unnoticed (1 accepted), 1 noticed, 2 working.");
  expect(stdout).not.toContain("keep nonce in the session");
  const xml = readFileSync(join(app.cwd, "report.xml"), "utf8");
  expect(xml).toContain('failures="0" errors="0" skipped="1"');
  expect(xml).toContain("<system-out>pkce-fresh is accepted, but is noticed now: it need not be accepted any more.");
});

test("idp.check.yaml lists what is accepted, and the fix is that of the app's library", async () => {
  const folder = await appFolder();
  const file = join(folder.cwd, "idp.check.yaml");
  const run = (...cases: readonly string[]): Promise<Ended> =>
    idp(folder.words(["--json", ...cases.flatMap((name) => ["--case", name])], "careful", "nonce"), folder);
  writeFileSync(file, "client:\n  accept:\n    id-token.nonce-wrong: one user only\n");
  writeFileSync(join(folder.cwd, "package.json"), JSON.stringify({ dependencies: { "openid-client": "6" } }));
  const { code, stdout } = await run("id-token.nonce-wrong", "id-token.nonce-missing");
  expect(code).toBe(6);
  expect(JSON.parse(stdout)).toMatchObject({
    passed: false,
    cases: [
      { name: "control" },
      { verdict: "unnoticed", accepted: "one user only", fix: expect.stringContaining("expectedNonce: session.nonce") },
      { name: "id-token.nonce-missing", verdict: "unnoticed", fix: expect.stringContaining("expectedNonce") },
      { name: "control" },
    ],
  });
  writeFileSync(file, "client:\n  acept: {}\n  accept:\n    control: down\n    pkse: no\n    pkce: 1\n");
  const wrong = await idp(folder.words([]), folder);
  expect(wrong.code).toBe(7);
  for (const line of [
    "2:3 client.acept is an unknown key. Did you mean accept?",
    "4:5 client.accept.control a control must work",
    "5:5 client.accept.pkse there is no such case. Did you mean pkce?",
    "6:11 client.accept.pkce must be text, not the number 1: put it in quotes",
  ]) {
    expect(wrong.stderr).toContain(`idp.check.yaml:${line}`);
  }
});

test("an app that never listens, hangs, or ends at once: exit 5, with what it printed last", async () => {
  const short = ["--timeout", "1"];
  expect(await check(short, "silent")).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(/did not answer at \S+ within 1 s: (?:nothing listens|\S+ sent no response)/),
  });
  expect(await check(short, "hangs")).toMatchObject({
    code: 5,
    stderr: expect.stringContaining("within 1 s"),
  });
  const ended = await check([], "ends");
  expect(ended.code).toBe(5);
  expect(ended.stderr).toContain("the app ended with exit code 2");
  expect(ended.stderr).toContain("no configuration");
  const { cwd, url } = await appFolder();
  const done = ["check", "client", "--start", url, "--signed-in", url, "--", process.execPath, "-e", ""];
  expect((await idp(done, { cwd })).stderr).toBe(
    "Error: the app ended with exit code 0\n  The command after -- has to run until the check stops it\n",
  );
});

test("an app that finds its port taken by another: exit 5, and the other is not checked", async () => {
  const { cwd, url } = await appFolder();
  const other = createServer((_req, res) => res.end("an older one")).listen(Number(new URL(url).port));
  onTestFinished(() => void other.close());
  const late = [process.execPath, "-e", "setTimeout(() => process.exit(1), 300)"];
  expect(await idp(["check", "client", "--start", url, "--signed-in", url, "--", ...late], { cwd })).toMatchObject({
    code: 5,
    stderr: expect.stringContaining(`the app ended with exit code 1, and something else answers at ${url}`),
  });
});

test.each([
  ["no-such-program", "Is it installed, and in PATH?"],
  ["no-such-program start", "A whole line is for a shell: -- sh -c 'no-such-program start'"],
])("a command that cannot be run: exit 5 (%s)", async (program, next) => {
  const { cwd, url } = await appFolder();
  const at = ["--start", url, "--signed-in", url];
  expect(await idp(["check", "client", ...at, "--", program], { cwd })).toMatchObject({
    code: 5,
    stderr: `Error: ${program} was not found\n  ${next}\n`,
  });
});

test("nobody who could sign in at the check's own server: exit 3, and the fixtures come first", async () => {
  const { cwd, url } = await appFolder();
  writeFileSync(
    join(cwd, "idp.fixtures.json"),
    JSON.stringify({
      users: [{ username: "alice", status: "suspended" }],
      clients: [{ client_id: "app", client_secret: secret, redirect_uris: [`${url}/callback`] }],
    }),
  );
  expect(
    await idp(["check", "client", "--start", url, "--signed-in", url, "--", "no-such-program"], { cwd }),
  ).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(
      /^Error: there is no active user who could sign in\n {2}List one in the fixtures\. To add one to the running server: idp users add erin/,
    ),
  });
});

test("a user who is not there: exit 3, with those that the check's own server knows", async () => {
  const { cwd, url } = await appFolder();
  const at = ["--start", url, "--signed-in", url, "--user", "alise"];
  expect(await idp(["check", "client", ...at, "--", "no-such-program"], { cwd })).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/^Error: no user "alise"\. Users: alice.*\n {2}Did you mean alice\?\n$/),
  });
});

test("an app that never signs in, or dies on the way: exit 6, and no case counts as noticed", async () => {
  const aimless = await check(["--case", "pkce-fresh"], "aimless");
  expect(aimless.code).toBe(6);
  expect(aimless.stdout).toMatch(/^\? not-reached +control +--start never led to idp: the app answered 401/m);
  expect(aimless.stdout).not.toContain("noticed ");
  const dead = await check(["--case", "id-token.iss-wrong", "--case", "id-token.aud-wrong"], "dies");
  expect(dead.code).toBe(6);
  expect(dead.stderr).toContain("; the app ended with exit code 3");
  expect(dead.stdout).toMatch(/^\? not-reached +id-token.iss-wrong/m);
  expect(dead.stdout).not.toContain("id-token.aud-wrong");
  expect(dead.stdout).not.toMatch(/^✓ noticed/m);
});

test("a proxy that starts with the app may answer 404 until it knows the app", async () => {
  expect(await check(["--case", "pkce-fresh"], "routed")).toMatchObject({ code: 0 });
});

test("an app has the time to end what it started outside its process group", async () => {
  const { code, app } = await check(["--case", "pkce-fresh"], "parent");
  expect(code).toBe(0);
  expect(
    readFileSync(app.env["APP_PIDS"] ?? "", "utf8")
      .trim()
      .split("\n"),
  ).toHaveLength(2);
});

test("an app that ignores SIGTERM is ended with everything that it started", async () => {
  const { code, app } = await check(["--case", "pkce-fresh"], "stubborn");
  expect(code).toBe(0);
  expect(
    readFileSync(app.env["APP_PIDS"] ?? "", "utf8")
      .trim()
      .split("\n"),
  ).toHaveLength(2);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s ends the app too, with exit code %i", async (signal, expected) => {
  const folder = await appFolder();
  const running = launch(folder.words([], "stubborn"), folder);
  onTestFinished(() => void running.kill("SIGKILL"));
  const ended = new Promise((resolve) => running.on("close", resolve));
  await new Promise((resolve) => running.stdout.once("data", resolve));
  running.kill(signal);
  expect(await ended).toBe(expected);
  expect(folder.left()).toEqual([]);
});

test("a terminal shows which case runs, and keeps nothing of it", async () => {
  const { cwd, words, env } = await appFolder();
  const slow = ["--case", "refresh-refused", "--case", "session-fixed"];
  const done = onTerminal(words(slow).join(" "), cwd, env, 80);
  expect(await done.ended).toBe(0);
  const drawn = done.written().split("\r\u001b[K");
  expect(drawn.slice(1, -1)).toContain(`session-fixed  ${"█".repeat(15)}${"░".repeat(15)}  50 %`);
  expect(drawn.at(-1)).not.toContain("%");
  const stopped = onTerminal(words(slow).join(" "), cwd, env, 80);
  await stopped.shown("50 %");
  stopped.type(controlC);
  expect(await stopped.ended).toBe(130);
  expect(stopped.written().split("\r\u001b[K").at(-1)).not.toContain("%");
});

test("wrong arguments: exit 2", async () => {
  const { cwd, words, url } = await appFolder();
  const unknown = await idpIn(cwd, words(["--case", "id-token.nonse-wrong"]));
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("id-token.nonce-wrong") });
  expect(unknown.stderr).toContain("keys-rotated");
  const remote = ["check", "client", "--start", "https://192.0.2.1/login", "--signed-in", url];
  expect(await idpIn(cwd, remote)).toMatchObject({ code: 2, stderr: expect.stringContaining("--allow-remote") });
  expect(await idpIn(cwd, words(["--report", "report.txt"]))).toMatchObject({ code: 2 });
  for (const name of ["control", "pkse=why"]) {
    expect(await idpIn(cwd, words(["--accept", name]))).toMatchObject({ code: 2 });
  }
  expect(await idpIn(cwd, ["check", "client", "--start", url])).toMatchObject({ code: 2 });
  const stray = await idpIn(cwd, ["check", "client", "--start", url, "--signed-in", url, "npm", "test"]);
  expect(stray).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`idp check client --start ${url} --signed-in ${url} -- npm test\n`),
  });
  const browser = await idpIn(cwd, words(["--browser", "--case", "pkce-fresh"]));
  expect(browser).toMatchObject({ code: 2, stderr: expect.stringContaining("needs Playwright") });
});
