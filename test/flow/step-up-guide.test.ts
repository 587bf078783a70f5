import { spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { Browser } from "../helpers/browser.ts";
import { idp as run, startIdp } from "../helpers/cli.ts";
import { jwtPart } from "../helpers/client.ts";
import { freePort } from "../helpers/port.ts";
import { blocks, repository } from "../helpers/readme.ts";
import { newProject } from "../helpers/shell.ts";

/** docs/step-up.md: the API and the app as printed, and the commands that it names. */

interface App {
  readonly begin: (more?: object) => Promise<{ readonly url: string; readonly checks: object }>;
  readonly finish: (back: string, checks: object) => Promise<Readonly<Record<"access_token" | "id_token", string>>>;
  readonly call: (api: string, token: string) => Promise<object | null>;
}

test("the API demands a second step, the app asks for it, and the new token satisfies the API", async () => {
  const { cwd } = newProject();
  for (const name of ["jose", "openid-client"]) {
    symlinkSync(join(repository, "node_modules", name), join(cwd, "node_modules", name));
  }
  writeFileSync(join(cwd, "idp.fixtures.yaml"), blocks("Users and values", "yaml")[0] ?? "");
  writeFileSync(join(cwd, "api.mjs"), blocks("An API that demands it", "js")[0] ?? "");
  writeFileSync(join(cwd, "app.mjs"), blocks("An app that follows", "js")[0] ?? "");
  const idp = await startIdp([], { cwd });
  const port = await freePort();
  const api = `http://127.0.0.1:${port}`;
  const env = { ...process.env, OIDC_ISSUER: idp.issuer, API_PORT: port };
  const server = spawn(process.execPath, ["api.mjs"], { cwd, env, stdio: "inherit" });
  onTestFinished(async () => {
    server.kill();
    await once(server, "exit");
  });
  await vi.waitFor(() => fetch(api), { timeout: 30_000 });

  process.env["OIDC_ISSUER"] = idp.issuer;
  const app = (await import(pathToFileURL(join(cwd, "app.mjs")).href)) as App;
  delete process.env["OIDC_ISSUER"];
  const browser = new Browser(idp.issuer);
  const first = await app.begin();
  const picked = await browser.press(await browser.open(first.url), "login-as-alice");
  const weak = await app.finish(picked.left?.href ?? "", first.checks);
  const wanted = await app.call(api, weak.access_token);
  expect(wanted).toEqual({ acr_values: "urn:mfa", max_age: "300" });

  const second = await app.begin(wanted ?? {});
  const login = await browser.open(second.url);
  expect([login.page, login.state]).toEqual(["login", "reauth"]);
  const factor = await browser.press(login, "login-submit", { username: "alice", password: "alice" });
  const otp = JSON.parse((await run(["users", "otp", "alice", "--json"], { cwd })).stdout) as { code: string };
  const back = await browser.press(factor, "factor-submit", { otp: otp.code });
  const strong = await app.finish(back.left?.href ?? "", second.checks);
  expect(await app.call(api, strong.access_token)).toBeNull();
  expect(jwtPart(strong.id_token, 1)).toMatchObject({ acr: "urn:mfa", amr: ["pwd", "otp", "mfa"] });
  expect(await run(["expect", "factor"], { cwd })).toMatchObject({ code: 0 });

  const byCommand = await run("login --client bank --user alice --approve --acr urn:otp --json".split(" "), { cwd });
  expect(byCommand).toMatchObject({ code: 0, stderr: "" });

  const third = await app.begin(wanted ?? {});
  const bob = new Browser(idp.issuer);
  const refused = await bob.press(await bob.open(third.url), "login-as-bob");
  expect(refused.left?.searchParams.get("error")).toBe("unmet_authentication_requirements");

  const issued = await run("issue tokens --user alice --client bank --acr urn:mfa --json".split(" "), { cwd });
  const token = (JSON.parse(issued.stdout) as { access_token: string }).access_token;
  expect(await app.call(api, token)).toBeNull();
  const denied = await run("issue tokens --user bob --client bank --acr urn:mfa".split(" "), { cwd });
  expect(denied.code).not.toBe(0);
  expect(denied.stderr).toContain('bob cannot meet acr "urn:mfa"');
});
