import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bin, environment, idp, launch, newFolder } from "../helpers/cli.ts";
import { idpHere, idpIn } from "../helpers/command.ts";
import { controlC, onTerminal } from "../helpers/terminal.ts";

/** `idp exec`: a command with its own server. */

const words = (flags: readonly string[], command: readonly string[]) => ["exec", ...flags, "--", ...command];

/** Here, where the child must print nothing: it has the standard streams of this process. */
const exec = (cwd: string, flags: readonly string[], command: readonly string[], env: Record<string, string> = {}) =>
  idpIn(cwd, words(flags, command), "", environment(env));

/** As a process, whose standard streams are the child's. */
const execApart = (
  cwd: string,
  flags: readonly string[],
  command: readonly string[],
  env: Record<string, string> = {},
) => idp(words(flags, command), { cwd, env });

/** A program of Node that is run as the child. */
const node = (program: string): readonly string[] => [process.execPath, "--input-type=module", "--eval", program];

const chosen =
  "JSON.stringify(Object.fromEntries(Object.entries(process.env).filter(([name]) => /OIDC|AUTH_|IDP_/.test(name))))";

async function variables(flags: readonly string[], env: Record<string, string> = {}, cwd = newFolder()) {
  const file = join(newFolder(), "variables.json");
  const keep = node(`import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(file)}, ${chosen})`);
  const { code, stdout, stderr } = await exec(cwd, ["--quiet", ...flags], keep, env);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "", stderr: "" });
  return JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, string>>;
}

test("the child knows the issuer, its client, and how to reach the server; stdout is the child's alone", async () => {
  const { code, stdout, stderr } = await execApart(newFolder(), ["--quiet"], node(`console.log(${chosen})`));
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { IDP_URL, IDP_ADMIN_TOKEN, ...app } = JSON.parse(stdout) as Readonly<Record<string, string>>;
  expect(app).toEqual({
    OIDC_ISSUER: expect.stringMatching(/^http:\/\/localhost:\d+$/),
    OIDC_CLIENT_ID: "demo-app",
    OIDC_CLIENT_SECRET: "demo-secret",
    OIDC_REDIRECT_URI: "http://localhost:3000/callback",
    OIDC_DISCOVERY_URL: `${String(app["OIDC_ISSUER"])}/.well-known/openid-configuration`,
  });
  expect(IDP_URL).toBe(app["OIDC_ISSUER"]);
  expect(IDP_ADMIN_TOKEN).toMatch(/^.{16,}$/);
});

test("--client, --prefix and --name; a public client has no secret, not even one of the environment around", async () => {
  const { IDP_URL, IDP_ADMIN_TOKEN, ...app } = await variables(
    ["--client", "demo-spa", "--prefix", "VITE_", "--name", "issuer=AUTH_ISSUER"],
    { VITE_OIDC_CLIENT_SECRET: "of another server", IDP_ADMIN_TOKEN: "the-token-of-another-server" },
  );
  expect(app).toEqual({
    AUTH_ISSUER: IDP_URL,
    VITE_OIDC_CLIENT_ID: "demo-spa",
    VITE_OIDC_REDIRECT_URI: "http://localhost:5173/callback",
    VITE_OIDC_DISCOVERY_URL: `${IDP_URL ?? ""}/.well-known/openid-configuration`,
  });
  expect(IDP_ADMIN_TOKEN).not.toBe("the-token-of-another-server");
});

test("fixtures are found as `start` finds them, and the first client that signs users in is the app's", async () => {
  const cwd = newFolder();
  const clients = [
    { client_id: "worker", client_secret: "w", grant_types: ["client_credentials"] },
    { client_id: "tool", redirect_uris: ["http://127.0.0.1:*/cb"] },
    { client_id: "web", redirect_uris: ["http://localhost:1/cb"] },
  ];
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ clients }));
  writeFileSync(join(cwd, "other.json"), JSON.stringify({ clients: clients.slice(0, 2) }));
  expect(await variables([], {}, cwd)).toMatchObject({ OIDC_CLIENT_ID: "web" });
  const tool = await variables(["--fixtures", "other.json"], {}, cwd);
  expect(tool).toMatchObject({ OIDC_CLIENT_ID: "tool" });
  expect(tool).not.toHaveProperty("OIDC_REDIRECT_URI");
});

