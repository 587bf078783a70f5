import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { IncomingMessage, ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { built } from "../helpers/built.ts";
import { idp, launch, newFolder, startIdp, type Ended } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";
import { CarefulApi } from "../helpers/careful-api.ts";
import { freePort } from "../helpers/port.ts";
import { isRunning } from "../helpers/processes.ts";
import { serveApp } from "../helpers/serve-app.ts";

/** `idp check api`: the API as a process, the exit codes, and what is printed. What each case finds: test/client/api-neglect.test.ts. */

const child = await built(fileURLToPath(new URL("children/api.ts", import.meta.url)));

async function apiFolder() {
  const cwd = newFolder();
  const port = Number(await freePort());
  const url = `http://localhost:${port}/orders`;
  const pids = join(cwd, "pids");
  return {
    ...{ cwd, port, url, env: { APP_PIDS: pids } },
    words: (flags: readonly string[], ...api: readonly string[]): readonly string[] => {
      const [mode = "careful", ...neglects] = api;
      return ["check", "api", "--url", url, ...flags, "--", process.execPath, child, mode, String(port), ...neglects];
    },
    left: () => (existsSync(pids) ? readFileSync(pids, "utf8").trim().split("\n").map(Number) : []).filter(isRunning),
  };
}

async function check(flags: readonly string[], ...api: readonly string[]): Promise<Ended & { readonly cwd: string }> {
  const folder = await apiFolder();
  const ended = await idp(folder.words(flags, ...api), folder);
  expect(folder.left()).toEqual([]);
  return { ...ended, cwd: folder.cwd };
}

test("an API that refuses everything: exit 0, and one document", async () => {
  const { code, stdout, stderr } = await check(["--case", "expired", "--case", "alg-none", "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { passed, cases } = JSON.parse(stdout) as { passed: boolean; cases: Readonly<Record<string, unknown>>[] };
  expect(passed).toBe(true);
  expect(cases.map(({ name, verdict }) => [name, verdict])).toEqual([
    ["control", "works"],
    ["expired", "noticed"],
    ["alg-none", "noticed"],
    ["control-again", "works"],
  ]);
  for (const one of cases) {
    expect(Object.keys(one)).toEqual(["name", "verdict", "did", "should", "paragraph", "fix"]);
  }
});

test("fixtures that name the algorithm, as init writes them, are used as they are", async () => {
  const fixtures = JSON.stringify({
    users: [{ username: "alice" }],
    clients: [{ client_id: "app", redirect_uris: ["http://localhost:3000/cb"] }],
    settings: { access_token_alg: "RS256" },
  });
  const { code, stderr } = await check(["--fixtures", fixtures, "--case", "expired", "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("an API that does not: exit 6, the reports, and cases that are accepted", async () => {
  const cases = [
    "--case",
    "aud-wrong",
    "--case",
    "aud-missing",
    "--case",
    "revoked",
    "--accept",
    "aud-missing=one API",
  ];
  const { code, stdout, stderr, cwd } = await check([...cases, "--report", "report.xml"], "careful", "aud");
  expect({ code, stderr }).toEqual({
    code: 6,
    stderr: expect.stringContaining("Error: the API fails 1 of 5 cases\n"),
  });
  expect(stdout).toMatch(/^✗ unnoticed {5}aud-wrong +let it in: answered 200$/m);
  expect(stdout).toMatch(/^- unnoticed {5}aud-missing +let it in: answered 200 \(accepted: one API\)$/m);
  expect(stdout).toMatch(/^- not-required {2}revoked/m);
  expect(stdout).toContain("(RFC 9068 4, RFC 8725 3.9)");
  const xml = readFileSync(join(cwd, "report.xml"), "utf8");
  expect(xml).toContain('<testsuite name="idp check api" tests="5" failures="1" errors="0" skipped="2">');
  expect(xml).toContain('<testcase classname="check-api" name="aud-wrong">');
});

test("an API that never listens: exit 5; one that dies or refuses good tokens: exit 6, and nothing counts as noticed", async () => {
  const silent = await check(["--timeout", "1"], "silent");
  expect(silent.code).toBe(5);
  expect(silent.stderr).toContain("the API did not answer at");
  const dead = await check(["--case", "expired", "--case", "alg-none"], "dies");
  expect(dead.code).toBe(6);
  expect(dead.stderr).toContain("; the API ended with exit code 3");
  expect(dead.stdout).not.toMatch(/^✓ noticed/m);
  const both = await check(["--case", "malformed", "--case", "expired"], "dies", "malformed");
  expect(both.code).toBe(6);
  expect(both.stderr).toContain("the API fails 1 of 4 cases, and its other cases say nothing");
  const strict = await check(["--case", "expired", "--audience", "https://other.test", "--json"], "careful");
  expect(strict.code).toBe(0);
});

test("--method in lower case is the same method, in the proofs too", async () => {
  const { code, stderr } = await check(["--method", "get", "--dpop", "--case", "dpop-method"], "dpop");
  expect(code, stderr).toBe(0);
});

test("SIGINT ends the API too, with exit code 130", async () => {
  const folder = await apiFolder();
  const running = launch(folder.words([]), folder);
  onTestFinished(() => void running.kill("SIGKILL"));
  const ended = new Promise((resolve) => running.on("close", resolve));
  await new Promise((resolve) => running.stdout.once("data", resolve));
  running.kill("SIGINT");
  expect(await ended).toBe(130);
  expect(folder.left()).toEqual([]);
});

test("wrong arguments: exit 2", async () => {
  const { cwd, url, words } = await apiFolder();
  const refused = async (flags: readonly string[], part: string): Promise<void> => {
    expect(await idpIn(cwd, flags)).toMatchObject({ code: 2, stderr: expect.stringContaining(part) });
  };
  await refused(["check", "api"], "--url is missing");
  await refused(["check", "api", "--url", "orders"], "is not an http or https URL");
  await refused(["check", "api", "--url", "http://192.0.2.1/"], "--allow-remote");
  await refused(words(["--case", "expird"]), "Did you mean expired?");
  for (const method of ["", "P OST", "GÉT", "CONNECT"]) {
    await refused(words(["--method", method]), "It must be a method of HTTP, such as GET or POST.");
  }
  await refused(words(["--case", "dpop-url"]), "needs --dpop");
  await refused(words(["--needs-scope", "orders:read"]), "tokens do not get this scope");
  await refused(words(["--accept", "control-again"]), "a control must work");
  await startHere([], { cwd });
  await refused(["check", "api", "--url", url, "--user", "alice"], "for an API that this command starts");
});

const another = /\n {2}Name another --user or --client, or change the fixtures\n$/;
test.each([
  ["--user", "carol", 6, 'user "carol" is suspended', another],
  ["--user", "nobody", 3, 'no user "nobody". Users: alice, bob, carol, dave\n', /dave\n$/],
  ["--client", "demo-service", 6, 'client "demo-service" may not use authorization_code', another],
])("%s %s: no command is named that needs the server of the check", async (flag, name, code, message, end) => {
  const { cwd, words } = await apiFolder();
  const ended = await idpIn(cwd, words([flag, name]));
  expect(ended.code).toBe(code);
  expect(ended.stderr).toContain(`Error: ${message}`);
  expect(ended.stderr).toMatch(end);
});

test("on a server that signs access tokens with HS256: one line, and the command that repairs it", async () => {
  const folder = await apiFolder();
  const { issuer } = await startIdp([], folder);
  const api = await CarefulApi.create({ issuer, audience: issuer, url: folder.url });
  const { close } = await serveApp(folder.port, () => api);
  onTestFinished(close);
  const { code, stdout, stderr } = await idp(["check", "api", "--url", folder.url], folder);
  expect(code).toBe(6);
  expect(stdout.match(/^[?✓✗-] .*/gm)).toEqual([expect.stringMatching(/^\? not-reached +control +answered 401/)]);
  expect(stderr).toContain("\n  Access tokens are signed with HS256");
  expect(stderr).toContain("idp start --access-token-alg RS256");
});

test("on a running server, nothing is left of the check", async () => {
  const folder = await apiFolder();
  writeFileSync(
    join(folder.cwd, "idp.fixtures.json"),
    JSON.stringify({ users: [{ username: "alice" }], clients: [], settings: { access_token_alg: "RS256" } }),
  );
  const { issuer } = await startIdp([], folder);
  const api = await CarefulApi.create({ issuer, audience: issuer, url: folder.url, usersOnly: true });
  const { close } = await serveApp(folder.port, () => api);
  onTestFinished(close);
  const wanted = ["other-issuer", "user-suspended", "service-token", "other-user", "issuer-down", "keys-rotated"];
  const flags = ["--users-only", "--owned-url", folder.url.replace("orders", "users/{user}/orders")];
  const words = folder.words([...wanted.flatMap((name) => ["--case", name]), ...flags, "--json"]);
  const { code, stdout, stderr } = await idp(words.slice(0, words.indexOf("--")), folder);
  expect(code, stderr).toBe(0);
  const document = JSON.parse(stdout) as { readonly cases: readonly Readonly<Record<string, unknown>>[] };
  expect(document.cases.map(({ name, verdict }) => [name, verdict])).toEqual([
    ["control", "works"],
    ["other-issuer", "noticed"],
    ["user-suspended", "not-required"],
    ["other-user", "noticed"],
    ["service-token", "noticed"],
    ["issuer-down", "not-reached"],
    ["keys-rotated", "not-reached"],
    ["control-again", "works"],
  ]);
  const running = launch(
    words
      .slice(0, words.indexOf("--"))
      .concat("--quiet")
      .filter((word) => word !== "--json"),
    folder,
  );
  onTestFinished(() => void running.kill("SIGKILL"));
  const ended = new Promise((resolve) => running.on("close", resolve));
  await new Promise((resolve) => running.stdout.once("data", resolve));
  running.kill("SIGINT");
  expect(await ended).toBe(130);
  for (const [list, expected] of [
    ["users", 1],
    ["clients", 0],
    ["issuers", 0],
    ["faults", 0],
  ] as const) {
    const shown = JSON.parse((await idp([list, "list", "--json"], folder)).stdout) as readonly unknown[];
    expect(shown, list).toHaveLength(expected);
  }
});

/** An API that lets in whoever has a department, and knows users by their names. */
const byDepartment = {
  handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const [, payload = "e30"] = (req.headers.authorization ?? "").split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Readonly<Record<string, unknown>>;
    const isIn = claims["department"] === "sales";
    if (!isIn) res.writeHead(401, { "www-authenticate": "Bearer" });
    res.end(isIn ? JSON.stringify(claims) : "");
    return Promise.resolve();
  },
};

test("the user of the check has the claims of another one, but not the names", async () => {
  const folder = await apiFolder();
  const users = [
    { username: "alice" },
    { username: "bob", claims: { department: "sales", nickname: "bobby" } },
    { username: "carol", claims: { department: "sales" } },
  ];
  const clients = [{ client_id: "app", redirect_uris: ["http://localhost:3000/cb"] }];
  const scopes = { team: { claims: ["department", "nickname"] } };
  writeFileSync(join(folder.cwd, "idp.fixtures.json"), JSON.stringify({ users, clients, scopes }));
  await startIdp([], folder);
  const { close } = await serveApp(folder.port, () => byDepartment);
  onTestFinished(close);
  const run = (...flags: readonly string[]) =>
    idp(["check", "api", "--url", folder.url, "--scope", "openid team", "--case", "no-token", ...flags], folder);
  expect(await run("--like", "bob")).toMatchObject({ code: 0 });
  // By default those of the first active user.
  expect(await run()).toMatchObject({ code: 6, stdout: expect.stringContaining("not-reached") });
  expect(await run("--like", "bbo")).toMatchObject({ code: 3, stderr: expect.stringContaining("bob") });
  expect(await run("--other-user", "bob")).toMatchObject({ code: 2, stderr: expect.stringContaining("--other-user") });
});

test("what belongs to another user: whose it is has to be seen", async () => {
  const owned = async (flags: readonly string[], ...neglects: readonly string[]) => {
    const folder = await apiFolder();
    const fixtures = {
      users: ["alice", "bob"].map((username) => ({ username })),
      clients: [{ client_id: "app", redirect_uris: ["http://localhost:3000/cb"] }],
    };
    writeFileSync(join(folder.cwd, "idp.fixtures.json"), JSON.stringify(fixtures));
    const url = folder.url.replace("orders", "users/{user}/orders");
    const words = folder.words(
      ["--owned-url", url, "--case", "other-user", "--json", ...flags],
      "careful",
      ...neglects,
    );
    const { stdout, code, stderr } = await idp(words, folder);
    if (code === 2) return stderr;
    const { cases } = JSON.parse(stdout) as { readonly cases: readonly Readonly<Record<string, string>>[] };
    return cases.find(({ name }) => name === "other-user");
  };
  expect(await owned([])).toMatchObject({ verdict: "noticed", did: "answered 404" });
  expect(await owned([], "owner")).toMatchObject({
    verdict: "unnoticed",
    did: expect.stringContaining("belongs to bob"),
  });
  expect(await owned(["--other-user", "bob"], "owner")).toMatchObject({ verdict: "unnoticed" });
  // The API knows users by their sub.
  expect(await owned(["--owned-by", "username"])).toMatchObject({
    ...{ verdict: "not-reached", did: expect.stringContaining("give --user and --other-user") },
  });
  expect(await owned(["--other-user", "alice"])).toContain("is the user whose tokens are sent");
});
