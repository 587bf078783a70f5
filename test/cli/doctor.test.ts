import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { newFolder, startIdp, type Ended } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";
import { freePort } from "../helpers/port.ts";

/** What doctor finds: each problem is made once. */

interface Check {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
  readonly fix: string | null;
  readonly command: string | null;
}

/** A port of this machine on which something listens until the test ends. */
async function listener(): Promise<number> {
  // It hangs up at once, so that nobody waits for an answer.
  const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.close();
  });
  await new Promise((resolve) => server.once("listening", resolve));
  return (server.address() as AddressInfo).port;
}

async function doctor(cwd: string, env: Record<string, string> = {}): Promise<Ended & { checks: readonly Check[] }> {
  const ended = await idpIn(cwd, ["doctor", "--json"], "", { IDP_PORT: "auto", ...env });
  expect(ended.stdout, ended.stderr).not.toBe("");
  const { ok, problems, warnings, checks } = JSON.parse(ended.stdout) as {
    ok: boolean;
    problems: number;
    warnings: number;
    checks: readonly Check[];
  };
  expect({ code: ended.code, ok }).toEqual(problems > 0 ? { code: 6, ok: false } : { code: 0, ok: true });
  const having = (status: string): number => checks.filter((check) => check.status === status).length;
  expect({ problems, warnings }).toEqual({ problems: having("problem"), warnings: having("warning") });
  return { ...ended, checks };
}

const named = (checks: readonly Check[], name: string): readonly Check[] =>
  checks.filter((check) => check.name === name);

const clients = (...uris: readonly string[]): string =>
  JSON.stringify({ users: [{ username: "a" }], clients: [{ client_id: "app", redirect_uris: uris }] });

/** A folder whose client is sent back to these, seeded. */
async function seeded(...uris: readonly string[]): Promise<string> {
  const cwd = newFolder();
  writeFileSync(join(cwd, "idp.fixtures.json"), clients(...(uris.length > 0 ? uris : ["https://app.test/cb"])));
  expect((await idpIn(cwd, ["seed"])).code).toBe(0);
  return cwd;
}

const listing = (folder: string): readonly string[] =>
  readdirSync(folder).map((name) => `${name} ${statSync(join(folder, name)).mtimeMs}`);

test("without problems: a line each with ✓, exit 0, and the folder unchanged", async () => {
  const cwd = await seeded(`http://localhost:${await listener()}/cb`);
  const before = listing(join(cwd, ".idp"));
  const { code, stdout, stderr } = await idpIn(cwd, ["doctor"], "", { IDP_PORT: "auto" });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "doctor found no problem, 0 warnings.\n" });
  for (const line of stdout.trimEnd().split("\n")) expect(line).toMatch(/^✓ [a-z]+ +\S/);
  expect(stdout).toMatch(/^✓ data +\.idp\/data\.json, schema 1, \d+ kB, 1 user, 1 client$/m);
  expect(listing(join(cwd, ".idp"))).toEqual(before);
});

test("does not create data", async () => {
  const cwd = newFolder();
  const { checks } = await doctor(cwd);
  expect(named(checks, "data")).toMatchObject([{ status: "ok", detail: expect.stringContaining("none in .idp yet") }]);
  expect(existsSync(join(cwd, ".idp"))).toBe(false);
});

test("a server that runs: its lock and its issuer answer", async () => {
  const cwd = newFolder();
  const { issuer, pid } = await startIdp([], { cwd });
  const { checks } = await doctor(cwd);
  expect(named(checks, "lock")).toMatchObject([{ detail: `held by pid ${pid}, which answers at ${issuer}` }]);
  expect(named(checks, "issuer")).toMatchObject([{ status: "ok", detail: expect.stringMatching(/ and answers$/) }]);
  const elsewhere = await idpIn(newFolder(), ["doctor", "--json", "--url", issuer]);
  expect(elsewhere.code).toBe(0);
});

test("an issuer that leads elsewhere, or nowhere: a problem, exit 6", async () => {
  const kept = newFolder();
  const { child, ended } = await startIdp(["--issuer", "http://idp.invalid:4370"], { cwd: kept });
  const running = await doctor(kept);
  child.kill("SIGTERM");
  await ended;
  const stopped = await doctor(kept);
  for (const { code, checks, stderr } of [running, stopped]) {
    expect(code).toBe(6);
    expect(JSON.parse(stderr)).toEqual({
      error: { code: "refused", message: expect.stringMatching(/^doctor found 1 problem, /) },
    });
    expect(named(checks, "issuer")).toMatchObject([
      {
        status: "problem",
        detail: 'http://idp.invalid:4370: "idp.invalid" does not resolve on this machine',
        fix: expect.stringContaining("--backchannel dynamic"),
        command: expect.stringContaining("idp start --issuer http://localhost:4370"),
      },
    ]);
  }
  const wrong = newFolder();
  await startIdp(["--issuer", `http://localhost:${await freePort()}`], { cwd: wrong });
  const { code, checks } = await doctor(wrong);
  expect(code).toBe(6);
  expect(named(checks, "issuer")).toMatchObject([{ detail: expect.stringContaining("idp does not answer there") }]);
});

test("a lock that a killed server left is reported, and stays", async () => {
  const cwd = newFolder();
  const { child, ended, pid } = await startIdp([], { cwd });
  child.kill("SIGKILL");
  await ended;
  const { checks } = await doctor(cwd);
  expect(named(checks, "lock")).toMatchObject([{ status: "warning", detail: expect.stringContaining(`${pid}`) }]);
  expect(existsSync(join(cwd, ".idp", "lock.json"))).toBe(true);
});