test("commands in the child reach this server, and nothing is written into the folder", async () => {
  const cwd = newFolder();
  const program = `"${process.execPath}" "${bin}"`;
  const script = `${program} users suspend bob && ${program} users show bob && ls -A`;
  const { code, stdout, stderr } = await execApart(cwd, [], ["sh", "-c", script]);
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/bob .*suspended/);
  expect(stdout).not.toContain(".idp");
  expect(stderr).toMatch(/^idp: http:\/\/localhost:\d+ in memory, 4 users, 4 clients$/m);
  expect(stderr).toMatch(/^idp: stopped\. sh ended with 0\.$/m);
});

test("settings are flags as of `start`", async () => {
  const ask = node(`
    const { OIDC_ISSUER, OIDC_REDIRECT_URI } = process.env;
    const query = new URLSearchParams({ response_type: "code", client_id: "demo-app", redirect_uri: OIDC_REDIRECT_URI });
    const jar = new Map();
    let url = OIDC_ISSUER + "/api/v2/oauth/authorize?" + query;
    while (url.startsWith(OIDC_ISSUER)) {
      const cookie = [...jar].map((pair) => pair.join("=")).join("; ");
      const answer = await fetch(url, { redirect: "manual", headers: { cookie } });
      for (const line of answer.headers.getSetCookie()) jar.set(...line.split(";")[0].split("="));
      url = new URL(answer.headers.get("location"), url).href;
    }
    console.log(url);
  `);
  const { stdout } = await execApart(newFolder(), ["--login", "auto:alice", "--consent", "skip"], ask);
  expect(stdout).toMatch(/^http:\/\/localhost:3000\/callback\?code=/);
});

test("runs beside each other have servers of their own", async () => {
  const cwd = newFolder();
  const issuers = await Promise.all([1, 2, 3].map(async () => (await variables([], {}, cwd))["OIDC_ISSUER"]));
  expect(new Set(issuers).size).toBe(3);
});

test("standard input is the child's", async () => {
  const read = node("process.stdin.pipe(process.stdout)");
  const { stdout } = await idp(["exec", "--quiet", "--", ...read], { cwd: newFolder(), input: "typed" });
  expect(stdout).toBe("typed");
});

test.each([
  [["sh", "-c", "exit 7"], 7],
  [["sh", "-c", "kill -KILL $$"], 137],
  [["sh", "-c", "kill -TERM $$"], 143],
  [["no-such-program-anywhere"], 127],
  [["./not-executable"], 126],
])("exec -- %j: exit %d", async (command, expected) => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "not-executable"), "");
  chmodSync(join(cwd, "not-executable"), 0o644);
  const { code, stderr } = await exec(cwd, [], command);
  expect(code).toBe(expected);
  expect(stderr).not.toMatch(/^\s+at /m);
});

test("a whole line as one word: how a shell is given it", async () => {
  const { code, stderr } = await exec(newFolder(), [], ["npm test"]);
  expect(code).toBe(127);
  expect(stderr).toContain("npm test was not found\n  A whole line is for a shell: idp exec -- sh -c 'npm test'\n");
});

test("125 if the server cannot start: a bad fixture with its place, an unknown client or user; the child is not run", async () => {
  const cwd = newFolder();
  const bad = join(cwd, "bad.yaml");
  writeFileSync(bad, "users:\n  - usrname: x\n");
  const child = ["sh", "-c", "echo > ran"];
  const fixture = await exec(cwd, ["--fixtures", "bad.yaml"], child);
  expect(fixture).toMatchObject({ code: 125, stdout: "" });
  // Once: the message of the library lists the problems too.
  expect(fixture.stderr.split("bad.yaml:2:5 users[0].usrname")).toHaveLength(2);
  expect(fixture.stderr).toContain("Error: the fixtures have 2 problems; nothing was applied\n");
  const client = await exec(cwd, ["--client", "demo-ap", "--json"], child);
  expect(client).toMatchObject({ code: 125, stdout: "" });
  expect(JSON.parse(client.stderr)).toMatchObject({
    error: {
      code: "not_found",
      message: expect.stringMatching(/^no client "demo-ap"\. Clients: demo-app, /),
      hint: "Did you mean demo-app?",
    },
  });
  const user = await exec(cwd, ["--login", "auto:alcie", "--json"], child);
  expect(user).toMatchObject({ code: 125, stdout: "" });
  expect(JSON.parse(user.stderr)).toMatchObject({
    error: {
      code: "not_found",
      message: expect.stringMatching(/^no user "alcie"\. Users: alice, bob, /),
      hint: "Did you mean alice?",
    },
  });
  const nobody = await exec(cwd, ["--login", "auto:somebody-else", "--json"], child);
  expect(JSON.parse(nobody.stderr).error).not.toHaveProperty("hint");
  expect(existsSync(join(cwd, "ran"))).toBe(false);
});

