import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createIdp } from "../../src/index.ts";
import { newFolder, startIdp, type Ended, type Place } from "../helpers/cli.ts";
import { exchange, refresh, userinfo } from "../helpers/client.ts";
import { idpHere, idpIn } from "../helpers/command.ts";
import { freePort } from "../helpers/port.ts";
import { newDatabase } from "../helpers/postgres.ts";
import { argumentsOf } from "../helpers/processes.ts";
import { repository } from "../helpers/readme.ts";

/** `--store` and IDP_STORE: commands and servers on a shared store, and what becomes of its password. */

const secret = "geheim-4711";

/** With a store and no server, fixtures are named. */
const demo = join(repository, "fixtures/demo.json");

/** Runs a command in this process, in a folder and with the variables that it finds there. */
async function idp(words: readonly string[], { cwd, env = {} }: Place): Promise<Ended> {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  try {
    return await idpIn(cwd, words);
  } finally {
    vi.unstubAllEnvs();
  }
}

describe("usage", () => {
  test.each([
    [
      "users list --store mysql://u:geheim-4711@h/db",
      /--store takes an address such as .*; this one begins with mysql:$/,
    ],
    ["users list --store db.example.test", /--store takes an address such as postgres:\/\/idp@db\.example\.test\/idp$/],
    ["users list --store postgres://u:geheim-4711@h:port/db", /this one is not a URL\. Encode special characters/],
    ["users list --store postgres://h/db --data x", /--store and --data name two places for the data$/],
    ["start --store postgres://h/db --memory", /--store and --memory name two places for the data$/],
    ["start --store=postgres://u:geheim-4711@h/db --prot 1", /unknown option '--prot'/],
    ["users list --stroe=postgres://u:geheim-4711@h/db", /unknown option/],
  ])("idp %s", async (line, message) => {
    const { code, stdout, stderr } = await idpHere(["--json", ...line.split(" ")]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    const { error } = JSON.parse(stderr) as { error: { code: string; message: string } };
    expect(error).toMatchObject({ code: "usage", message: expect.stringMatching(message) });
    expect(stderr).not.toContain(secret);
  });

  test("IDP_STORE is named where it is wrong, and counts beside a folder that only the environment names", async () => {
    const cwd = newFolder();
    const wrong = await idp(["users", "list"], { cwd, env: { IDP_STORE: "mysql://h/db" } });
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringMatching(/IDP_STORE takes an address/) });
    const env = { IDP_STORE: "postgres://idp@127.0.0.1:1/idp", IDP_DATA: cwd };
    expect(await idp(["users", "list"], { cwd, env })).toMatchObject({ code: 5 });
    expect(await idp(["users", "list", "--data", cwd], { cwd, env })).toMatchObject({ code: 2 });
    expect(await idp(["start", "--memory"], { cwd, env })).toMatchObject({ code: 2 });
  });

  test("the library refuses the same", async () => {
    for (const options of [{ store: "mysql://h/db" }, { store: "postgres://h/db", data: "x" }])
      await expect(createIdp(options)).rejects.toMatchObject({ code: "usage" });
  });
});

