import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { bin, launch, newFolder, startIdp } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";

const lines = (text: string): string[] => text.trimEnd().split("\n");

test("off a terminal start-up ends with the ready line, and the screen before it holds what an app needs", async () => {
  const { output, issuer, pid } = await startIdp([], { cwd: newFolder() });
  expect(lines(output.stdout).at(-1)).toBe(`idp ready ${issuer} pid ${pid}`);
  for (const needed of [
    `Issuer      ${issuer}`,
    `${issuer}/.well-known/openid-configuration`,
    "alice  alice@example.com  password alice",
    `OIDC_ISSUER=${issuer}`,
    "OIDC_CLIENT_ID=demo-app",
    "OIDC_CLIENT_SECRET=demo-secret",
    "OIDC_REDIRECT_URI=http://localhost:3000/callback",
    ".idp/data.json, kept between runs",
    "users 4 added; clients 4 added",
  ]) {
    expect(output.stdout).toContain(needed);
  }
  expect(output.stderr).toBe("");
  expect(Math.max(...lines(output.stdout).map((line) => line.length))).toBeLessThanOrEqual(80);
});

test("--quiet: the ready line alone, and no log", async () => {
  const { output, issuer, stop } = await startHere(["--quiet"], { cwd: newFolder() });
  await fetch(`${issuer}/_idp/health`);
  await stop();
  expect(output).toEqual({ stdout: `idp ready ${issuer} pid ${process.pid}\n`, stderr: "" });
});

test("passwords and secrets are shown for the demo fixtures only", async () => {
  const cwd = newFolder();
  const users = Array.from({ length: 20 }, (_, at) => ({ username: `user${at}`, password: `hunter${at}` }));
  const clients = [{ client_id: "web", client_secret: "hush-hush", redirect_uris: ["https://web.example.test/cb"] }];
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ users, clients }));
  const { output } = await startHere([], { cwd });
  expect(output.stdout).not.toMatch(/hunter|hush-hush/);
  expect(output.stdout).toContain("… 14 more: idp users list");
  expect(output.stdout).toContain("# To show OIDC_CLIENT_SECRET: idp clients show web --show-secrets");
  expect(output.stdout).toContain("idp.fixtures.json\n");
});

test("--json: the ready event, then one line a request, and nothing else", async () => {
  const cwd = newFolder();
  const { output, issuer, printed } = await startHere(["--json"], { cwd });
  expect(JSON.parse(output.stdout)).toEqual({
    event: "ready",
    issuer,
    port: Number(new URL(issuer).port),
    pid: process.pid,
    data: join(cwd, ".idp", "data.json"),
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
  });
  await fetch(`${issuer}/_idp/health`);
  await fetch(`${issuer}/api/v2/oauth/userinfo`);
  await printed("missing_token");
  const events = lines(output.stdout)
    .slice(1)
    .map((line): unknown => JSON.parse(line));
  expect(events).toEqual([
    expect.objectContaining({
      event: "request",
      method: "GET",
      path: "/_idp/health",
      status: 200,
      ms: expect.any(Number),
    }),
    expect.objectContaining({ event: "request", status: 401, error: expect.stringContaining("missing_token") }),
  ]);
});

test("for a person a refusal has its reason below it, and no token or code is in the log", async () => {
  const { output, issuer, printed } = await startHere([], { cwd: newFolder() });
  const query = new URLSearchParams({
    response_type: "code",
    client_id: "demo-app",
    redirect_uri: "http://localhost:3001/callback",
    state: "secret-state",
  });
  await fetch(`${issuer}/api/v2/oauth/authorize?${query.toString()}`);
  await printed("authorize     400");
  await fetch(`${issuer}/api/v2/oauth/userinfo`, { headers: { authorization: "Bearer secret-token" } });
  await printed("invalid_token");
  expect(output.stdout).toMatch(/^\d\d:\d\d:\d\d {2}GET {2}authorize {4,}400/m);
  expect(output.stdout).toMatch(/asked: +http:\/\/localhost:3001\/callback/);
  expect(output.stdout).not.toMatch(/secret-(state|token)/);
});

test("a remark is logged with its time, as requests are", async () => {
  const { output, issuer, child } = await startIdp(["--memory"], { cwd: newFolder() });
  const redirect = "http%3A%2F%2Flocalhost%3A3000%2Fcallback";
  await fetch(
    `${issuer}/api/v2/oauth/authorize?response_type=code&client_id=demo-app&redirect_uri=${redirect}&scope=openid+shoes`,
    { redirect: "manual" },
  );
  while (!output.stderr.includes("\n")) await once(child.stderr, "data");
  expect(output.stderr).toMatch(/^\d\d:\d\d:\d\d {2}scope "shoes" is not defined: ignored\n$/);
});

test.each(["SIGINT", "SIGTERM"] as const)("%s: exit 0, and the lock is gone", async (signal) => {
  const cwd = newFolder();
  const { child, ended, output } = await startIdp([], { cwd });
  child.kill(signal);
  expect(await ended).toEqual({ code: 0, signal: null });
  expect(output.stderr).toBe("");
  expect(existsSync(join(cwd, ".idp", "lock.json"))).toBe(false);
});

test("a second Ctrl+C does not cut the end short", async () => {
  const cwd = newFolder();
  const { child, ended } = await startIdp([], { cwd });
  child.kill("SIGINT");
  child.kill("SIGINT");
  child.kill("SIGTERM");
  expect(await ended).toEqual({ code: 0, signal: null });
  expect(existsSync(join(cwd, ".idp", "lock.json"))).toBe(false);
});