test.each([
  [["exec", "npm", "test"], "Put -- before it: idp exec -- npm test"],
  [["exec", "npm", "test", "--coverage"], "Put -- before the command: idp exec -- npm test"],
  [["exec"], "Put -- before it: idp exec -- npm test"],
  [["exec", "--"], "Put -- before it: idp exec -- npm test"],
  [["exec", "--", ""], "Put -- before it: idp exec -- npm test"],
  [["exec", "stray", "--", "true"], "Put -- before it: idp exec -- stray true"],
  [["exec", "--fixtrues", "x", "--", "true"], "Did you mean --fixtures? See: idp exec --help"],
  [
    ["exec", "--name", "x=Y", "--", "true"],
    "It must be issuer, client_id, client_secret, redirect_uri, discovery, authorization_url, token_url, userinfo_url, then = and a name",
  ],
  [["exec", "--name", "issuer=A-B", "--", "true"], '"A-B" is not a variable name'],
  [["exec", "--prefix", "9", "--", "true"], "It must be letters, digits and _"],
  [["exec", "--color", "sometimes", "--", "true"], "Allowed choices are auto, always, never"],
  [["--color", "sometimes", "exec", "--", "true"], "Allowed choices are auto, always, never"],
  [["exec", "--issuer", "https://a.test/", "--", "true"], "--issuer takes the name of an issuer here"],
])("idp %j: exit 125, as whatever stops exec before its command runs", async (words, said) => {
  const { code, stdout, stderr } = await idpHere(words);
  expect({ code, stdout }).toEqual({ code: 125, stdout: "" });
  expect(stderr).toContain(said);
});

/** Says when it runs, and then what it was sent. */
const patient = `
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => { console.log("got " + signal); setTimeout(() => process.exit(9), 50) });
  console.log("running");
  setInterval(() => {}, 1000);
`;

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
  "%s to idp is passed on, and the child ends in its own way",
  async (signal) => {
    const child = launch(["exec", "--quiet", "--", ...node(patient)], { cwd: newFolder() });
    onTestFinished(() => {
      child.kill("SIGKILL");
    });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      if (stdout === "running\n") child.kill(signal);
    });
    expect(await new Promise((resolve) => child.on("close", resolve))).toBe(9);
    expect(stdout).toBe(`running\ngot ${signal}\n`);
  },
);

test(
  "Ctrl+C on a terminal reaches the child once; idp waits for it, and ends without a stack trace",
  { tags: ["script"] },
  async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "patient.mjs"), patient);
    const { type, shown, ended, screen } = onTerminal(`exec -- "${process.execPath}" patient.mjs`, cwd);
    await shown("running");
    type(controlC);
    expect(await ended).toBe(9);
    expect(screen().match(/got SIGINT/g)).toHaveLength(1);
    expect(screen()).toMatch(/idp: stopped\. .* ended with 9\./);
    expect(screen()).not.toMatch(/Error|^\s+at /m);
  },
);

test("Ctrl+C ends a child that does not handle it: 130", { tags: ["script"] }, async () => {
  const { type, shown, ended, screen } = onTerminal("exec -- sh -c 'echo running; exec sleep 60'", newFolder());
  await shown("running");
  type(controlC);
  expect(await ended).toBe(130);
  expect(screen()).not.toMatch(/Error|^\s+at /m);
});

