import { spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { approve, Browser } from "../helpers/browser.ts";
import { environment, idp, newFolder, startIdp } from "../helpers/cli.ts";
import { freePort } from "../helpers/port.ts";
import { repository } from "../helpers/readme.ts";

/** An app into which only the code of `idp init` was pasted signs a user in. */

/** A server with one page, and a line that the code takes the place of. */
const apps = {
  module: (port: string, code: string) => `
import express from "express";
const app = express();
${code}
app.get("/", (req, res) => res.json(req.oidc.user));
app.listen(${port}, "localhost", () => console.log("listening"));
`,
  commonjs: (port: string, code: string) => `
const express = require("express");
const app = express();
${code}
app.get("/", (req, res) => res.json(req.oidc.user));
app.listen(${port}, "localhost", () => console.log("listening"));
`,
};

/** An app in a new folder, with the code of `idp init` for a library, and a server for it. */
async function startApp(type: keyof typeof apps, library: string) {
  const cwd = newFolder();
  const [port, idpPort] = [await freePort(), await freePort()];
  const url = `http://localhost:${port}`;
  const dependencies = { express: "^5.3.0", [library]: "*" };
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ name: "shop", type, dependencies }));
  symlinkSync(join(repository, "node_modules"), join(cwd, "node_modules"));
  const flags = ["--port", port, "--json"];
  const made = await idp(["init", ...flags], { cwd, env: { IDP_PORT: idpPort } });
  expect(made.code, made.stderr).toBe(0);
  const { pieces } = JSON.parse(made.stdout) as { readonly pieces: readonly { readonly text: string }[] };
  writeFileSync(join(cwd, "app.js"), apps[type](port, pieces[0]?.text ?? ""));

  const { issuer } = await startIdp(["--port", idpPort], { cwd });
  const app = spawn(process.execPath, ["app.js"], { cwd, env: environment({}), stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => {
    app.kill("SIGKILL");
  });
  await once(app.stdout, "data");
  return { url, browser: new Browser(issuer, url) };
}

test.each(["module", "commonjs"] as const)("an Express app of type %s, with express-openid-connect", async (type) => {
  const { url, browser } = await startApp(type, "express-openid-connect");
  const home = await approve(browser, await browser.open(`${url}/`));
  expect(JSON.parse(home.body)).toMatchObject({ name: "Alice", email: "alice@example.test" });
});

test("an Express app with better-auth", async () => {
  const { url, browser } = await startApp("module", "better-auth");
  const body = JSON.stringify({ provider: "idp", callbackURL: "/api/auth/get-session" });
  const headers = { "content-type": "application/json", origin: url };
  const started = await browser.open(`${url}/api/auth/sign-in/social`, { method: "POST", body, headers });
  const { url: address } = JSON.parse(started.body) as { readonly url: string };
  const session = await approve(browser, await browser.open(address));
  expect(JSON.parse(session.body)).toMatchObject({ user: { name: "Alice", email: "alice@example.test" } });
});

test("an Express app with Auth.js", async () => {
  const { url, browser } = await startApp("module", "@auth/express");
  const { csrfToken } = JSON.parse((await browser.open(`${url}/auth/csrf`)).body) as { readonly csrfToken: string };
  const body = new URLSearchParams({ csrfToken, callbackUrl: `${url}/auth/session` });
  const visit = await browser.open(`${url}/auth/signin/idp`, { method: "POST", body, headers: { origin: url } });
  const session = await approve(browser, visit);
  expect(JSON.parse(session.body)).toMatchObject({ user: { name: "Alice", email: "alice@example.test" } });
});
