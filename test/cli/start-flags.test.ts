/** What each flag of `idp start`, and each variable in place of one, changes from outside. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { bin, environment, launch, newFolder, startIdp } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";
import { authorizeUrl, jwtPart, refresh, type Body } from "../helpers/client.ts";

const issued = async (cwd: string): Promise<Body> => {
  const words = "issue tokens --user alice --client demo-app --json".split(" ");
  return JSON.parse((await idpIn(cwd, words)).stdout) as Body;
};

/** Seconds. */
const lifeOf = (token: string): number => {
  const { exp, iat } = jwtPart(token, 1);
  return Number(exp) - Number(iat);
};

test("--refresh-token-ttl is the life of a refresh token, and of those that follow it", async () => {
  const cwd = newFolder();
  const server = await startHere(["--refresh-token-ttl", "3600"], { cwd });
  const { refresh_token: first } = await issued(cwd);
  expect(lifeOf(first)).toBe(3600);
  expect(lifeOf((await refresh(server, first)).json.refresh_token)).toBe(3600);
});

test("in a codespace, start says the flags for its address, changes nothing by itself, and says nothing where --issuer is given", async () => {
  const cwd = newFolder();
  const env = { CODESPACE_NAME: "fuzzy-disco-4jq" };
  const server = await startHere(["--memory"], { cwd, env });
  const { port } = new URL(server.issuer);
  expect(server.issuer).toBe(`http://localhost:${port}`);
  expect(server.output.stderr).toContain(
    `idp start --port auto --memory --port ${port} --issuer https://fuzzy-disco-4jq-${port}.app.github.dev --backchannel dynamic`,
  );
  expect(server.output.stdout).not.toContain("github.dev");
  await server.stop();
  const other = await startHere(["--memory", "--json"], {
    cwd,
    env: { ...env, GITHUB_CODESPACES_PORT_FORWARDING_DOMAIN: "preview.example.com" },
  });
  expect(other.output.stderr).toMatch(
    / --issuer https:\/\/fuzzy-disco-4jq-\d+\.preview\.example\.com --backchannel dynamic/,
  );
  await other.stop();
  const issuer = "https://fuzzy-disco-4jq-4370.app.github.dev";
  const reachable = await startHere(["--memory", "--issuer", issuer, "--backchannel", "dynamic"], { cwd, env });
  expect(reachable.issuer).toBe(issuer);
  expect(reachable.output.stderr).not.toContain("codespace");
});

test("a life may have a unit", async () => {
  const cwd = newFolder();
  await startHere(["--code-ttl", "45s", "--access-token-ttl", "5m", "--refresh-token-ttl", "2d"], { cwd });
  const tokens = await issued(cwd);
  expect([lifeOf(tokens.access_token), lifeOf(tokens.refresh_token)]).toEqual([300, 2 * 86_400]);
  const code = await idpIn(cwd, "issue code --user alice --client demo-app --json".split(" "));
  expect(JSON.parse(code.stdout)).toMatchObject({ expires_in: 45 });
  expect((await idpIn(cwd, ["wait", "--timeout", "1h"])).code).toBe(0);
});

test("--refresh-rotation off: the same refresh token again and again", async () => {
  const cwd = newFolder();
  const server = await startHere(["--refresh-rotation", "off"], { cwd });
  const { refresh_token: token } = await issued(cwd);
  for (let time = 1; time <= 3; time += 1) {
    const { status, json } = await refresh(server, token);
    expect([status, json.refresh_token]).toEqual([200, token]);
  }
});

test.each([
  ["0", 400],
  ["60", 200],
])("--refresh-grace %s: a rotated refresh token is answered with %i", async (seconds, status) => {
  const cwd = newFolder();
  const server = await startHere(["--refresh-grace", seconds], { cwd });
  const { refresh_token: token } = await issued(cwd);
  expect((await refresh(server, token)).status).toBe(200);
  expect((await refresh(server, token)).status).toBe(status);
});

