/** npm ends only its shell when it receives a signal; what happens to the server in it. */
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { bin, environment, idp, newFolder } from "../helpers/cli.ts";

/** A project that has idp installed, with this script. */
function project(script: string): string {
  const cwd = newFolder();
  mkdirSync(join(cwd, "node_modules/.bin"), { recursive: true });
  symlinkSync(bin, join(cwd, "node_modules/.bin/idp"));
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ name: "app", scripts: { idp: script } }));
  return cwd;
}

/** Runs npm in a project until a server there is ready. */
async function npm(words: readonly string[], cwd: string) {
  const child = spawn("npm", words, { cwd, env: environment({ npm_config_update_notifier: "false" }) });
  onTestFinished(async () => {
    await idp(["stop"], { cwd });
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.stdout.resume();
  child.stderr.resume();
  expect((await idp(["wait", "--timeout", "20"], { cwd })).code).toBe(0);
  return { child, ended };
}

const isRunning = async (cwd: string): Promise<boolean> => (await idp(["status"], { cwd })).code === 0;

const foreground: readonly (readonly [string, readonly string[], string])[] = [
  ["npm run", ["run", "idp"], "idp start --port auto"],
  ["npm run, after another command", ["run", "idp"], "true && PORT=1 idp start --port auto"],
  ["npx", ["exec", "--offline", "idp", "--", "start", "--port", "auto"], ""],
];

/** Ends npm, and waits until the server that it waited for has ended. */
async function endForeground(words: readonly string[], script: string): Promise<void> {
  const cwd = project(script);
  const { child, ended } = await npm(words, cwd);
  child.kill("SIGTERM");
  await ended;
  await vi.waitFor(async () => expect(await isRunning(cwd)).toBe(false), { timeout: 30_000, interval: 200 });
}

test.each(foreground)("a server that %s waits for ends with it, and its data is let go", async (_, words, script) => {
  await endForeground(words, script);
});

test("a child of exec ends with the npm that ran it", async () => {
  const cwd = project("idp exec -- node child.mjs");
  writeFileSync(join(cwd, "child.mjs"), 'console.log("child", process.pid); setInterval(() => undefined, 1000);');
  const child = spawn("npm", ["run", "idp"], { cwd, env: environment({}) });
  child.stderr.resume();
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  const pid = await vi.waitUntil(() => /child (\d+)/.exec(output)?.[1], { timeout: 30_000 });
  child.kill("SIGTERM");
  await vi.waitFor(() => expect(() => process.kill(Number(pid), 0)).toThrow("ESRCH"), { timeout: 30_000 });
});

test("a server that a script leaves in the background stays when the script has ended", async () => {
  const cwd = project("idp start --port auto & idp wait");
  const { ended } = await npm(["run", "idp"], cwd);
  await ended;
  // By then this one, too, has looked for its shell.
  await endForeground(["run", "idp"], "idp start --port auto");
  expect(await isRunning(cwd)).toBe(true);
});
