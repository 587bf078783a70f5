import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { TestProject } from "vitest/node";
import { findChromium } from "./find-chromium.ts";

/**
 * Programs that some tests need and that come neither with Node.js nor with every system. A test names them as its tags, and is
 * left out where one is missing. This is the only reason to leave a test out.
 */
const programs = ["authlib", "bash", "browser", "curl", "fish", "git", "openssl", "prlimit", "script", "zsh"] as const;

declare module "vitest" {
  interface TestTags {
    program: (typeof programs)[number];
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const onPath = (program: string): boolean =>
  (process.env["PATH"] ?? "").split(delimiter).some((folder) => isExecutable(join(folder, program)));

/** Python with Authlib and PyJWT, and what Authlib sends requests with. */
const findAuthlib = `
import importlib.util, sys
sys.exit(not all(map(importlib.util.find_spec, ["authlib", "jwt", "requests"])))`;

function isThere(program: (typeof programs)[number]): boolean {
  if (program === "browser") return findChromium() !== null;
  if (program === "authlib") return onPath("python3") && spawnSync("python3", ["-c", findAuthlib]).status === 0;
  return onPath(program);
}

/** A machine without these still passes with CI=true: how Python packages are installed differs between systems. */
const notRequired: readonly string[] = ["authlib"];

const missing = programs.filter((program) => !isThere(program));

/** The tags for vitest: one for each program. */
export const programTags = programs.map((name) => ({ name, skip: missing.includes(name) }));

/** Before the tests: checks that a machine that needs every program has it. After them, as the last line of the run: what was left out. */
export default function setup({ vitest }: TestProject): () => void {
  const required = missing.filter((program) => !notRequired.includes(program));
  if (process.env["CI"] === "true" && required.length > 0)
    throw new Error(`With CI=true every test runs, but these programs are missing: ${required.join(", ")}`);
  return () => {
    const tests = vitest.state.getTestModules().flatMap((module) => [...module.children.allTests("skipped")]);
    const counts = missing
      .map((program) => [program, tests.filter(({ tags }) => tags.includes(program)).length] as const)
      .filter(([, count]) => count > 0)
      .map(([program, count]) => `${program} (${count} ${count === 1 ? "test" : "tests"})`);
    if (counts.length > 0) console.log(`Left out, because these programs are missing: ${counts.join(", ")}`);
  };
}