test("--session-ttl is the life of a browser session", async () => {
  const cwd = newFolder();
  await startHere(["--session-ttl", "120"], { cwd });
  const before = Date.now();
  expect((await idpIn(cwd, ["login", "--user", "alice", "--approve"])).code).toBe(0);
  const { stdout } = await idpIn(cwd, ["sessions", "list", "--json"]);
  const [{ expiresAt = "" } = {}] = JSON.parse(stdout) as { expiresAt?: string }[];
  const life = (Date.parse(expiresAt) - before) / 1000;
  expect(life).toBeGreaterThan(118);
  expect(life).toBeLessThan(140);
});

const isOpen = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port }, () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });

test("--host and IDP_HOST: that address and no other", async () => {
  for (const [args, env] of [
    [["--host", "127.0.0.1"], {}],
    [[], { IDP_HOST: "127.0.0.1" }],
  ] as const) {
    const { issuer } = await startHere(args, { cwd: newFolder(), env });
    const port = Number(new URL(issuer).port);
    expect(await isOpen("127.0.0.1", port)).toBe(true);
    expect(await isOpen("::1", port)).toBe(false);
  }
});

test("--host localhost in any spelling is both loopback addresses, and an empty --host is refused", async () => {
  const { issuer } = await startHere(["--host", "LocalHost"], { cwd: newFolder() });
  const port = Number(new URL(issuer).port);
  expect(await isOpen("127.0.0.1", port)).toBe(true);
  expect(await isOpen("::1", port)).toBe(true);
  const refused = await idpIn(newFolder(), ["start", "--port", "auto", "--host", ""]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('host "" is not an address of this machine\n');
});

test("--trusted-proxy: the log shows the address that counts, and none for this machine", async () => {
  const proxies = ["--trusted-proxy", "127.0.0.0/8", "--trusted-proxy", "::1"];
  const { issuer, output } = await startHere(["--json", ...proxies], { cwd: newFolder() });
  const sent = ["9.9.9.9, 198.51.100.7", "2001:db8::7", "198.51.100.7, unknown", undefined];
  for (const forwarded of sent)
    await fetch(`${issuer}/_idp/health`, { headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded } });
  const logged = (): Body[] =>
    output.stdout
      .split("\n")
      .filter((line) => line.includes('"endpoint":"health"'))
      .map((line) => JSON.parse(line) as Body);
  await vi.waitFor(() => expect(logged()).toHaveLength(4));
  expect(logged().map(({ address }) => address)).toEqual(["198.51.100.7", "2001:db8::7", undefined, undefined]);
});

test("--templates: files of the folder replace built-in ones; a missing folder is refused", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "error.eta"), "<p>our own page</p>");
  const { issuer } = await startHere(["--templates", "."], { cwd });
  const page = async (path: string): Promise<string> =>
    (await fetch(issuer + path, { headers: { accept: "text/html" } })).text();
  expect(await page("/api/v2/oauth/authorize?client_id=nobody")).toContain("our own page");
  expect(await page("/account")).toContain('data-page="login"');
  const refused = await idpIn(newFolder(), ["start", "--port", "auto", "--templates", "none"]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("none");
});

test("--memory keeps nothing, and --ready-file says where it runs", async () => {
  const cwd = newFolder();
  const { issuer } = await startHere(["--memory", "--ready-file", "ready.json"], { cwd });
  const ready: unknown = JSON.parse(readFileSync(join(cwd, "ready.json"), "utf8"));
  expect(ready).toMatchObject({ event: "ready", issuer, pid: process.pid, data: null });
  expect(existsSync(join(cwd, ".idp"))).toBe(false);
});

test("the --ready-file of a server that was killed is gone before the next one is ready, that of one that ended at once", async () => {
  const cwd = newFolder();
  const file = join(cwd, "ready.json");
  const killed = await startIdp(["--ready-file", "ready.json"], { cwd });
  killed.child.kill("SIGKILL");
  await killed.ended;
  expect(existsSync(file)).toBe(true);
  // It ends before it is ready.
  expect((await idpIn(cwd, ["start", "--host", "nowhere.invalid", "--ready-file", file])).code).toBe(2);
  expect(existsSync(file)).toBe(false);
  const ended = await startIdp(["--ready-file", "ready.json"], { cwd });
  expect(existsSync(file)).toBe(true);
  ended.child.kill("SIGTERM");
  await ended.ended;
  expect(existsSync(file)).toBe(false);
});

