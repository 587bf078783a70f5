import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { approve, Browser } from "../../helpers/browser.ts";
import { idp, newFolder, startIdp } from "../../helpers/cli.ts";
import { freePort } from "../../helpers/port.ts";

/** Apache with mod_auth_openidc, unmodified, and with what `idp env --for mod_auth_openidc` prints. */

const modules = "/usr/lib/apache2/modules";

/** Apache in the foreground, in a folder of its own. @param configuration of the module */
function startApache(port: string, configuration: string): void {
  const folder = newFolder();
  mkdirSync(join(folder, "site"));
  writeFileSync(join(folder, "site", "index.html"), "only for users");
  const names = ["mpm_event", "authn_core", "authz_core", "authz_user", "dir", "headers", "auth_openidc"];
  const lines = [
    ...names.map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`),
    `ServerName localhost`,
    `Listen ${port}`,
    `PidFile ${join(folder, "pid")}`,
    `DefaultRuntimeDir ${folder}`,
    `ErrorLog ${join(folder, "error.log")}`,
    `DocumentRoot ${join(folder, "site")}`,
    "DirectoryIndex index.html",
    configuration,
    // The module answers the requests of scripts with 401, and Node's `fetch` sends the header of one.
    "RequestHeader unset Sec-Fetch-Mode early",
  ];
  writeFileSync(join(folder, "httpd.conf"), lines.join("\n"));
  const child = spawn("apache2", ["-X", "-f", join(folder, "httpd.conf")], { stdio: "ignore" });
  onTestFinished(async () => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await ended;
  });
}

test("alice signs in; the page is for users alone", { tags: ["mod_auth_openidc"] }, async () => {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const cwd = newFolder();
  const clients = [{ client_id: "app", client_secret: "the-secret", redirect_uris: [`${url}/redirect_uri`] }];
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ users: [{ username: "alice" }], clients }));
  const { issuer } = await startIdp([], { cwd });
  const printed = await idp(["env", "--for", "mod_auth_openidc"], { cwd });
  expect(printed, printed.stderr).toMatchObject({ code: 0 });
  startApache(port, printed.stdout);
  const asked = () =>
    fetch(url, { redirect: "manual", headers: { accept: "text/html" } }).then(
      ({ status }) => status,
      () => 0,
    );
  await expect.poll(asked).toBe(302);
  const browser = new Browser(issuer, url);
  const page = await approve(browser, await browser.open(`${url}/`));
  expect(page.body).toBe("only for users");
  const stranger = await new Browser(issuer, url).open(`${url}/`);
  expect(stranger.page).toBe("login");
});
