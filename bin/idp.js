#!/usr/bin/env node
if (process.argv.includes("start")) {
  // Where nothing happens, V8 makes the heap small, and throws away what it compiled for requests: how long it waits is asked once, when the old
  // space has grown by 1 MB. So it is told to wait for weeks, and made to ask, by a name of that length, before anything else may
  // (docs/decisions/what-outlives-a-request.md).
  const { setFlagsFromString } = require("node:v8");
  setFlagsFromString("--gc-memory-reducer-start-delay-ms=2000000000");
  void { ["x".repeat(1024 * 1024)]: null };
  setFlagsFromString("--gc-memory-reducer-start-delay-ms=8000");
  // Once a flag is another one, V8 takes nothing of what Node.js keeps compiled of its own modules: what the server needs of them comes first.
  for (const name of ["cluster", "crypto", "dns", "fs/promises", "http", "os", "timers/promises", "tty", "vm"])
    require(`node:${name}`);
}
const { load } = require("../dist/cli/compiled.cjs");
load(require.resolve("../dist/cli/main.cjs"));