describe("with a database", () => {
  /** An address without its password, and the password apart, as an environment has both. */
  async function newStore(): Promise<{ url: string; env: { IDP_STORE: string; PGPASSWORD: string }; whole: string }> {
    const whole = await newDatabase();
    const url = new URL(whole);
    const { password } = url;
    url.password = "";
    return { url: url.href, whole, env: { IDP_STORE: url.href, PGPASSWORD: decodeURIComponent(password) } };
  }

  const passwordOf = ({ env }: { env: { PGPASSWORD: string } }): string => env.PGPASSWORD;

  test("a missing database, and a refused login: exit 5, without the password", async () => {
    const { url, whole } = await newStore();
    const cwd = newFolder();
    const away = whole.replace(/:\d+\//, ":1/");
    const refused = url.replace("@", `:${secret}@`);
    for (const store of [away, refused]) {
      for (const words of [["users", "list"], ["start", "--port", "auto"], ["doctor"]]) {
        const { code, stdout, stderr } = await idp([...words, "--verbose", "--json"], {
          cwd,
          env: { IDP_STORE: store },
        });
        expect([words, code]).toEqual([words, words[0] === "doctor" ? 6 : 5]);
        expect(stdout + stderr).not.toMatch(/geheim-4711|pass-word-of-the-database/);
      }
    }
  });

  test.each([
    [6000, "ahead of"],
    [-6000, "behind"],
    [4000, null],
  ])("a machine whose clock differs by %i ms from the database: 1 beyond 5 s", async (ms, which) => {
    const { env } = await newStore();
    const now = Date.now.bind(Date);
    const moved = vi.spyOn(Date, "now").mockImplementation(() => now() + ms);
    onTestFinished(() => moved.mockRestore());
    const { code, stderr } = await idp(["seed", demo, "--json"], { cwd: newFolder(), env });
    expect(code).toBe(which === null ? 0 : 1);
    if (which === null) return;
    // Where the answers of a busy machine are late, the difference is known less exactly.
    const said = new RegExp(`clock_differs.*the clock of this machine is (\\d\\.\\d) s ${which} that of`).exec(stderr);
    expect(Math.abs(Number(said?.[1]) - 6), stderr).toBeLessThan(1);
    expect(await idp(["start", "--port", "auto"], { cwd: newFolder(), env })).toMatchObject({ code });
  });

  test("the password is not in the ready line, the log, status, doctor, hints or the arguments of the process", async () => {
    const store = await newStore();
    const cwd = newFolder();
    const server = await startIdp(["--json", "--store", store.whole], { cwd });
    const ready = JSON.parse(server.output.stdout.split("\n")[0] ?? "") as { data: string };
    expect(ready.data).toBe(store.url);
    const args = argumentsOf(server.pid);
    expect(args).toContain(store.url);
    const said: string[] = [args];
    for (const words of [
      ["status"],
      ["status", "--json"],
      ["doctor"],
      ["doctor", "--json"],
      ["users", "show", "nobody"],
      ["stop"],
    ]) {
      const { stdout, stderr } = await idp([...words, "--store", store.whole], { cwd });
      said.push(stdout, stderr);
    }
    server.child.kill("SIGTERM");
    expect(await server.ended).toEqual({ code: 0, signal: null });
    said.push(server.output.stdout, server.output.stderr);
    for (const text of said) expect(text).not.toContain(passwordOf(store));
    expect(said.join("\n")).toContain("may see the password in --store");
  });

  test("the log and the pages of an instance name commands with its address: their reader may not know the database", async () => {
    const { env } = await newStore();
    const server = await startIdp([], { cwd: newFolder(), env });
    const page = await fetch(`${server.issuer}/api/v2/oauth/authorize`, { headers: { accept: "text/html" } });
    const fix = `idp clients list --url ${server.issuer}`;
    expect((await page.text()).replaceAll(/<[^>]*>/g, "")).toContain(fix);
    await server.printed(`fix: ${fix}\n`);
    expect(server.output.stdout).toContain(`Inspector   idp open --url ${server.issuer}`);
  });

  test("commands work beside the instances, and their changes apply at once", async () => {
    const { env, url } = await newStore();
    const cwd = newFolder();
    const place = { cwd, env };
    const run = async (line: string): Promise<Ended> => {
      const ended = await idp(line.split(" "), place);
      expect([line, ended.code, ended.stderr]).toEqual([line, 0, ended.stderr]);
      return ended;
    };
    expect(await idp(["users", "list"], place)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`no data in ${url} yet`),
    });
    const stopped = await idp(["status", "--json"], place);
    expect([stopped.code, JSON.parse(stopped.stdout)]).toMatchObject([5, { running: false, data: url }]);
    const one = await startIdp([], place);
    const two = await startIdp(["--issuer", one.issuer], place);
    const address = `http://localhost:${/port (\d+)/.exec(two.output.stdout)?.[1] ?? ""}`;
    expect(JSON.parse((await run("status --json")).stdout)).toMatchObject({
      ...{ running: true, issuer: one.issuer, data: url, users: 4 },
      store: { schema: expect.any(Number), version: expect.stringMatching(/^\d+/), instances: 2 },
    });
    expect((await run("doctor")).stdout).toMatch(/store +postgres:.*PostgreSQL \d.*, schema \d+, 4 users, \d+ clients/);
    const { stdout: token } = await run("token issue --user alice --client demo-app");
    expect((await userinfo(two, token.trim())).status).toBe(200);
    const changed = await run("revoke --user alice");
    expect(changed.stderr).toContain(`in ${url}`);
    for (const issuer of [one.issuer, address]) expect((await userinfo({ issuer }, token.trim())).status).toBe(403);
    // What a folder cannot have without a server: a code, faults and the clock.
    const issued = JSON.parse((await run("issue code --user bob --client demo-app --json")).stdout) as { code: string };
    expect((await exchange(two, issued.code)).status).toBe(200);
    await run("faults add token --status 503");
    expect((await refresh({ issuer: address }, "any")).status).toBe(503);
    await run("clock advance 2h");
    expect((await run("clock show --json")).stdout).toContain('"offset":7200');
    const { stdout: later } = await run("token issue --user bob --client demo-app");
    expect((await userinfo(one, later.trim())).status).toBe(200);
    await run("clock reset");
    await run("users add erin");
    writeFileSync(join(cwd, "more.json"), JSON.stringify({ users: [{ username: "frank" }] }));
    await run("seed more.json");
    expect(
      JSON.parse((await run(`users list --json --url ${one.issuer}`).catch(() => run("users list --json"))).stdout),
    ).toHaveLength(6);
    await run(`reset --yes --fixtures ${demo}`);
    expect(JSON.parse((await run("users list --json")).stdout)).toHaveLength(4);
    expect(await idp(["stop"], place)).toMatchObject({ code: 5, stderr: expect.stringContaining("--url") });
  });

  test("a command on the store says once what it did, and under --json nothing else", async () => {
    const place = { cwd: newFolder(), env: (await newStore()).env };
    expect(await idp(["seed", demo], place)).toMatchObject({ code: 0 });
    for (const [line, once] of [
      ["clock advance 2h", /\(2 h ahead\)/g],
      ["clock freeze", /frozen/g],
      ["clock reset", /T\d\d:/g],
      ["faults add token --drop", /connection closed/g],
    ] as const) {
      const { code, stdout, stderr } = await idp(line.split(" "), place);
      expect([line, code, (stdout + stderr).match(once)?.length]).toEqual([line, 0, 1]);
      expect(stderr).not.toMatch(/the clock (is|shows)|^fault /m);
    }
    expect((await idp("clock advance 2h --json".split(" "), place)).stderr).not.toContain("the clock is");
  });

  test("data moves from a folder into the store and back: tokens stay valid under the same issuer", async () => {
    const { env } = await newStore();
    const cwd = newFolder();
    const port = await freePort();
    const server = await startIdp(["--port", port, "--data", "old"], { cwd });
    const issue = ["token", "issue", "--user", "alice", "--client", "demo-app", "--data", "old"];
    const token = (await idp(issue, { cwd })).stdout.trim();
    server.child.kill("SIGTERM");
    await server.ended;
    expect(await idp(["export", "--data", "old", "--output", "state.json"], { cwd })).toMatchObject({ code: 0 });
    expect(await idp(["import", "--yes", "state.json"], { cwd, env })).toMatchObject({ code: 0 });
    const shared = await startIdp(["--port", port], { cwd, env });
    expect((await userinfo(shared, token)).status).toBe(200);
    expect(await idp(["export", "--output", "back.json"], { cwd, env })).toMatchObject({ code: 0 });
    const [there, back] = ["state.json", "back.json"].map(
      (name) => JSON.parse(readFileSync(join(cwd, name), "utf8")) as unknown,
    );
    expect(back).toEqual(there);
    expect(await idp(["import", "--yes", "--data", "new", "back.json"], { cwd })).toMatchObject({ code: 0 });
    expect(
      await idp(["token", "introspect", token, "--data", "new", "--as-issuer", shared.issuer], { cwd }),
    ).toMatchObject({ code: 0 });
  });

  test("an instance without fixtures adds the demo to an empty store only", async () => {
    const { whole: store } = await newStore();
    const team = await createIdp({ store, fixtures: { users: [{ username: "ann" }], settings: { code_ttl: 33 } } });
    afterAll(() => team.close());
    const more = await createIdp({ store });
    afterAll(() => more.close());
    expect((await more.call("users.list", {})).map(({ username }) => username)).toEqual(["ann"]);
    expect(more.seeded.users.added).toEqual([]);
    // A program at another instance sees it too.
    await team.clock.advance(60);
    expect(await more.clock.show()).toMatchObject({ offset: 60 });
    const { whole: empty } = await newStore();
    const first = await createIdp({ store: empty });
    afterAll(() => first.close());
    expect(await first.call("users.list", {})).toHaveLength(4);
  });

  test("an instance that joins says what the store has; nothing is left over, and no reset is offered", async () => {
    const { whole, env } = await newStore();
    const team = await createIdp({ store: whole, fixtures: { users: [{ username: "ann" }] } });
    afterAll(() => team.close());
    const { output } = await startIdp(["--issuer", team.issuer], { cwd: newFolder(), env });
    expect(output.stdout).toMatch(/Fixtures +those that the store has: 1 user, 0 clients\n/);
    expect(output.stdout).not.toMatch(/from before|idp reset/);
    expect(output.stdout).toContain(`idp open --url ${team.issuer}`);
  });

  test("a newer schema: 7, and nothing is changed", async () => {
    const { env, whole } = await newStore();
    const cwd = newFolder();
    expect(await idp(["seed", demo], { cwd, env })).toMatchObject({ code: 0 });
    const client = new Client({ connectionString: whole });
    await client.connect();
    await client.query("update idp_schema set version = 99");
    await client.end();
    for (const words of [
      ["start", "--port", "auto"],
      ["users", "list"],
    ])
      expect(await idp(words, { cwd, env })).toMatchObject({ code: 7, stderr: expect.stringMatching(/newer/) });
  });
});
