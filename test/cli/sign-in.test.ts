import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { newFolder } from "../helpers/cli.ts";
import { idpHere } from "../helpers/command.ts";
import { appClient, plainApp } from "../helpers/plain-app.ts";
import { afterAll } from "vitest";

/** `idp sign-in`: a user signs in at an app, and the command hands over what the browser then holds. */

type Ways = ReturnType<NonNullable<Parameters<typeof plainApp>[1]>>;
let ways: Ways = {};
afterEach(() => {
  ways = {};
});

let issuer = "";
const app = await plainApp(
  () => issuer,
  () => ways,
);
const people = [
  { username: "zed", status: "suspended" as const },
  { username: "alice" },
  { username: "a+b" },
  { username: "a_b" },
  { username: "erin", factors: ["otp" as const] },
];
const fixtures = { users: people, clients: [appClient(app.url)] };
const idp = await serve({ fixtures });
const guarded = await serve({ fixtures, settings: { login: "password" } });
const automatic = await serve({ fixtures, settings: { login: "auto:a_b" } });
const cwd = newFolder(afterAll);

/** Runs the command against a server. */
const signIn = (words: readonly string[], server: typeof idp = idp, token: string = server.adminToken) => {
  ({ issuer } = server);
  const target = ["--url", server.issuer, "--data", join(cwd, "none")];
  return idpHere(["sign-in", "--start", `${app.url}/login`, ...words, ...target], "", { IDP_ADMIN_TOKEN: token });
};
const me = ["--signed-in", `${app.url}/me`];

interface State {
  readonly cookies: readonly { readonly name: string; readonly value: string }[];
}
const sidIn = (text: string): string => {
  const { cookies } = JSON.parse(text) as State;
  return cookies.find(({ name }) => name === "sid")?.value ?? "";
};

test("prints Playwright's JSON on stdout, and one line on stderr", async () => {
  const { code, stdout, stderr } = await signIn([...me, "--user", "alice"]);
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(
      /^Signed in as alice at http:\/\/localhost:\d+ \(2 cookies, 1 until the browser closes, .*\)\n$/,
    ),
  ]);
  const host = { domain: "localhost", path: "/" };
  expect(JSON.parse(stdout)).toEqual({
    cookies: [
      {
        name: "sid",
        value: expect.stringMatching(/^[\da-f]{32}$/),
        ...host,
        expires: -1,
        httpOnly: true,
        secure: false,
        sameSite: "Strict",
      },
      {
        name: "theme",
        value: "dark",
        ...host,
        expires: expect.any(Number),
        httpOnly: false,
        secure: false,
        sameSite: "Lax",
      },
    ],
    origins: [],
  });
  expect(app.sessions.has(sidIn(stdout))).toBe(true);
});

test("without --signed-in, the callback says whether somebody is signed in", async () => {
  expect((await signIn([])).code).toBe(0);
  ways = { cookies: [] };
  expect(await signIn([])).toMatchObject({ code: 6, stderr: expect.stringContaining("sign in again") });
  const home = (path: string) => (path === "/me" ? { status: 200 } : null);
  ways = { cookies: ["state=; Path=/; Max-Age=0"], answers: home };
  expect(await signIn([])).toMatchObject({
    code: 6,
    stdout: "",
    stderr: expect.stringContaining("alice was not signed in: the app's callback neither set nor changed a cookie"),
  });
  ways = { answers: (path) => (path === "/callback" ? { status: 400 } : null) };
  expect(await signIn([])).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("the app answered 400 at /callback"),
  });
});

test("names the refused request, its rule and its fix", async () => {
  ways = { tokenRedirectUri: `${app.url}/callback/` };
  const { code, stdout, stderr } = await signIn(me);
  expect([code, stdout]).toEqual([6, ""]);
  expect(stderr).toContain("Error: alice was not signed in: the token request was refused\n");
  expect(stderr).toMatch(/\n {2}rule {5}.*RFC 6749 4\.1\.3/);
  expect(stderr).toMatch(/\n {2}given {4}redirect_uri=http:\/\/localhost:\d+\/callback\/\n/);
  expect(stderr).toMatch(/\n {2}fix {6}\S/);
  expect(stderr).toMatch(/\n {2}more {5}(?:npx dev-idp|idp) open f\w+/);
  ways = { asks: { scope: "openid", redirect_uri: `${app.url}/client_id` } };
  const other = await signIn(me);
  expect(other).toMatchObject({ code: 6, stderr: expect.stringContaining("the authorization request was refused") });
  expect(other.stderr).toContain(`\n  given    redirect_uri=${app.url}/client_id\n`);
});

