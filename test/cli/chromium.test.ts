import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { idp, newFolder } from "../helpers/cli.ts";

test("--browser finds a Chromium on the PATH, such as /usr/bin/chromium", async () => {
  const cwd = newFolder();
  const playwright = join(cwd, "node_modules", "playwright-core");
  mkdirSync(playwright, { recursive: true });
  mkdirSync(join(cwd, "bin"));
  writeFileSync(join(cwd, "bin", "chromium"), "");
  chmodSync(join(cwd, "bin", "chromium"), 0o755);
  writeFileSync(join(cwd, "package.json"), "{}");
  writeFileSync(join(playwright, "package.json"), JSON.stringify({ name: "playwright-core", main: "index.js" }));
  // It says what it was asked to start, and starts nothing.
  writeFileSync(
    join(playwright, "index.js"),
    "exports.chromium = { launch: async (way) => { console.error(`way ${JSON.stringify(way)}`); throw new Error(`none`); } };",
  );
  const app = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
  onTestFinished(() => void app.close());
  await once(app, "listening");
  const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}/`;
  const words = ["check", "client", "--browser", "--start", url, "--signed-in", url];
  const env = { PATH: `${join(cwd, "bin")}:${process.env["PATH"] ?? ""}` };
  const { stderr } = await idp([...words, "--", process.execPath, "-e", "setInterval(() => {}, 1000)"], { cwd, env });
  expect(stderr).toContain(`way {"executablePath":"${join(cwd, "bin", "chromium")}"`);
});
