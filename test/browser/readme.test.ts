import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { preparedChromium } from "../helpers/chromium.ts";
import { freePort } from "../helpers/port.ts";
import { blocks, repository } from "../helpers/readme.ts";
import { newProject, shell } from "../helpers/shell.ts";
import { signInApp } from "../helpers/sign-in-app.ts";

/**
 * The Playwright recipe of docs/testing.md: its configuration, its test and its commands as they are printed, but for the ports.
 * @module-tag browser
 */

/** What of `@playwright/test` the recipe uses, in terms of playwright-core, which has the same pages. */
const runner = `
export const defineConfig = (config) => config;
const tests = [];
export const test = (name, work) => tests.push([name, work]);
export const expect = (locator) => ({ toBeVisible: () => locator.waitFor({ state: "visible", timeout: 30_000 }) });
export async function run(config) {
  const { spawn } = await import("node:child_process");
  const { chromium } = await import("playwright-core");
  const servers = [];
  for (const { command, url } of config.webServer) {
    servers.push(spawn(command, { shell: true, detached: true, stdio: ["ignore", "inherit", "inherit"] }));
    const isUp = () => fetch(url).then(({ ok }) => ok, () => false);
    for (const until = Date.now() + 60_000; !(await isUp()); await new Promise((resolve) => setTimeout(resolve, 50)))
      if (Date.now() > until) throw new Error("nothing answers at " + url);
  }
  try {
    const { path, env } = JSON.parse(process.env.TEST_CHROMIUM);
    const browser = await chromium.launch({ executablePath: path, args: ["--no-sandbox"], env: { ...process.env, ...env } });
    for (const [name, work] of tests) {
      const context = await browser.newContext(config.use);
      await work({ page: await context.newPage() });
      await context.close();
      console.log("passed: " + name);
    }
    await browser.close();
  } finally {
    for (const { pid } of servers) process.kill(-pid, "SIGTERM");
  }
}
`;

test("the tests of the recipe pass, against the servers that its configuration starts", async () => {
  const { cwd, env } = newProject();
  const [idpPort, appPort] = [await freePort(), await freePort()];
  const own = (text: string): string =>
    text.replaceAll("localhost:4370", `localhost:${idpPort}`).replaceAll("3000", appPort);
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  };
  const programs = blocks("In tests", "js").filter((block) => block.includes("@playwright/test"));
  expect(programs).toHaveLength(2);
  const [config = "", recipe = ""] = programs;
  write("playwright.config.js", own(config));
  write("sign-in.test.js", own(recipe));
  write("app.js", own(signInApp));
  write("package.json", JSON.stringify({ type: "module", scripts: { start: "node app.js" } }));
  // The demo, with the port of this app.
  write("idp.fixtures.json", own(readFileSync(join(repository, "fixtures/demo.json"), "utf8")));
  write("node_modules/@playwright/test/index.js", runner);
  write("node_modules/@playwright/test/package.json", JSON.stringify({ type: "module", exports: "./index.js" }));
  for (const name of ["playwright-core", "openid-client"])
    symlinkSync(join(repository, "node_modules", name), join(cwd, "node_modules", name));
  write(
    "run.js",
    `import { run } from "@playwright/test";
import config from "./playwright.config.js";
import "./sign-in.test.js";
await run(config);
`,
  );
  const ended = await shell("timeout 100 node run.js", {
    cwd,
    env: { ...env, IDP_PORT: idpPort, TEST_CHROMIUM: JSON.stringify(preparedChromium()) },
  });
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
  expect(ended.stdout.match(/^passed: .*/gm)).toEqual(["passed: alice signs in", "passed: bob does not allow it"]);
});