test("the server is gone at once when the child is, also with a request that nobody answers", async () => {
  const hold = `
    const { connect } = await import("node:net");
    const { port } = new URL(process.env.OIDC_ISSUER);
    // A grandchild that holds its connection open, as a browser does that outlives the tests.
    const { spawn } = await import("node:child_process");
    const holder = "const s = require('node:net').connect(" + port + ", '127.0.0.1', () => { s.write('POST /api/v2/oauth/token HTTP/1.1\\\\r\\\\nHost: localhost\\\\r\\\\nContent-Type: application/x-www-form-urlencoded\\\\r\\\\nContent-Length: 9\\\\r\\\\n\\\\r\\\\n'); process.send('held'); process.disconnect(); }); s.on('close', () => process.exit()); s.on('error', () => process.exit())";
    const child = spawn(process.execPath, ["--eval", holder], { stdio: ["ignore", "ignore", "ignore", "ipc"], detached: true });
    child.on("message", () => { child.unref(); console.log("held"); process.exit(0); });
  `;
  // A server that is closed waits 5 s for such a request: here, that time never comes.
  const late =
    "const { setTimeout: later } = globalThis; globalThis.setTimeout = (f, ms) => later(f, ms === 5000 ? 1e9 : ms)";
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(late)}` };
  expect(await execApart(newFolder(), ["--quiet"], node(hold), env)).toMatchObject({ code: 0, stdout: "held\n" });
});

test("a command that fails leaves the refused requests on stderr, and --log all of them in a file", async () => {
  const cwd = newFolder();
  const app = (code: number): readonly string[] =>
    node(`const { OIDC_ISSUER } = process.env;
      await fetch(OIDC_ISSUER + "/.well-known/openid-configuration");
      const body = new URLSearchParams({ grant_type: "authorization_code", code: "wrong", client_id: "demo-app", client_secret: "not-it" });
      await fetch(OIDC_ISSUER + "/api/v2/oauth/token", { method: "POST", body });
      process.exit(${code});`);
  const failed = await exec(cwd, ["--log", "requests.ndjson"], app(3));
  expect(failed).toMatchObject({ code: 3, stdout: "" });
  expect(failed.stderr).toMatch(/1 of 2 requests refused\n[^]*token {2}401/);
  // The server is gone, so its evidence names no command that needs it.
  expect(failed.stderr).toMatch(
    / invalid_client: .*\n {6}rule: RFC 6749 5\.2\n {6}fix: see the client demo-app in the fixtures\n/,
  );
  expect(failed.stderr).not.toContain("not-it");
  const lines = readFileSync(join(cwd, "requests.ndjson"), "utf8").trim().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { endpoint: string }).endpoint)).toEqual(["discovery", "token"]);
  expect((await exec(cwd, [], app(0))).stderr).not.toContain("refused");
  expect((await exec(cwd, ["--log", "no/such/folder"], app(0))).code).toBe(125);
  expect((await exec(cwd, [], node("process.exit(2)"))).stderr).toContain("idp was asked nothing.");
});

test("a log that could not be written hides neither the exit code of the command nor what was refused", async () => {
  const cwd = newFolder();
  const app = node(`await fetch(process.env.OIDC_ISSUER + "/api/v2/oauth/userinfo"); process.exit(9)`);
  const { code, stderr } = await exec(cwd, ["--log", "/dev/full"], app);
  expect(code).toBe(9);
  expect(stderr).toContain("Error: /dev/full cannot be written (ENOSPC)");
  expect(stderr).toMatch(/1 of 1 request refused\n[^]*userinfo {2}401/);
});

test("what tests clear is still evidence, and so is what they asked of other issuers", async () => {
  const cwd = newFolder();
  const app = node(`const { IDP_URL, IDP_ADMIN_TOKEN } = process.env;
    const api = (path, body) => fetch(IDP_URL + "/_idp/api/" + path, { method: body ? "POST" : "DELETE",
      headers: { authorization: "Bearer " + IDP_ADMIN_TOKEN, "content-type": "application/json" }, body });
    await api("issuers", JSON.stringify({ name: "w1" }));
    await fetch(IDP_URL + "/i/w1/api/v2/oauth/userinfo");
    await fetch(IDP_URL + "/api/v2/oauth/userinfo");
    await api("requests");
    await api("issuers/w1");
    process.exit(3);`);
  const { stderr } = await exec(cwd, ["--log", "requests.ndjson"], app);
  expect(stderr).toContain("2 of 2 requests refused");
  expect(readFileSync(join(cwd, "requests.ndjson"), "utf8").match(/"userinfo"/g)).toHaveLength(2);
});
