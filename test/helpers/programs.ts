import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { TestProject } from "vitest/node";
import { findChromium } from "./find-chromium.ts";

/**
 * Programs that some tests need and that come neither with Node.js nor with every system. A test names them as its tags, and is
 * left out where one is missing. This is the only reason to leave a test out.
 */
const programs = [
  "authlib",
  "bash",
  "browser",
  "crewjam-saml",
  "curl",
  "fish",
  "git",
  "mod_auth_openidc",
  "omniauth",
  "openssl",
  "prlimit",
  "python3-saml",
  "scim2-server",
  "script",
  "zsh",
] as const;

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

/** Python packages in the versions that the tests are written for: older ones of PyJWT take no key of a JWKS. */
const packages = { Authlib: [1, 3], PyJWT: [2, 10], requests: [2, 0] } as const;
const findAuthlib = `
import importlib.metadata, sys
for name, major, minor in ${JSON.stringify(Object.entries(packages).map(([name, version]) => [name, ...version]))}:
    there = [int(part) for part in importlib.metadata.version(name).split(".")[:2]]
    sys.exit(1) if there[0] != major or there[1] < minor else None`;

/** OmniAuth for Rails, as Debian has it. */
const findOmniauth = [
  "action_controller/railtie",
  "omniauth/rails_csrf_protection",
  "omniauth_openid_connect",
  "webrick",
]
  .map((name) => `Gem.find_files(${JSON.stringify(name)}).any? or exit 1`)
  .join("\n");

function isThere(program: (typeof programs)[number]): boolean {
  if (program === "browser") return findChromium() !== null;
  if (program === "authlib") return onPath("python3") && spawnSync("python3", ["-c", findAuthlib]).status === 0;
  if (program === "python3-saml")
    return onPath("python3") && spawnSync("python3", ["-c", "import onelogin.saml2.auth"]).status === 0;
  if (program === "mod_auth_openidc")
    return onPath("apache2") && existsSync("/usr/lib/apache2/modules/mod_auth_openidc.so");
  if (program === "omniauth") return onPath("ruby") && spawnSync("ruby", ["-e", findOmniauth]).status === 0;
  if (program === "scim2-server")
    return onPath("python3") && spawnSync("python3", ["-c", "import scim2_server.testserver.cli"]).status === 0;
  if (program === "crewjam-saml") return onPath("go") && isInGoCache("github.com/crewjam/saml@v0.5.1");
  return onPath(program);
}

/** Whether `go mod download` was called, as in test/flow/clients/crewjam: tests load nothing from elsewhere. */
const isInGoCache = (module: string): boolean =>
  existsSync(join(spawnSync("go", ["env", "GOMODCACHE"], { encoding: "utf8" }).stdout.trim(), module));

/** A machine without these still passes with CI=true: how packages of Python, Go, Apache and Ruby are installed differs between systems. */
const notRequired: readonly string[] = [
  "authlib",
  "crewjam-saml",
  "mod_auth_openidc",
  "omniauth",
  "python3-saml",
  "scim2-server",
];

/** With the versions that it needs, where any other would fail. */
const nameOf = (program: string): string =>
  program === "authlib"
    ? Object.entries(packages)
        .map(([name, [major, minor]]) => `${name} ${major}.${minor}`)
        .join(" + ") + " or newer of that major version"
    : program;

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
      .map(([program, count]) => `${nameOf(program)} (${count} ${count === 1 ? "test" : "tests"})`);
    if (counts.length > 0) console.log(`Left out, because these programs are missing: ${counts.join(", ")}`);
  };
}