test("a second start that is refused leaves the --ready-file of the server that runs", async () => {
  const cwd = newFolder();
  const { pid } = await startIdp(["--ready-file", "ready.json"], { cwd });
  expect((await idpIn(cwd, ["start", "--port", "auto", "--ready-file", "ready.json"])).code).toBe(4);
  expect(JSON.parse(readFileSync(join(cwd, "ready.json"), "utf8"))).toMatchObject({ pid });
});

test("a --ready-file of another program is left until the server is ready", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "package.json"), "{}");
  const started = await idpIn(cwd, ["start", "--host", "nowhere.invalid", "--ready-file", "package.json"]);
  expect(started.code).toBe(2);
  expect(readFileSync(join(cwd, "package.json"), "utf8")).toBe("{}");
});

test("--open without a browser prints the address instead", async () => {
  // An opener that opens nothing: the one that ships with `open` looks for browsers by PATH.
  const { output, issuer, child } = await startIdp(["--open", "--memory"], {
    cwd: newFolder(),
    env: { PATH: "/nowhere", DISPLAY: "" },
  });
  const said = `Open it yourself: ${issuer}/\n`;
  while (!output.stderr.includes(said)) await once(child.stderr, "data");
  expect(output.stderr).toContain(said);
});

test("--userinfo-format and --id-token-claims are for clients that register none", async () => {
  const cwd = newFolder();
  const server = await startHere(["--userinfo-format", "standard", "--id-token-claims", "minimal"], { cwd });
  const tokens = await issued(cwd);
  const response = await fetch(`${server.issuer}/api/v2/oauth/userinfo`, {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  });
  expect(await response.json()).not.toHaveProperty("user");
  expect(jwtPart(tokens.id_token, 1)).not.toHaveProperty("name");
});

test("--access-token-typ JWT is the typ of access tokens", async () => {
  const cwd = newFolder();
  await startHere(["--access-token-alg", "RS256", "--access-token-typ", "JWT"], { cwd });
  const { access_token, refresh_token } = await issued(cwd);
  expect([access_token, refresh_token].map((token) => jwtPart(token, 0)["typ"])).toEqual(["JWT", "rt+jwt"]);
});

test("settings' flags win over fixtures", async () => {
  const cwd = newFolder();
  writeFileSync(
    join(cwd, "f.yaml"),
    "users: [{ username: eve }]\nclients: [{ client_id: app, client_secret: s, redirect_uris: [https://a.test/] }]\nsettings: { access_token_ttl: 100, code_ttl: 30 }\n",
  );
  await startHere(["--fixtures", "f.yaml", "--access-token-ttl", "200"], { cwd });
  const tokens = await idpIn(cwd, "issue tokens --user eve --client app --json".split(" "));
  expect(JSON.parse(tokens.stdout)).toMatchObject({ expires_in: 200 });
  const code = await idpIn(cwd, "issue code --user eve --client app --json".split(" "));
  expect(JSON.parse(code.stdout)).toMatchObject({ expires_in: 30 });
});

test("an admin token that is too short is refused", async () => {
  const env = { IDP_ADMIN_TOKEN: "short" };
  expect(await idpIn(newFolder(), ["start", "--port", "auto"], "", env)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("at least 16"),
  });
});

test("--login auto: names a user who is there", async () => {
  const { code, stderr } = await idpIn(newFolder(), "start --port auto --memory --login auto:alcie".split(" "));
  expect(code).toBe(3);
  expect(stderr).toMatch(/no user "alcie"[^]*Did you mean alice\?/);
});

test("--login auto: with an unknown user ends before anything is written: no folder, and no change to an existing one", async () => {
  const cwd = newFolder();
  const start = () => idpIn(cwd, "start --port auto --login auto:zed".split(" "));
  const nobody = { code: 3, stderr: expect.stringContaining('no user "zed"') };
  expect(await start()).toMatchObject(nobody);
  expect(readdirSync(cwd)).toEqual([]);

  const fixtures = join(cwd, "idp.fixtures.json");
  writeFileSync(fixtures, JSON.stringify({ users: [{ username: "eve" }] }));
  expect(await idpIn(cwd, ["seed"])).toMatchObject({ code: 0 });
  const content = () =>
    readdirSync(join(cwd, ".idp")).map((name) => [name, readFileSync(join(cwd, ".idp", name), "utf8")]);
  const before = content();
  writeFileSync(fixtures, JSON.stringify({ users: [{ username: "eve" }, { username: "frank" }] }));
  expect(await start()).toMatchObject(nobody);
  expect(content()).toEqual(before);
});

