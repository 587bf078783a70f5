import { spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { approve, Browser } from "../helpers/browser.ts";
import { environment, idp, newFolder, startIdp } from "../helpers/cli.ts";
import { freePort } from "../helpers/port.ts";
import { repository } from "../helpers/readme.ts";

/** An app into which only the code of `idp init` was pasted signs a user in, and out at the provider too. */

/** A server with one page, and a line that the code takes the place of. */
const apps = {
  module: (port: string, code: string) => `
import express from "express";
const app = express();
${code}
app.get("/", (req, res) => res.json(req.oidc?.user ?? req.user ?? req.session?.user ?? null));
app.listen(${port}, "localhost", () => console.log("listening"));
`,
  commonjs: (port: string, code: string) => `
const express = require("express");
const app = express();
${code}
app.get("/", (req, res) => res.json(req.oidc?.user ?? req.user ?? req.session?.user ?? null));
app.listen(${port}, "localhost", () => console.log("listening"));
`,
};

/**
 * An app in a new folder, with the code of `idp init` for a library, and a server for it.
 * @param tooEarly a path of the app that is asked for before the server runs
 */
async function startApp(type: keyof typeof apps, library: string, tooEarly?: string) {
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

  const app = spawn(process.execPath, ["app.js"], {
    cwd,
    env: environment({}),
    stdio: ["ignore", "pipe", tooEarly === undefined ? "inherit" : "ignore"],
  });
  onTestFinished(() => {
    app.kill("SIGKILL");
  });
  await once(app.stdout, "data");
  if (tooEarly !== undefined) expect((await fetch(url + tooEarly)).status).toBe(500);
  const { issuer } = await startIdp(["--port", idpPort], { cwd });
  const browser = new Browser(issuer, url);
  /** Whether the provider asks who it is: the session there has ended too. */
  const isOut = async (): Promise<boolean> => (await browser.open(`${issuer}/account`)).page === "login";
  return { url, browser, isOut };
}

test.each(["module", "commonjs"] as const)("an Express app of type %s, with express-openid-connect", async (type) => {
  const { url, browser, isOut } = await startApp(type, "express-openid-connect");
  const home = await approve(browser, await browser.open(`${url}/`));
  expect(JSON.parse(home.body)).toMatchObject({ name: "Alice", email: "alice@example.com" });
  expect(await isOut()).toBe(false);
  // Back at its front page, the app asks for a sign-in, and nobody is signed in by a session of before.
  expect((await browser.open(`${url}/logout`)).page).toBe("login");
  expect(await isOut()).toBe(true);
});

test.each([
  ["openid-client", "module", "email"],
  ["openid-client", "commonjs", "email"],
  ["passport-openidconnect", "module", "emails"],
  ["passport-openidconnect", "commonjs", "emails"],
] as const)("an Express app with %s, of type %s", async (library, type, email) => {
  const { url, browser, isOut } = await startApp(type, library);
  expect((await browser.open(`${url}/`)).body).toBe("null");
  const home = await approve(browser, await browser.open(`${url}/login`));
  expect(home.url).toBe(`${url}/`);
  expect(JSON.stringify((JSON.parse(home.body) as Record<string, unknown>)[email])).toContain("alice@example.com");
  const left = await browser.open(`${url}/logout`);
  expect([left.url, left.body]).toEqual([`${url}/`, "null"]);
  expect(await isOut()).toBe(true);
});

test("an Express app with openid-client that met no server at its first sign-in signs in at the next", async () => {
  const { url, browser } = await startApp("module", "openid-client", "/login");
  const home = await approve(browser, await browser.open(`${url}/login`));
  expect(JSON.parse(home.body)).toMatchObject({ email: "alice@example.com" });
});

test("an Express app with better-auth", async () => {
  const { url, browser, isOut } = await startApp("module", "better-auth");
  const body = JSON.stringify({ provider: "idp", callbackURL: "/api/auth/get-session" });
  const headers = { "content-type": "application/json", origin: url };
  const started = await browser.open(`${url}/api/auth/sign-in/social`, { method: "POST", body, headers });
  const { url: address } = JSON.parse(started.body) as { readonly url: string };
  const session = await approve(browser, await browser.open(address));
  expect(JSON.parse(session.body)).toMatchObject({ user: { name: "Alice", email: "alice@example.com" } });
  expect((await browser.open(`${url}/logout`)).url).toBe(`${url}/`);
  expect((await browser.open(`${url}/api/auth/get-session`)).body).toBe("null");
  expect(await isOut()).toBe(true);
});

test("an Express app with Auth.js", async () => {
  const { url, browser, isOut } = await startApp("module", "@auth/express");
  const { csrfToken } = JSON.parse((await browser.open(`${url}/auth/csrf`)).body) as { readonly csrfToken: string };
  const body = new URLSearchParams({ csrfToken, callbackUrl: `${url}/auth/session` });
  const visit = await browser.open(`${url}/auth/signin/idp`, { method: "POST", body, headers: { origin: url } });
  const session = await approve(browser, visit);
  expect(JSON.parse(session.body)).toMatchObject({ user: { name: "Alice", email: "alice@example.com" } });
  const asked = JSON.parse((await browser.open(`${url}/auth/csrf`)).body) as { readonly csrfToken: string };
  const out = new URLSearchParams({ ...asked, callbackUrl: `${url}/` });
  await browser.open(`${url}/auth/signout`, { method: "POST", body: out, headers: { origin: url } });
  expect(await isOut()).toBe(true);
});