test("--signed-in says no where it leads to sign in, even where a session would sign in silently, or answers 400 or more", async () => {
  ways = { cookies: ["unrelated=1"] };
  expect(await signIn(me)).toMatchObject({ code: 6, stderr: expect.stringContaining("--signed-in leads to sign in") });
  ways = { answers: (path) => (path === "/me" ? { status: 403 } : null) };
  expect(await signIn(me)).toMatchObject({ code: 6, stderr: expect.stringContaining("the app answered 403 at /me") });
});

test("--as cookies is the file that curl reads, and --as header one line", async () => {
  const cookies = await signIn([...me, "--as", "cookies"]);
  const lines = cookies.stdout.trim().split("\n");
  expect(lines).toEqual([
    "# Netscape HTTP Cookie File",
    expect.stringMatching(/^#HttpOnly_localhost\tFALSE\t\/\tFALSE\t0\tsid\t[\da-f]{32}$/),
    expect.stringMatching(/^localhost\tFALSE\t\/\tFALSE\t\d{10}\ttheme\tdark$/),
  ]);
  const { stdout } = await signIn([...me, "--as", "header"]);
  expect(stdout).toMatch(/^Cookie: sid=[\da-f]{32}; theme=dark\n$/);
  const [, value = ""] = stdout.trim().split("Cookie: ");
  expect(await (await fetch(`${app.url}/me`, { headers: { cookie: value } })).text()).toContain("I am ");
});

test("--json says who, where and until when, and has the cookies unless a file has them", async () => {
  const { stdout } = await signIn([...me, "--json"]);
  expect(JSON.parse(stdout)).toEqual({
    ...{ user: "alice", start: `${app.url}/login`, signedIn: `${app.url}/me`, as: "storage-state", output: null },
    ...{
      expires: expect.stringMatching(/^\d{4}-.*Z$/),
      cookies: [expect.anything(), expect.anything()],
      origins: [],
      sessionStorage: {},
    },
  });
  const output = join(cwd, "one.json");
  const written = await signIn(["--json", "--output", output]);
  expect(Object.keys(JSON.parse(written.stdout) as object)).toEqual([
    "user",
    "start",
    "signedIn",
    "as",
    "output",
    "expires",
  ]);
  expect(JSON.parse(written.stdout)).toMatchObject({ signedIn: null, output });
});

test("--output is for its owner only, and several users have a file each", async () => {
  const output = join(cwd, "auth", "{user}.json");
  const { code, stdout, stderr } = await signIn([...me, "--user", "alice", "--user", "a+b", "--output", output]);
  expect([code, stdout]).toEqual([0, ""]);
  expect(stderr).toContain(`use: { storageState: '${join(cwd, "auth", "alice.json")}' }`);
  for (const name of ["alice", "a_b"]) {
    const file = join(cwd, "auth", `${name}.json`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(app.sessions.has(sidIn(readFileSync(file, "utf8")))).toBe(true);
  }
  const both = ["--user", "a+b", "--user", "a_b"];
  expect(await signIn([...both, "--output", output])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("the same file"),
  });
  expect(await signIn(both)).toMatchObject({ code: 2, stderr: expect.stringContaining("{user}") });
});

test("says so where Git would take the file, or has it", { tags: ["git"] }, async () => {
  const folder = join(cwd, "repository");
  mkdirSync(folder);
  const git = (...words: readonly string[]) => execFileSync("git", words, { cwd: folder, stdio: "ignore" });
  git("init");
  const output = ["--output", join(folder, "state.json")];
  expect((await signIn(output)).stderr).toContain("Git would take");
  git("add", "state.json");
  expect((await signIn(output)).stderr).toContain("Git tracks");
  git("rm", "--cached", "-f", "state.json");
  writeFileSync(join(folder, ".gitignore"), "state.json\n");
  expect((await signIn(output)).stderr).not.toContain("Git");
});

test("a user is the first active one, and an unknown or a suspended one is refused", async () => {
  expect((await signIn(["--user", "nobody"])).code).toBe(3);
  expect(await signIn(["--user", "zed"])).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("zed is suspended"),
  });
});

