// Runs the tests of integrations/, each where its toolchain is, in a copy of the folder. The last line names what was left out.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "idp-integrations-"));
const packages = join(folder, "python");

const integrations = [
  {
    name: "pytest",
    needs: [["python3", "-m", "pip", "--version"]],
    steps: [
      ["python3", "-m", "pip", "install", "--quiet", "--target", packages, ".", "pytest-xdist"],
      ["python3", "-m", "pytest", "--quiet", "-n", "2"],
    ],
    env: { PYTHONPATH: packages, PIP_ROOT_USER_ACTION: "ignore", PIP_DISABLE_PIP_VERSION_CHECK: "1" },
  },
  {
    name: "go",
    needs: [["go", "version"]],
    steps: [
      ["go", "vet", "./..."],
      ["go", "test", "-count=1", "./..."],
    ],
  },
  {
    name: "junit",
    needs: [
      ["mvn", "--version"],
      ["javac", "--version"],
    ],
    steps: [["mvn", "--batch-mode", "--no-transfer-progress", "--quiet", "-Dsurefire.printSummary=true", "test"]],
  },
];

const isThere = ([program, ...words]) => spawnSync(program, words, { stdio: "ignore" }).status === 0;

/** @returns whether every step succeeded */
function passes({ name, steps, env = {} }) {
  const cwd = join(folder, name);
  cpSync(join(root, "integrations", name), cwd, { recursive: true });
  const command = `"${process.execPath}" "${join(root, "bin", "idp.js")}"`;
  return steps.every(([program, ...words]) => {
    console.log(`integrations/${name}: ${[program, ...words].join(" ")}`);
    const more = { ...process.env, DEV_IDP: command, ...env };
    return spawnSync(program, words, { cwd, env: more, stdio: "inherit" }).status === 0;
  });
}

try {
  const here = integrations.filter(({ needs }) => needs.every(isThere));
  const failed = here.filter((integration) => !passes(integration)).map(({ name }) => name);
  const leftOut = integrations.filter((integration) => !here.includes(integration)).map(({ name }) => name);
  console.log(`Tested: ${here.map(({ name }) => name).join(", ") || "none"}`);
  if (leftOut.length > 0) console.log(`Left out, because their toolchains are missing: ${leftOut.join(", ")}`);
  if (failed.length > 0) {
    console.error(`Failed: ${failed.join(", ")}`);
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