test("fixtures with a mistake, and a port that is taken, leave no folder either", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "idp.fixtures.json"), '{"users": [{}]}');
  expect((await idpIn(cwd, ["start", "--port", "auto"])).code).toBe(7);
  const other = newFolder();
  const { issuer } = await startHere(["--memory"], { cwd: other });
  expect((await idpIn(other, ["start", "--port", new URL(issuer).port])).code).toBe(4);
  expect([...readdirSync(cwd), ...readdirSync(other)]).toEqual(["idp.fixtures.json"]);
});

/** A test process that starts a server, keeps its standard input open, and waits. The server writes to the same standard output. */
const testProcess = `
  const { spawn } = require("node:child_process");
  const words = ["start", "--port", "0", "--memory", "--json", "--until-stdin-closes"];
  spawn(process.execPath, [${JSON.stringify(bin)}, ...words], { stdio: ["pipe", "inherit", "inherit"] });
`;

test("--until-stdin-closes: no server outlives a test process that was killed", async () => {
  const parent = spawn(process.execPath, ["-e", testProcess], { cwd: newFolder(), env: environment({}) });
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const { issuer } = JSON.parse(line.toString()) as { issuer: string };
  expect((await fetch(`${issuer}/_idp/health`)).status).toBe(200);
  // What was refused is read after the server has ended, so it names no command on it.
  const refused = await fetch(authorizeUrl({ issuer }, { redirect_uri: "http://localhost:3001/callback" }));
  expect(await refused.text()).toContain("in the fixtures, add http://localhost:3001/callback to redirect_uris");
  parent.kill("SIGKILL");
  // Comes once the server has ended, too: it has the same standard output.
  await once(parent, "close");
  await expect(fetch(`${issuer}/_idp/health`)).rejects.toThrow();
});

test("--until-stdin-closes drops what arrives, and ends as with SIGTERM: all data is on disk", async () => {
  const cwd = newFolder();
  const child = launch(["start", "--port", "auto"], { cwd, env: { IDP_UNTIL_STDIN_CLOSES: "true" } });
  const ended = once(child, "close");
  await once(child.stdout, "data");
  child.stdin.write("q\n");
  expect((await idpIn(cwd, ["users", "add", "erin"])).stderr).toContain("via the running server");
  child.stdin.end();
  expect(await ended).toEqual([0, null]);
  expect((await idpIn(cwd, ["users", "show", "erin"])).code).toBe(0);
});

test("--until-stdin-closes and fixtures from standard input exclude each other", async () => {
  const { code, stderr } = await idpIn(newFolder(), ["start", "--until-stdin-closes", "--fixtures", "-"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("both need standard input")]);
});

test.each([
  [["--url", "http://localhost:4370"], "--issuer URL"],
  [["--admin-token-file", "token"], "IDP_ADMIN_TOKEN"],
])("start refuses %s, which it would ignore: exit 2", async (flags, instead) => {
  const { code, stderr } = await idpIn(newFolder(), ["start", "--port", "auto", ...flags]);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(instead) as string });
});

test("the fix of a foreign Host keeps the flags of the server", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "team.json"), "{}");
  const { issuer } = await startHere(["--memory", "--fixtures", "team.json", "--allow-host", "a.test"], { cwd });
  const socket = connect(Number(new URL(issuer).port), "127.0.0.1");
  socket.end("GET / HTTP/1.1\r\nHost: b.test\r\nAccept: text/html\r\nConnection: close\r\n\r\n");
  const page = (await socket.setEncoding("utf8").toArray()).join("").replaceAll(/<[^>]+>/g, "");
  expect(page).toMatch(/^HTTP\/1.1 421/);
  expect(page).toContain("idp start --port auto --memory --fixtures team.json --allow-host a.test --allow-host b.test");
});
