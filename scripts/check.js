// All of `npm run check:*` at once: the longest of them, alone, keeps half of a machine of two cores idle.
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";

const checks = ["lint", "types", "format", "unused", "cycles", "templates"];

/** Runs one of them. @returns whether it passed */
function run(name) {
  const child = spawn("npm", ["run", "--silent", `check:${name}`], { shell: process.platform === "win32" });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => said.push(chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      // Each one's words together, not among those of the others.
      process.stdout.write(Buffer.concat(said));
      if (code !== 0) process.stdout.write(`npm run check:${name} failed\n`);
      resolve(code === 0);
    });
  });
}

const passed = await Promise.all(checks.map(run));
process.exitCode = passed.every(Boolean) ? 0 : 1;
