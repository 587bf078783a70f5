import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { createIdp } from "../../src/index.ts";
import { printRequests } from "../../src/playwright.ts";
import { environment, newFolder } from "../helpers/cli.ts";
import { repository } from "../helpers/readme.ts";

/** What tests print that failed: the requests of their app. */

const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");

test("dev-idp/vitest prints the requests of a test that failed, and no other's", async () => {
  const cwd = newFolder();
  writeFileSync(
    join(cwd, "app.test.js"),
    `import { idpTest } from ${JSON.stringify(join(repository, "src/vitest.ts"))};
const test = idpTest();
const ask = (idp, path) => fetch(idp.issuer + path);
test("passes", ({ idp }) => ask(idp, "/of-the-one-that-passes"));
test("fails", async ({ idp }) => {
  await ask(idp, "/api/v2/oauth/userinfo");
  await idp.expect({ endpoint: "token", times: 1 });
});
test("begins with an empty ledger", async ({ idp }) => {
  await idp.expect({ endpoint: "any", never: true });
});
`,
  );
  const run = promisify(execFile)(process.execPath, [vitest, "run", "--root", cwd, "--globals=false"], {
    cwd,
    env: environment({ NO_COLOR: "1" }),
  });
  const failed = (await run.catch((error: unknown) => error)) as { readonly stdout: string; readonly stderr: string };
  expect(failed.stdout).toContain("2 passed");
  expect(failed.stderr).toContain("Not met: exactly 1 token request. The ledger holds none.");
  expect(failed.stderr).toMatch(
    /What was asked of idp:\n {2}r\d+ {2}GET userinfo {2}401\n {6}missing_token: no access token/,
  );
  expect(failed.stderr.match(/asked of idp/g)).toHaveLength(1);
  expect(failed.stderr).not.toContain("GET none");
});

test("printRequests of dev-idp/playwright prints them, and empties the ledger after each test", async () => {
  const idp = await createIdp();
  const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
  try {
    await fetch(`${idp.issuer}/api/v2/oauth/userinfo`);
    await printRequests({ status: "failed", expectedStatus: "passed" }, idp);
    expect(printed.mock.calls).toEqual([
      [expect.stringMatching(/^What was asked of idp:\n {2}r\d+ {2}GET userinfo {2}401\n/)],
    ]);
    expect(await idp.requests.list()).toEqual([]);
    await fetch(`${idp.issuer}/api/v2/oauth/userinfo`);
    await printRequests({ status: "passed", expectedStatus: "passed" }, { ...idp, issuer: `${idp.issuer}/` });
    expect(printed.mock.calls).toHaveLength(1);
    expect(await idp.requests.list()).toEqual([]);
    const wrong = printRequests({ status: "failed", expectedStatus: "passed" }, { ...idp, adminToken: "wrong" });
    await expect(wrong).rejects.toThrow("status 401. Is it the right admin token?");
  } finally {
    printed.mockRestore();
    await idp.close();
  }
});