test("a signal during start-up ends it too", async () => {
  const cwd = newFolder();
  const fixtures = join(cwd, "slow.json");
  execFileSync("mkfifo", [fixtures]);
  const child = launch(["start", "--port", "auto", "--fixtures", "slow.json"], { cwd });
  // It can be opened this way once a reader is there, which reads until everything is written.
  const openWriter = (): number => openSync(fixtures, constants.O_WRONLY | constants.O_NONBLOCK);
  const writer = await vi.waitFor(openWriter, { timeout: 30_000, interval: 5 });
  child.kill("SIGTERM");
  writeSync(writer, "{}");
  closeSync(writer);
  expect(await once(child, "close")).toEqual([0, null]);
  expect(existsSync(join(cwd, ".idp", "lock.json"))).toBe(false);
});

test("the keys are made at the first start, and are the same at the next", async () => {
  const cwd = newFolder();
  const first = await startIdp([], { cwd });
  const folder = join(cwd, ".idp");
  const isKept = (): boolean =>
    readdirSync(folder).some((name) => readFileSync(join(folder, name), "utf8").includes('"alg":"RS256"'));
  await expect.poll(isKept).toBe(true);
  const keys = async (issuer: string): Promise<unknown> => (await fetch(`${issuer}/api/v2/oauth/jwks`)).json();
  const made = await keys(first.issuer);
  first.child.kill("SIGKILL");
  await first.ended;
  expect(await keys((await startIdp([], { cwd })).issuer)).toEqual(made);
});

test("status gives the whole path of the data, wherever the server was started", async () => {
  const cwd = newFolder();
  mkdirSync(join(cwd, "app"));
  const { stop } = await startHere(["--data", "../kept"], { cwd: join(cwd, "app") });
  const data = async (): Promise<unknown> =>
    JSON.parse((await idpIn(cwd, ["status", "--json", "--data", "kept"])).stdout).data;
  expect(await data()).toBe(join(cwd, "kept", "data.json"));
  await stop();
  expect(await data()).toBe(join(cwd, "kept", "data.json"));
});

test("idp stop ends it as Ctrl+C would, and waits until it is gone", async () => {
  const cwd = newFolder();
  const { ended, pid } = await startIdp([], { cwd });
  const stopped = await idpIn(cwd, ["stop", "--json"]);
  expect(JSON.parse(stopped.stdout)).toMatchObject({ stopped: true, pid });
  expect(existsSync(join(cwd, ".idp", "lock.json"))).toBe(false);
  expect(await ended).toEqual({ code: 0, signal: null });
});

test("a running server sees at once what a command revoked", async () => {
  const cwd = newFolder();
  const { issuer } = await startHere([], { cwd });
  const words = "issue tokens --user alice --client demo-app --json".split(" ");
  const { access_token: token } = JSON.parse((await idpIn(cwd, words)).stdout) as { access_token: string };
  const userinfo = () => fetch(`${issuer}/api/v2/oauth/userinfo`, { headers: { authorization: `Bearer ${token}` } });
  expect((await userinfo()).status).toBe(200);
  await idpIn(cwd, ["users", "suspend", "alice"]);
  expect((await userinfo()).status).toBe(403);
  await idpIn(cwd, ["users", "restore", "alice"]);
  expect((await userinfo()).status).toBe(200);
  await idpIn(cwd, "revoke --user alice --client demo-app".split(" "));
  const revoked = await userinfo();
  expect(revoked.status).toBe(403);
  expect(await revoked.json()).toMatchObject({ message: "Access revoked by user" });
});

test("a reader that closes the output early is not an error", async () => {
  const cwd = newFolder();
  const users = Array.from({ length: 5000 }, (_, at) => ({ username: `user${at}` }));
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ users }));
  expect((await idpIn(cwd, ["seed"])).code).toBe(0);
  const shell = `{ "${process.execPath}" "${bin}" users list; echo "exit $?" >&2; } | head -n 1`;
  const printed = await new Promise<string>((resolve) => {
    execFile("sh", ["-c", shell], { cwd }, (_error, stdout, stderr) => {
      resolve(stdout + stderr);
    });
  });
  expect(lines(printed)).toEqual([expect.stringContaining("USERNAME"), "exit 0"]);
});

test("your own fixtures beside data that has the demo: the app is from the fixtures, and the rest is listed", async () => {
  const cwd = newFolder();
  const first = await startHere([], { cwd });
  await first.stop();
  writeFileSync(
    join(cwd, "idp.fixtures.yaml"),
    "# Not demo-app.\nclients: [{ client_id: my-demo-app, redirect_uris: ['http://localhost:3000/cb'] }]",
  );
  const { output } = await startHere([], { cwd });
  expect(output.stdout).toContain("OIDC_CLIENT_ID=my-demo-app\n");
  expect(output.stdout).toContain("also 4 users and 4 clients from before: idp reset removes them");
  expect((await idpIn(cwd, ["env"])).stdout).toContain("OIDC_CLIENT_ID=my-demo-app\n");
});

test("a server that no command finds by its folder is named in the commands of its screen; one elsewhere tells its port", async () => {
  const cwd = newFolder();
  writeFileSync(
    join(cwd, "idp.fixtures.yaml"),
    "clients: [{ client_id: shop, client_secret: shop-secret, redirect_uris: ['http://localhost:3000/cb'] }]",
  );
  const { issuer, output } = await startHere(["--memory"], { cwd });
  const [, command = ""] = /OIDC_CLIENT_SECRET: idp (.*)/.exec(output.stdout) ?? [];
  expect(command).toBe(`clients show shop --show-secrets --url ${issuer}`);
  expect(output.stdout).not.toContain("Listens on");
  const moved = await startHere(["--memory", "--issuer", "http://idp.test:9"], { cwd });
  expect(moved.output.stdout).toMatch(/Listens on {2}port [1-9]\d+\n/);
});
