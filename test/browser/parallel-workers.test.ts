import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { preparedChromium } from "../helpers/chromium.ts";
import { freePort } from "../helpers/port.ts";
import { blocks, repository } from "../helpers/readme.ts";
import { newProject, shell } from "../helpers/shell.ts";
import { signInApp } from "../helpers/sign-in-app.ts";

/**
 * The recipe "Parallel workers" of docs/testing.md with Playwright itself, as it is printed but for the ports; and tests that change
 * everything while those of three other workers look.
 * @module-tag browser
 */

/** Each of these tests runs in a separate worker: `meet` waits until all four are there. */
const atOnce = `
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { expect } from "@playwright/test";
import { signIn } from "dev-idp/playwright";
import { test } from "./test.js";

test.describe.configure({ mode: "parallel", retries: 0 });

const names = ["suspends", "resets", "moves the clock", "stays"];
async function meet(where, name) {
  mkdirSync(where, { recursive: true });
  writeFileSync(where + "/" + name, "");
  while (!names.every((one) => existsSync(where + "/" + one))) await setTimeout(20);
}

for (const name of names) {
  test(name, async ({ page, idp, app }, { parallelIndex }) => {
    expect(idp.issuer).toBe("http://localhost:4370/i/w" + (parallelIndex + 1));
    await page.goto("/");
    await page.getByRole("link", { name: "Sign in" }).click();
    await signIn(page, { user: "alice" });
    await expect(page.getByText("Hello, Alice Adams")).toBeVisible();
    await meet("signed-in", name);
    if (name === "suspends") await idp.call("users.suspend", { username: "alice" });
    if (name === "resets") await idp.reset();
    if (name === "moves the clock") await idp.clock.advance("30d");
    await meet("changed", name);
    const { status } = await idp.call("users.show", { username: "alice" });
    const sessions = await idp.call("sessions.list", {});
    const { offset } = await idp.clock.show();
    await idp.expect({ endpoint: "token", times: 1 });
    expect([status, sessions.length, offset > 0]).toEqual({
      suspends: ["suspended", 1, false],
      resets: ["active", 0, false],
      "moves the clock": ["active", 0, true],
      stays: ["active", 1, false],
    }[name]);
  });
}
`;

/** The browser is not the one that Playwright downloads. */
const config = `
import recipe from "./recipe.config.js";
const { path, env } = JSON.parse(process.env.TEST_CHROMIUM);
const launchOptions = { executablePath: path, args: ["--no-sandbox"], env: { ...process.env, ...env } };
export default { ...recipe, reporter: "list", timeout: 90_000, use: { ...recipe.use, launchOptions } };
`;

test("four workers, each with its own issuer: none sees what the others change", async () => {
  const { cwd, env } = newProject();
  const idpPort = await freePort();
  const appPort = Number(await freePort());
  const own = (text: string): string => text.replaceAll("4370", idpPort).replaceAll("3001", String(appPort));
  const write = (name: string, text: string): void => writeFileSync(join(cwd, name), own(text));
  const [recipe = "", fixture = "", tests = ""] = blocks("Parallel workers", "js");
  const [fixtures = ""] = blocks("Parallel workers", "yaml");
  write("recipe.config.js", recipe);
  write("playwright.config.js", config);
  write("idp.fixtures.yaml", fixtures);
  write("test.js", fixture);
  write("sign-in.spec.js", tests);
  write("at-once.spec.js", atOnce);
  write("app.js", signInApp);
  write("package.json", JSON.stringify({ type: "module" }));
  mkdirSync(join(cwd, "node_modules", "@playwright"));
  for (const name of ["@playwright/test", "openid-client"])
    symlinkSync(join(repository, "node_modules", name), join(cwd, "node_modules", name));
  const ended = await shell("timeout 100 node node_modules/@playwright/test/cli.js test", {
    cwd,
    env: { ...env, IDP_PORT: idpPort, TEST_CHROMIUM: JSON.stringify(preparedChromium()) },
  });
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
  expect(ended.stdout).toContain("6 passed");
});
