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

test.each(["module", "commonjs"] as const)("an Express app of type %s, with express-openid-connect", async (type) => {
  const cwd = newFolder();
  const [port, idpPort] = [await freePort(), await freePort()];
  const url = `http://localhost:${port}`;
  const dependencies = { express: "^5.3.0", "express-openid-connect": "^3.4.0" };
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ name: "shop", type, dependencies }));
  symlinkSync(join(repository, "node_modules"), join(cwd, "node_modules"));
  const flags = ["--redirect-uri", `${url}/callback`, "--json"];
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
  const browser = new Browser(issuer, url);
  const home = await approve(browser, await browser.open(`${url}/`));
  expect(JSON.parse(home.body)).toMatchObject({ name: "Alice", email: "alice@example.test" });
});
