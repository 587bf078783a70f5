import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { idp, newFolder } from "../helpers/cli.ts";

test("--browser finds a Chromium on the PATH, such as /usr/bin/chromium, and gives it no token and no store of a server", async () => {
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
    "exports.chromium = { launch: async ({ env, ...way }) => { console.error(`way ${JSON.stringify(way)} for ${Object.keys(env)}.`); throw new Error(`none`); } };",
  );
  const app = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
  onTestFinished(() => void app.close());
  await once(app, "listening");
  const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}/`;
  const words = ["check", "client", "--browser", "--start", url, "--signed-in", url];
  const secrets = { IDP_ADMIN_TOKEN: "the-admin-token-of-a-server", IDP_STORE: "postgres://idp:secret@localhost/idp" };
  const env = { PATH: `${join(cwd, "bin")}:${process.env["PATH"] ?? ""}`, HOME: cwd, ...secrets };
  const { stderr } = await idp([...words, "--", process.execPath, "-e", "setInterval(() => {}, 1000)"], { cwd, env });
  expect(stderr).toContain(`way {"executablePath":"${join(cwd, "bin", "chromium")}"`);
  const given = / for (.*)\.$/m.exec(stderr)?.[1]?.split(",") ?? [];
  expect(given).toEqual(expect.arrayContaining(["PATH", "HOME"]));
  expect(given.filter((name) => name in secrets)).toEqual([]);
});
