import { defineConfig } from "vitest/config";
import { leftOut } from "./test/helpers/of-one-instance.ts";
import { programTags } from "./test/helpers/programs.ts";
import { testInstances } from "./test/helpers/runs.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    ...(testInstances > 1 && leftOut),
    globalSetup: ["test/helpers/left-behind.ts", "test/helpers/programs.ts", "test/helpers/find-chromium.ts"],
    setupFiles: ["test/helpers/before-each-file.ts"],
    // Tests that need one of these programs are left out where it is missing.
    tags: programTags,
    // A transaction may run twice. So it always does in the servers that tests start in their own process.
    alias: [{ find: /^\.\.\/store\/open\.ts$/, replacement: `${import.meta.dirname}/test/helpers/open-twice.ts` }],
    // Ends what hangs. It is no bound on speed: a test that needs a second takes long on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // More processes than cores: many tests wait for servers and browsers.
    maxWorkers: 5,
    // Not threads: a child process that one of them is forking has all that the other has open, until it runs its own program; so a
    // port that was closed a moment ago would still be taken.
    pool: "forks",
    // Each of these processes loads what is tested once, not again for each file: no test changes a module.
    isolate: false,
  },
});
