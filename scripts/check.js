// Runs all of `npm run check:*` at once, because each of them uses only one core.
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";

const checks = ["lint", "types", "format", "unused", "cycles", "order", "templates"];

/** Runs one of them. @returns whether it passed */
function run(name) {
  const child = spawn("npm", ["run", "--silent", `check:${name}`], { shell: process.platform === "win32" });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => said.push(chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      // All at its end, so that the output of two checks does not mix.
      process.stdout.write(Buffer.concat(said));
      if (code !== 0) process.stdout.write(`npm run check:${name} failed\n`);
      resolve(code === 0);
    });
  });
}

const passed = await Promise.all(checks.map(run));
process.exitCode = passed.every(Boolean) ? 0 : 1;
