import { execFileSync } from "node:child_process";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { newFolder, startIdp } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";

test("a second start on the same data names the one that runs", async () => {
  const cwd = newFolder();
  const { issuer, pid } = await startIdp([], { cwd });
  const second = await idpIn(cwd, ["start", "--port", "auto"]);
  expect(second).toMatchObject({ code: 4, stdout: "" });
  expect(second.stderr).toMatch(
    new RegExp(`idp already runs on this data: ${issuer} \\(pid ${pid}, started (now|\\d+ s ago)\\)`),
  );
  expect(second.stderr).toContain(" with --data DIR --port auto. To stop this one: idp stop\n");
});

test("a second start on data elsewhere: the commands that it names are about that data", async () => {
  const cwd = newFolder();
  await startHere(["--data", "my data"], { cwd });
  const given = await idpIn(cwd, ["start", "--data", "my data", "--port", "auto"]);
  expect(given.stderr).toContain(": idp stop --data 'my data'\n");
  const env = { IDP_DATA: "my data" };
  const inherited = await idpIn(cwd, ["start", "--port", "auto"], "", env);
  expect(inherited.stderr).toContain(": idp stop\n");
  await startHere([], { cwd });
  const usual = await idpIn(cwd, ["start", "--data", ".idp", "--port", "auto"], "", env);
  expect(usual.stderr).toContain(": idp stop --data .idp\n");
});

test("data that another container holds: exit 4, and no advice to stop it from here", async () => {
  const cwd = newFolder();
  mkdirSync(join(cwd, ".idp"));
  const lock = {
    id: "theirs",
    pid: 1,
    host: hostname(),
    pidNamespace: "pid:[1]",
    kind: "server",
    url: "http://localhost:1",
  };
  const file = join(cwd, ".idp", "lock.json");
  writeFileSync(file, JSON.stringify(lock));
  const touching = setInterval(() => utimesSync(file, Date.now() / 1000, Date.now() / 1000), 50);
  onTestFinished(() => clearInterval(touching));
  const { code, stderr } = await idpIn(cwd, ["start", "--port", "auto", "--json"]);
  expect(code).toBe(4);
  expect(stderr).toMatch(/in another container .*stop it there/);
  expect(stderr).not.toContain("idp stop");
});

test("the lock of another machine whose server does not answer: each command says whose it is, and how to go on if it is gone", async () => {
  const cwd = newFolder();
  await idpIn(cwd, ["seed"]);
  const url = "http://localhost:1";
  const lock = { id: "theirs", pid: 1, host: "elsewhere", kind: "server", url, adminToken: "theirs", startedAt: "" };
  writeFileSync(join(cwd, ".idp", "lock.json"), JSON.stringify(lock));
  for (const words of ["users list", "status", "stop", "revoke --user alice --client demo-app"]) {
    const { code, stdout, stderr } = await idpIn(cwd, words.split(" "));
    expect({ code, stdout }, words).toEqual({ code: 5, stdout: "" });
    expect(stderr, words).toBe(
      `Error: an idp of another machine or container holds the data (pid 1), and nothing answers at ${url}\n  If it no longer runs, remove its lock: rm .idp/lock.json\n`,
    );
  }
  execFileSync("sh", ["-c", "rm .idp/lock.json"], { cwd });
  expect(await idpIn(cwd, ["users", "list"])).toMatchObject({ code: 0 });
});

test("a port that is taken: exit 4, and never another port", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => {
    other.close();
  });
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as AddressInfo;
  const cwd = newFolder();
  const { code, stdout, stderr } = await idpIn(cwd, ["start", "--port", String(port), "--json"]);
  expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
  expect(JSON.parse(stderr)).toEqual({
    error: {
      code: "conflict",
      message: `port ${port} is in use by another program`,
      hint: "Use another port (the issuer changes with it): idp start --json --port auto",
    },
  });
  // Nothing that a command would take for data.
  const users = await idpIn(cwd, ["users", "list"], "", { IDP_PORT: "auto" });
  expect(users).toMatchObject({ code: 3, stderr: expect.stringContaining("there is no data in .idp yet") });
});

test("a port that another idp holds: the error says whose it is", async () => {
  const { issuer } = await startHere(["--memory"], { cwd: newFolder() });
  const { port } = new URL(issuer);
  // On the port that was typed it would be refused again, and without the other flags it would be another server.
  const flags = ["--memory", "--login", "auto:alice", `--port=${port}`, "--data", "a b"];
  const second = await idpIn(newFolder(), ["start", ...flags]);
  expect(second).toMatchObject({ code: 4, stdout: "" });
  expect(second.stderr).toBe(
    `Error: port ${port} is in use by another idp: ${issuer}
  Use that one, or another port for this one (the issuer changes with it): idp start --memory --login auto:alice --data 'a b' --port auto
`,
  );
});

test("the data of a killed server is taken over, with a note", async () => {
  const cwd = newFolder();
  const { child, ended } = await startIdp([], { cwd });
  child.kill("SIGKILL");
  await ended;
  const { code, stderr } = await idpIn(cwd, ["users", "list"]);
  expect(code).toBe(0);
  expect(stderr).toContain("took over the lock");
});