test("data that is damaged, and readable by others, with the command that fixes it", async () => {
  const cwd = await seeded();
  const file = join(cwd, ".idp", "data.json");
  chmodSync(file, 0o644);
  const readable = await doctor(cwd);
  const [mode] = named(readable.checks, "mode");
  expect(mode).toMatchObject({ status: "warning", command: "chmod 600 .idp/data.json" });
  execFileSync("sh", ["-c", mode?.command ?? ""], { cwd });
  expect(named((await doctor(cwd)).checks, "mode")).toMatchObject([{ status: "ok" }]);
  writeFileSync(file, "{");
  const damaged = await doctor(cwd);
  expect(named(damaged.checks, "data")).toMatchObject([
    { status: "problem", detail: expect.stringMatching(/data\.json:1:\d+ is not JSON/) },
  ]);
  expect(readFileSync(file, "utf8")).toBe("{");
});

test("data that git would take in, with the command that fixes it", { tags: ["git"] }, async () => {
  const cwd = await seeded();
  rmSync(join(cwd, ".idp", ".gitignore"));
  expect(named((await doctor(cwd)).checks, "git")).toMatchObject([{ status: "ok" }]);
  execFileSync("git", ["init", "-q"], { cwd });
  const [git] = named((await doctor(cwd)).checks, "git");
  expect(git).toMatchObject({
    status: "warning",
    command: `sh -c 'printf "%s\\n" "/data.j*" "/lock.json*" >> .idp/.gitignore'`,
  });
  // The folder may be a project's.
  writeFileSync(join(cwd, ".idp", ".gitignore"), "node_modules\n");
  execFileSync("sh", ["-c", git?.command ?? ""], { cwd });
  expect(named((await doctor(cwd)).checks, "git")).toMatchObject([{ status: "ok" }]);
  expect(readFileSync(join(cwd, ".idp", ".gitignore"), "utf8")).toMatch(/^node_modules\n/);
  const untracked = execFileSync("git", ["status", "--porcelain", "--untracked-files=all"], { cwd, encoding: "utf8" });
  expect(untracked).not.toMatch(/data\.j|lock/);
});

test("an app that does not run is a warning, and one on the other name of this machine too", async () => {
  const [free, there] = [await freePort(), await listener()];
  const cwd = await seeded(`http://localhost:${free}/cb`, `http://127.0.0.1:${there}/cb`, "http://127.0.0.1:*/cb");
  const { code, checks } = await doctor(cwd);
  expect(code).toBe(0);
  expect(named(checks, "apps")).toMatchObject([
    {
      status: "warning",
      detail: `nothing listens on http://localhost:${free}, where app has a redirect URI`,
      command: `idp clients edit app --remove-redirect-uri http://localhost:${free}/cb --add-redirect-uri URI`,
    },
  ]);
  const [hosts] = named(checks, "hosts");
  expect(hosts).toMatchObject({ status: "warning", detail: expect.stringContaining("two cookie jars") });
  const words = hosts?.command?.replace(/^idp /, "").replaceAll("'", "").split(" ") ?? [];
  expect((await idpIn(cwd, words)).code).toBe(0);
  expect(named((await doctor(cwd)).checks, "hosts")).toMatchObject([{ status: "ok" }]);
});

test("an app on a name below localhost is looked for too, and is no other name of this machine", async () => {
  const [free, there] = [await freePort(), await listener()];
  const cwd = await seeded(`http://app.localhost:${free}/cb`, `http://app.localhost:${there}/cb`);
  const { checks } = await doctor(cwd);
  expect(named(checks, "apps")).toMatchObject([
    { status: "warning", detail: `nothing listens on http://app.localhost:${free}, where app has a redirect URI` },
  ]);
  expect(named(checks, "hosts")).toMatchObject([{ status: "ok" }]);
});

test("a port that another program has is a problem", async () => {
  const port = await listener();
  const { code, checks } = await doctor(newFolder(), { IDP_PORT: String(port) });
  expect(code).toBe(6);
  expect(named(checks, "port")).toMatchObject([{ status: "problem", detail: `${port} is in use by another program` }]);
});

test("fixtures with a problem are named with their place", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "idp.fixtures.json"), '{ "usrs": [] }');
  const { checks } = await doctor(cwd);
  expect(named(checks, "fixtures")).toMatchObject([
    { status: "problem", detail: expect.stringContaining("idp.fixtures.json:1:3 usrs"), command: "idp seed --check" },
  ]);
});

test("a folder that cannot be written is a problem", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "file"), "");
  const { code, stdout } = await idpIn(cwd, ["doctor", "--json", "--data", "file/x"], "", { IDP_PORT: "auto" });
  expect(code).toBe(6);
  expect(JSON.parse(stdout)).toMatchObject({
    checks: expect.arrayContaining([expect.objectContaining({ name: "disk", status: "problem" })]),
  });
});

test("the other issuers: readable ones and a broken one, with a server and without", async () => {
  const cwd = await seeded();
  for (const name of ["one", "two"]) expect((await idpIn(cwd, ["issuers", "add", name])).code).toBe(0);
  const good = { name: "issuers", status: "ok", detail: "2 issuers beside the first one: one, two" };
  expect(named((await doctor(cwd)).checks, "issuers")).toMatchObject([good]);
  writeFileSync(join(cwd, ".idp/issuers/two/data.json"), "{");
  const bad = { name: "issuers", status: "problem", detail: expect.stringMatching(/two/) };
  expect(named((await doctor(cwd)).checks, "issuers")).toMatchObject([bad, good]);
  await startHere([], { cwd });
  expect(named((await doctor(cwd)).checks, "issuers")).toMatchObject([bad, good]);
});
