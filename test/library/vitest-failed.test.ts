import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createIdp } from "../../src/index.ts";
import { environment, newFolder } from "../helpers/cli.ts";
import { repository } from "../helpers/readme.ts";

/** A test that fails prints the requests of its app, with vitest and with Playwright. */

const { resolve } = createRequire(import.meta.url);
const vitest = join(dirname(resolve("vitest/package.json")), "vitest.mjs");
const playwright = dirname(resolve("@playwright/test/package.json"));

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
    /What was asked of idp:\n {2}r\d+ {2}GET userinfo {2}401\n {6}missing_token: no access token: send it as Authorization: Bearer.*\n {6}rule: RFC 6750 3\n/,
  );
  expect(failed.stderr.match(/asked of idp/g)).toHaveLength(1);
  expect(failed.stderr).not.toContain("GET none");
});

test("the server of dev-idp/vitest starts in a hook, and not within the time of the first test", async () => {
  const cwd = newFolder();
  writeFileSync(
    join(cwd, "app.test.js"),
    `import { idpTest } from ${JSON.stringify(join(repository, "src/vitest.ts"))};
// Fixtures that take longer to make than the test may.
const fixtures = () => {
  for (const end = performance.now() + 1000; performance.now() < end; );
  return {};
};
const test = idpTest({ fixtures });
test("is quick", { timeout: 700 }, ({ idpOfWorker }) => void idpOfWorker.issuer);
`,
  );
  const args = [vitest, "run", "--root", cwd, "--globals=false"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, env: environment({ NO_COLOR: "1" }) });
  expect(stdout).toContain("1 passed");
});

test("dev-idp/playwright prints the requests of a test that failed, and no other's", async () => {
  const cwd = newFolder();
  const idp = await createIdp();
  writeFileSync(
    join(cwd, "app.spec.js"),
    `import { test as base } from ${JSON.stringify(join(playwright, "index.mjs"))};
import { idpFixtures } from ${JSON.stringify(join(repository, "dist/playwright.js"))};
const idp = ${JSON.stringify({ issuer: `${idp.issuer}/`, adminToken: idp.adminToken })};
const test = base.extend(idpFixtures({ ...idp, perWorker: false }));
const ask = (path) => fetch(idp.issuer + path);
test("passes", () => ask("of-the-one-that-passes"));
test("fails", async () => {
  await ask("api/v2/oauth/userinfo");
  await ask("api/v2/oauth/authorize?client_id=demo-app&redirect_uri=http://localhost:3001/callback");
  throw new Error("as it should");
});
base.extend(idpFixtures({ ...idp, adminToken: "wrong" }))("has the wrong token", () => ask("never"));
base.extend(idpFixtures(idp))("asks another issuer than that of its worker", async () => {
  await ask("of-the-first-issuer");
  throw new Error("as it should");
});
`,
  );
  const run = promisify(execFile)(process.execPath, [join(playwright, "cli.js"), "test", "--reporter=line"], {
    cwd,
    env: environment({ NO_COLOR: "1" }),
  });
  const failed = (await run.catch((error: unknown) => error)) as { readonly stdout: string; readonly stderr: string };
  await idp.close();
  const printed = failed.stdout + failed.stderr;
  expect(printed).toContain("1 passed");
  expect(printed).toMatch(
    /What was asked of idp:\n {2}r\d+ {2}GET userinfo {2}401\n {6}missing_token: no access token: send it as Authorization: Bearer.*\n {6}rule: RFC 6750 3\n/,
  );
  // The server may be gone when this is read.
  expect(printed).toContain(
    "fix: in the fixtures, add http://localhost:3001/callback to redirect_uris of the client demo-app",
  );
  // By the fixture, and by the reporter, which prints the attachment.
  expect(printed.match(/What was asked of idp/g)).toHaveLength(2);
  expect(printed).not.toContain("of-the-one-that-passes");
  expect(printed).toContain("refuses the admin token (status 401)");
  expect(printed).toContain(`This worker has the issuer ${idp.issuer}/i/w1, which got no requests`);
});
