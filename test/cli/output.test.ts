import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bin, environment, launch, newFolder, startIdp } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";

/** The streams and the end of a process: a reader that is gone, a full disk, a pipe that is never read, a signal. */

/** What sh prints of a script in which `idp` is the command. */
const sh = (script: string, cwd: string): Promise<string> =>
  new Promise((resolve) => {
    const own = `idp() { "${process.execPath}" "${bin}" "$@"; }; ${script}`;
    execFile("sh", ["-c", own], { cwd, env: environment({}) }, (_error, stdout, stderr) => {
      resolve(stdout + stderr);
    });
  });

/** A data folder with the demo in it. */
async function seeded(): Promise<string> {
  const cwd = newFolder();
  expect((await idpIn(cwd, ["seed"])).code).toBe(0);
  return cwd;
}

test.each([
  ["token verify a.b.c", 6],
  ["users show nope", 3],
  ["status", 5],
  ["users list", 0],
])("idp %s exits with its own code, %d, if nobody reads its output", async (words, code) => {
  const cwd = await seeded();
  // A pipe whose reader is gone before anything is written.
  const script = `mkfifo pipe; exec 4<>pipe 5>pipe 4<&-; idp ${words} >&5 2>&1; echo "exit $?"`;
  expect(await sh(script, cwd)).toBe(`exit ${code}\n`);
});

test("standard output on a full disk: one line, exit 1; a command that failed exits with its own code", async () => {
  const cwd = await seeded();
  const said = "standard output cannot be written: the disk is full: make room (ENOSPC)";
  expect(await sh(`idp users list >/dev/full; echo "exit $?"`, cwd)).toBe(`exit 1\nError: ${said}\n`);
  const json = await sh("idp users list --json >/dev/full", cwd);
  expect(JSON.parse(json)).toEqual({ error: { code: "unexpected", message: said } });
  const refused = await sh(`idp token verify a.b.c >/dev/full; echo "exit $?"`, cwd);
  expect(refused).toMatch(/^exit 6\nError: not valid: 1 of 1 check failed/);
  expect(refused).not.toContain(said);
});

test("exec passes on the exit code of its child, even if the reader stopped reading", async () => {
  const script = `{ idp exec -- sh -c 'sleep 0.3; exit 5' 2>&1; echo "exit $?" >&2; } | head -n 1`;
  expect(await sh(script, newFolder())).toMatch(/^idp: .*\nexit 5\n$/);
});

test("a server goes on without its log when the reader of it is gone", async () => {
  const cwd = newFolder();
  const { issuer, child, ended } = await startIdp([], { cwd });
  child.stdout.destroy();
  child.stderr.destroy();
  for (let asked = 0; asked < 5; asked += 1) expect((await fetch(`${issuer}/no-such-page`)).status).toBe(404);
  child.kill("SIGTERM");
  expect(await ended).toEqual({ code: 0, signal: null });
  expect(existsSync(join(cwd, ".idp", "lock.json"))).toBe(false);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("a command that waits for an answer ends on %s with exit code %i", async (signal, code) => {
  const silent = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void silent.close());
  await once(silent, "listening");
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const child = launch(["users", "list", "--url", url], { cwd: newFolder() });
  await once(silent, "connection");
  child.kill(signal);
  expect(await once(child, "close")).toEqual([code, null]);
});

/** Requests that are refused, each with a long line in the log. */
async function askAtLength(issuer: string, times: number): Promise<void> {
  const redirectUri = `https://app.example.test/${"x/".repeat(4000)}`;
  const query = new URLSearchParams({ response_type: "code", client_id: "demo-app", redirect_uri: redirectUri });
  for (let asked = 0; asked < times; asked += 1) {
    expect((await fetch(`${issuer}/api/v2/oauth/authorize?${query.toString()}`)).status).toBe(400);
  }
}

test("a server whose log nobody reads still ends on SIGTERM", async () => {
  const cwd = newFolder();
  const { issuer, child, ended } = await startIdp(["--json"], { cwd });
  child.stdout.pause();
  await askAtLength(issuer, 50);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(existsSync(join(cwd, ".idp", "lock.json"))).toBe(false);
  child.stdout.resume();
  await ended;
});

test.each([
  ["--json", /^\{"event":"dropped","time":"[^"]+","requests":(\d+)\}$/m, /^\{"event":"request",.*\/authorize"/gm],
  ["--login=picker", /^\d\d:\d\d:\d\d {2}(\d+) requests not logged: nobody read this$/m, /^\d\S+ {2}GET .* 400/gm],
])(
  "start %s: the output that waits for a reader is bounded, and dropped lines are counted",
  async (flag, told, logged) => {
    const { issuer, child, output, printed } = await startIdp([flag], { cwd: newFolder() });
    child.stdout.pause();
    await askAtLength(issuer, 250);
    child.stdout.resume();
    await printed(flag === "--json" ? '"event":"dropped"' : "not logged");
    // It flows again.
    await fetch(`${issuer}/${"long/".repeat(1000)}`);
    await printed("/long/");
    const dropped = Number(told.exec(output.stdout)?.[1]);
    expect(dropped).toBeGreaterThan(0);
    expect(output.stdout.match(logged)?.length).toBe(250 - dropped);
    const last =
      output.stdout
        .trimEnd()
        .split("\n")
        .find((line) => line.includes("/long/")) ?? "";
    expect(/\/long\/[^\s"]*/.exec(last)?.[0]).toBe(`/${"long/".repeat(1000)}`.slice(0, 200) + "…");
  },
);
