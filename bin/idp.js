#!/usr/bin/env node
/** By major version of Node.js, the flag of V8 with which a server that waits for requests is not made small. */
const keepsWarm = {
  20: "--gc-memory-reducer-start-delay-ms=2000000000",
  22: "--memory-reducer-gc-count=0",
  24: "--gc-memory-reducer-start-delay-ms=2000000000",
}[process.versions.node.split(".")[0]];
if (process.argv.includes("start") && keepsWarm !== undefined) {
  // Once a flag is changed, V8 takes nothing of what Node.js keeps compiled of its own modules: what the server needs of them comes first.
  for (const name of ["cluster", "crypto", "dns", "fs/promises", "http", "os", "timers/promises", "tty", "vm"])
    require(`node:${name}`);
  // V8 asks for it once, at a moment that is not known: so it stands before all else, and is not set back where something is compiled
  // (docs/decisions/what-outlives-a-request.md).
  require("node:v8").setFlagsFromString(keepsWarm);
}
const { load } = require("../dist/cli/compiled.cjs");
load(require.resolve("../dist/cli/main.cjs"));
