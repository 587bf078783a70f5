import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { environment, newFolder, type Ended, type Place } from "./cli.ts";
import { idpIn } from "./command.ts";
import { repository } from "./readme.ts";

/** What a person types into a shell. */

/** Variables of the `npm test` that runs this do not reach an npm below it. */
function ownEnvironment(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment(more)).filter(([name]) => !/^(npm_|INIT_CWD$)/i.test(name)));
}

/** A script under way. Its processes are a group of their own, so that all of them can be ended. */
export function startShell(script: string, { cwd, env = {} }: Place) {
  return spawn("sh", ["-e", "-c", script], { cwd, env: ownEnvironment(env), detached: true });
}

/** Ends what is left of a script: the server that it started in the background, npm's own shell. */
export function endShell({ pid }: ReturnType<typeof startShell>, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // Nothing is left of it.
  }
}

/** Runs a script, which stops at its first failure and leaves no process behind. */
export function shell(script: string, place: Place): Promise<Ended> {
  const child = startShell(script, place);
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.end();
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", () => {
      endShell(child, "SIGKILL");
    });
    child.on("close", (code) => {
      resolve({ code, stdout, stderr });
    });
  });
}

/** A new project that has this package installed, so that `idp` is a command in its shell. @param atEnd when it is removed */
export function newProject(
  ...atEnd: Parameters<typeof newFolder>
): Place & { readonly env: Readonly<Record<string, string>> } {
  const cwd = newFolder(...atEnd);
  const commands = join(cwd, "node_modules", ".bin");
  mkdirSync(commands, { recursive: true });
  symlinkSync(repository, join(cwd, "node_modules", "dev-idp"));
  for (const name of ["idp", "dev-idp"]) symlinkSync(join(repository, "bin", "idp.js"), join(commands, name));
  return { cwd, env: { PATH: `${commands}${delimiter}${process.env["PATH"] ?? ""}` } };
}

/** Types a line into a shell. One command of plain words, with which a shell does nothing, runs in this process. */
export const type = (line: string, project: ReturnType<typeof newProject>): Promise<Ended> =>
  /^idp( [\w.,:/@=-]+)+$/.test(line) ? idpIn(project.cwd, line.split(" ").slice(1)) : shell(line, project);
