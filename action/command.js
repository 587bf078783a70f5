// Which command the action runs, and what GitHub's runner reads: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { accessSync, appendFileSync, constants, existsSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** @param name as in action.yml */
export const input = (name) => (process.env[`INPUT_${name.toUpperCase()}`] ?? "").trim();

export const folder = resolve(input("working-directory") || ".");

const ownCheckout = fileURLToPath(new URL("..", import.meta.url));

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The words of the command. @throws {Error} with what to install */
export function findCommand() {
  const named = input("command") || (process.env["DEV_IDP"] ?? "").trim();
  if (named !== "") {
    // A path may contain spaces.
    if (existsSync(resolve(folder, named))) return [resolve(folder, named)];
    return [...named.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, ...words]) => words.join(""));
  }
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), join(folder, "node_modules", ".bin")];
  const found = folders.map((one) => join(one, "dev-idp")).find(isExecutable);
  if (found !== undefined) return [found];
  if (existsSync(join(ownCheckout, "dist", "cli", "main.cjs"))) {
    return [process.execPath, join(ownCheckout, "bin", "idp.js")];
  }
  throw new Error(
    `dev-idp was not found on PATH or in node_modules/.bin of ${folder}. Install it in an earlier step: npm install --save-dev dev-idp, then npm ci. Or name it with the input command`,
  );
}

/** Runs a command to its end. @returns what it printed. @throws {Error} with what it said */
export function run([program, ...words], more, env = {}) {
  const ended = spawnSync(program, [...words, ...more], {
    cwd: folder,
    env: { ...process.env, ...env },
    encoding: "utf8",
    timeout: 60_000,
  });
  if (ended.error !== undefined) throw new Error(`${program} cannot be run: ${ended.error.message}`);
  if (ended.status !== 0) throw new Error(inWords(ended.stderr.trim()));
  return ended.stdout;
}

/** An error as a person reads it, also where the command was asked for JSON. */
function inWords(said) {
  try {
    const { message, hint } = JSON.parse(said).error;
    return hint === undefined ? message : `${message}\n  ${hint}`;
  } catch {
    return said;
  }
}

/** @param file the variable that names the file: GITHUB_ENV, GITHUB_OUTPUT or GITHUB_STATE */
export function setForRunner(file, name, value) {
  const end = `end-${randomUUID()}`;
  appendFileSync(process.env[file] ?? "", `${name}<<${end}\n${value}\n${end}\n`);
}

/** Ends a step of the job as failed. */
export function fail(error) {
  // The runner reads one line: https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
  const text = error.message.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  console.log(`::error::${text}`);
  process.exitCode = 1;
}
