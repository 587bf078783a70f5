import { writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder, startIdp } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";
import { shell } from "../helpers/shell.ts";

/** A server that holds the data and does not answer, as one that was stopped (Ctrl+Z): commands wait for it for some seconds, then say so. */

test("a server that was stopped as by Ctrl+Z: commands say so, and how to let it go on or end it", async () => {
  const cwd = newFolder();
  const { pid } = await startIdp([], { cwd });
  const refused = async (...commands: string[][]): Promise<void> => {
    const answers = await Promise.all(commands.map((words) => idpIn(cwd, [...words, "--json"])));
    for (const answer of answers) {
      expect(answer).toMatchObject({ code: 5, stdout: "" });
      expect(JSON.parse(answer.stderr).error).toEqual({
        code: "no_server",
        message: `pid ${pid} holds the data but does not answer (was it stopped?)`,
        hint: `End it with kill -9 ${pid}, or let it continue: kill -CONT ${pid}`,
      });
    }
  };
  process.kill(pid, "SIGSTOP");
  // The late response arrives: the server has gone on.
  const late = idpIn(cwd, ["users", "list"]);
  expect(await shell(`kill -CONT ${pid}`, { cwd })).toMatchObject({ code: 0 });
  expect(await late).toMatchObject({ code: 0 });
  process.kill(pid, "SIGSTOP");
  await refused(["users", "list"], ["status"], ["stop"]);
  process.kill(pid, "SIGCONT");
});

/** What doctor says of the lock and the issuer. */
async function doctor(cwd: string) {
  const { code, stdout } = await idpIn(cwd, ["doctor", "--json"], "", { IDP_PORT: "auto" });
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly Readonly<Record<"name" | "status", string>>[] };
  return { code, named: (name: string) => checks.filter((check) => check.name === name) };
}

test("a lock that another container touched a moment ago is in use, and no hint says to remove it", async () => {
  const cwd = newFolder();
  await idpIn(cwd, ["seed"]);
  const lock = { id: "theirs", pid: 1, host: hostname(), pidNamespace: "pid:[1]", kind: "server", url: null };
  writeFileSync(join(cwd, ".idp", "lock.json"), JSON.stringify(lock));
  const { named } = await doctor(cwd);
  expect(named("lock")).toMatchObject([
    { status: "ok", detail: expect.stringContaining("another container"), command: null },
  ]);
});

test("a server that holds the data and does not answer is named with the command that lets it go on", async () => {
  const cwd = newFolder();
  const { child, pid } = await startIdp([], { cwd });
  child.kill("SIGSTOP");
  const { code, named } = await doctor(cwd);
  expect(code).toBe(6);
  expect(named("lock")).toMatchObject([{ status: "problem", command: `kill -CONT ${pid}` }]);
  expect(named("issuer")).toEqual([]);
});
