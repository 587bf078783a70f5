#!/usr/bin/env node
const { load, setFlag } = require("../dist/cli/compiled.cjs");
if (process.argv.includes("start")) {
  // Once a flag is changed, V8 takes nothing of what Node.js keeps compiled of its own modules: what the server needs of them comes first.
  for (const name of ["cluster", "crypto", "dns", "fs/promises", "http", "os", "timers/promises", "tty"])
    require(`node:${name}`);
  // A server that waits for requests is not to be made small: docs/decisions/what-outlives-a-request.md. V8 asks for this delay once, early.
  setFlag("--gc-memory-reducer-start-delay-ms=8000", "--gc-memory-reducer-start-delay-ms=2000000000");
}
load(require.resolve("../dist/cli/main.cjs"));
