import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { leftOut } from "./test/helpers/of-one-instance.ts";
import { programTags } from "./test/helpers/programs.ts";
import { testInstances } from "./test/helpers/runs.ts";

/**
 * What `npm run test:whole` adds to `npm test`: tests that need browsers, packages, containers, guides, other programs, long waits or much
 * processor time. Of each kind, one file is left to `npm test` (of crashes it is store/crash).
 */
const whole = [
  "test/attacks/{brute-force,client-documents,expectations,hostile-apps,imports,inspector-tokens,key-fetches,leaver-report,ledger,misplaced-secrets,races,respelled-tokens,saml,saml-again,saml-xml,terminal,testers-costs,testers-issuer,told-secrets,unread-requests,waiting-requests}.test.ts",
  "test/browser/!(sign-in).test.ts",
  "test/cli/{check-account,check-api,check-client,check-client-server,check-leaver,check-scim,check-sp,check-sp-tenants,chromium,client-env,completion,doctor,edit,env,env-libraries,exec,exec-workload,fix-commands,https,long-commands,next-steps,npm-shell,output,own-names,parallel,printed-commands,prompts,start-fixtures,start-flags,start-keys,start-taken,state,stopped,store,total-timeout,wait,watch}.test.ts",
  "test/client/{account-neglect,api-neglect,check-sp,leaver-neglect,neglect,neglect-logout,neglect-sp,scim-neglect,scim-terse,sp-terse}.test.ts",
  "test/core/fixtures-from-losses.test.ts",
  "test/docs/migration.test.ts",
  "test/flow/!(openid-client|step-up-guide).test.ts",
  "test/flow/*/*.test.ts",
  "test/http/{inspector-list,layout,openapi-input,saml-flaws,saml-refusals,vendor-behavior}.test.ts",
  "test/library/{new-grant-type,vitest-failed,vitest-workers}.test.ts",
  "test/package/!(package).test.ts",
  "test/property/sequences.test.ts",
  "test/store/{postgres,postgres-away}.test.ts",
];

const { exclude, ...filter } = testInstances > 1 ? leftOut : { exclude: [] };

const project = (name: string, include: string[], others: readonly string[]): TestProjectInlineConfiguration => ({
  test: {
    name,
    include,
    exclude: [...others, ...exclude],
    ...filter,
    setupFiles: ["test/helpers/before-each-file.ts"],
    // Tests that need one of these programs are left out where it is missing.
    tags: programTags,
    // A transaction may run twice. So it always does in the servers that tests start in their own process.
    alias: [{ find: /^\.\.\/store\/open\.ts$/, replacement: `${import.meta.dirname}/test/helpers/open-twice.ts` }],
    // Ends what hangs. It is no bound on speed: a test that needs a second takes long on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // Not threads: a child process that one of them is forking has all that the other has open, until it runs its own program; so a
    // port that was closed a moment ago would still be taken.
    pool: "forks",
    // Each of these processes loads what is tested once, not again for each file: no test changes a module.
    isolate: false,
  },
});

export default defineConfig({
  test: {
    projects: [project("fast", ["test/**/*.test.ts"], whole), project("whole", whole, [])],
    // Here, so that they run once for both.
    globalSetup: ["test/helpers/left-behind.ts", "test/helpers/programs.ts", "test/helpers/find-chromium.ts"],
    // More processes than cores: many tests wait for servers and browsers.
    maxWorkers: 5,
  },
});