test("one-time codes are given, and a password that the app asks for is not", async () => {
  await idp.call("seed", { settings: { acr: { "urn:otp": ["otp"], "urn:pwd": ["pwd"] } } });
  await guarded.call("seed", { settings: { acr: { "urn:otp": ["otp"], "urn:pwd": ["pwd"] } } });
  ways = { asks: { acr_values: "urn:otp" } };
  for (const server of [idp, guarded]) expect((await signIn([...me, "--user", "erin"], server)).code).toBe(0);
  await idp.call("seed", { users: [{ username: "pat", password: "correct horse battery" }] });
  ways = { asks: { acr_values: "urn:pwd" } };
  expect(await signIn([...me, "--user", "pat"])).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("password of pat"),
  });
});

test("where nobody can be picked, the session begins by an act of its own", async () => {
  for (const asks of [{}, { prompt: "login" }]) {
    ways = { asks };
    const { code, stdout } = await signIn([...me, "--user", "alice"], guarded);
    expect([code, app.sessions.has(sidIn(stdout))]).toEqual([0, true]);
  }
  const acts = await guarded.call("acts", {});
  expect(acts.filter(({ command }) => command === "idp sign-in --user alice")).toHaveLength(2);
});

test("where the server signs somebody else in, the command says so", async () => {
  expect(await signIn([...me, "--user", "alice"], automatic)).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("alice was not signed in: a_b was"),
  });
  expect((await signIn([...me, "--user", "a_b"], automatic)).code).toBe(0);
});

test("exits 5 where the app or the server does not answer", async () => {
  const dead = ["sign-in", "--start", "http://localhost:1/login", "--url", idp.issuer, "--data", join(cwd, "none")];
  expect((await idpHere(dead, "", { IDP_ADMIN_TOKEN: idp.adminToken })).code).toBe(5);
  const noServer = [
    "sign-in",
    "--start",
    `${app.url}/login`,
    "--url",
    "http://localhost:1",
    "--data",
    join(cwd, "none"),
  ];
  expect((await idpHere(noServer, "", { IDP_ADMIN_TOKEN: idp.adminToken })).code).toBe(5);
});

test("a page that needs scripts is for --browser, and one with several buttons for --start-button", async () => {
  ways = { answers: (path) => (path === "/login" ? { status: 200, body: "<script>go()</script>" } : null) };
  expect(await signIn(me)).toMatchObject({ code: 6, stderr: expect.stringContaining("--browser") });
  const page = `<form action="/search"><input name="q"><button>Search</button></form>
    <form method="post" action="/begin"><input type="hidden" name="csrf" value="1"><button>Sign in
      with <b>idp</b></button></form><a href="/begin">Or this link</a>`;
  ways = {
    answers: (path) =>
      path === "/login"
        ? { status: 200, body: page }
        : path === "/begin"
          ? { status: 302, headers: { location: "/really" } }
          : null,
  };
  const really = ways.answers;
  const begin = { status: 302, headers: { location: "" } };
  ways = { answers: (path, req) => (path === "/really" ? begin : (really?.(path, req) ?? null)) };
  begin.headers.location = await new Promise((resolve) => {
    const usual = ways;
    ways = {};
    void fetch(`${app.url}/login`, { redirect: "manual" }).then((response) => {
      ways = usual;
      resolve(response.headers.get("location") ?? "");
    });
  });
  for (const text of ["Sign in with idp", "Or this link"]) {
    expect((await signIn([...me, "--start-button", text])).code).toBe(0);
  }
});

test("an app that never answers ends the command after --timeout: exit 5", async () => {
  const silent = createServer(() => undefined).listen(0, "127.0.0.1");
  onTestFinished(() => {
    silent.closeAllConnections();
    silent.close();
  });
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const words = ["sign-in", "--start", `http://127.0.0.1:${port}/login`, "--timeout", "1", "--url", idp.issuer];
  const { code, stdout, stderr } = await idpHere(words, "", { IDP_ADMIN_TOKEN: idp.adminToken });
  expect([code, stdout]).toEqual([5, ""]);
  expect(stderr).toMatch(/the sign-in of alice did not end within 1 s\n.*--timeout SECONDS/);
});
