import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { callback } from "../helpers/client.ts";
import { idpIn } from "../helpers/command.ts";
import { launch, newFolder } from "../helpers/cli.ts";
import { scimServer, type Weakness } from "../helpers/scim-server.ts";

/** `idp check scim`: what it prints, and how it ends. What each case finds: test/client/scim-neglect.test.ts. */

const cases = ["deactivate", "no-token"].flatMap((name) => ["--case", name]);

async function check(words: readonly string[], weaknesses: readonly Weakness[] = []) {
  const app = await scimServer({ weaknesses });
  const cwd = newFolder();
  const env = { SCIM_TOKEN: app.token, OTHER_TOKEN: "another" };
  const ended = await idpIn(cwd, ["check", "scim", "--url", app.url, "--token-env", "SCIM_TOKEN", ...words], "", env);
  expect(ended.stdout + ended.stderr).not.toContain(app.token);
  return { ...ended, app, cwd };
}

test("--url needs no server; a case without its profile runs in each", async () => {
  const { code, stdout, stderr, app } = await check([...cases, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { passed, cases: found } = JSON.parse(stdout) as {
    passed: boolean;
    cases: Readonly<Record<string, unknown>>[];
  };
  expect(passed).toBe(true);
  expect(found.map(({ name, verdict }) => [name, verdict])).toEqual([
    ["control", "works"],
    ["no-token", "noticed"],
    ["standard.deactivate", "works"],
    ["okta.deactivate", "works"],
    ["okta-put.deactivate", "works"],
    ["entra.deactivate", "works"],
    ["control", "works"],
  ]);
  expect(app.users.size).toBe(0);
});

test("a 2xx that changed nothing: exit 6, the reports, and cases that are accepted", async () => {
  const ended = await check(
    [
      ...cases,
      "--profile",
      "okta",
      "--profile",
      "entra",
      "--accept",
      "entra.deactivate=next year",
      "--report",
      "r.xml",
    ],
    ["ignores-active"],
  );
  expect(ended.code).toBe(6);
  expect(ended.stdout).toMatch(/^✗ unnoticed {5}okta\.deactivate +answered 200, and active reads back as true$/m);
  expect(ended.stdout).toMatch(/^- unnoticed {5}entra\.deactivate .*\(accepted: next year\)$/m);
  expect(ended.stdout).toMatch(/^ {2}✗ okta\.deactivate: a user who left stays active/m);
  expect(ended.stderr).toContain("the app fails 1 of 5 cases\n");
  expect(ended.stderr).toContain("  scim:\n");
  const report = readFileSync(join(ended.cwd, "r.xml"), "utf8");
  expect(report).toContain('<testsuite name="idp check scim" tests="5" failures="1" errors="0" skipped="1">');
  expect(report).not.toContain(ended.app.token);
});

test("idp.check.yaml has a section for it", async () => {
  const app = await scimServer({ weaknesses: ["ignores-active"] });
  const cwd = newFolder();
  const run = (yaml: string) => {
    writeFileSync(join(cwd, "idp.check.yaml"), yaml);
    const words = ["check", "scim", "--url", app.url, "--token-env", "SCIM_TOKEN", "--profile", "okta", ...cases];
    return idpIn(cwd, words, "", { SCIM_TOKEN: app.token });
  };
  expect((await run("scim: { accept: { okta.deactivate: not yet, no-token: why } }")).code).toBe(0);
  const wrong = await run("scim: { accept: { okta.deactivat: not yet } }");
  expect(wrong.code).toBe(7);
  expect(wrong.stderr).toContain("Did you mean okta.deactivate?");
});

test("what the app does not remove is listed", async () => {
  const { code, stdout } = await check(["--case", "no-token", "--json"], ["no-delete"]);
  expect(code).toBe(0);
  const { left } = JSON.parse(stdout) as { left: { username: string; state: string }[] };
  expect(left.map(({ state }) => state)).toEqual(["deactivated", "deactivated"]);
  const shown = await check(["--case", "no-token"], ["no-delete"]);
  expect(shown.stderr).toMatch(
    /^Left in the app, deactivated, since it does not remove users: (idp-check-\S+@example\.com(, |\.\n)){2}$/m,
  );
});

test("whom --keep keeps is listed", async () => {
  const { code, stderr, app } = await check(["--case", "create-twice", "--profile", "okta", "--keep"]);
  expect(code).toBe(0);
  const [, names = ""] = /^Left in the app, as --keep says: (.+)\.$/m.exec(stderr) ?? [];
  expect(names.split(", ").toSorted()).toEqual(
    [...app.users.values()].map(({ userName }) => String(userName)).toSorted(),
  );
});

test("Ctrl+C: what the app does not remove is listed, too", async () => {
  const app = await scimServer({ weaknesses: ["no-delete"] });
  const words = ["check", "scim", "--url", app.url, "--token-env", "SCIM_TOKEN", "--pages"];
  const running = launch(words, { cwd: newFolder(), env: { SCIM_TOKEN: app.token } });
  onTestFinished(() => void running.kill("SIGKILL"));
  let stderr = "";
  running.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = new Promise((resolve) => running.on("close", resolve));
  await new Promise<void>((resolve) => {
    running.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes("okta.lookup-none")) resolve();
    });
  });
  running.kill("SIGINT");
  expect(await ended).toBe(130);
  const [, names = ""] = /^Left in the app, deactivated, since it does not remove users: (.+)\.$/m.exec(stderr) ?? [];
  expect(names.split(", ").toSorted()).toEqual(
    [...app.users.values()].map(({ userName }) => String(userName)).toSorted(),
  );
  expect([...app.users.values()].filter(({ active }) => active !== false)).toEqual([]);
});

test("the users of the check are at example.com, or at the domain of --email-domain", async () => {
  const domains = async (...flags: readonly string[]): Promise<readonly string[]> => {
    const { app } = await check(["--case", "lookup-none", ...flags]);
    const names = app.seen.flatMap(({ path, body }) => [decodeURIComponent(path), JSON.stringify(body)]);
    return [...new Set(names.flatMap((text) => text.match(/(?<=idp-check-[\w-]+@)[\w.]+/g) ?? []))];
  };
  expect(await domains()).toEqual(["example.com"]);
  expect(await domains("--email-domain", "shop.example.com")).toEqual(["shop.example.com"]);
  const wrong = await check(["--email-domain", "@shop.example.com"]);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("It must be a domain such as example.com.") });
});

test("the SCIM server of a client of a running server; its token is nowhere", async () => {
  const app = await scimServer({ weaknesses: ["ignores-active"] });
  const fixtures = {
    users: [{ username: "alice" }],
    clients: [
      { client_id: "shop", redirect_uris: [callback], scim: { url: app.url, token: app.token } },
      { client_id: "plain", redirect_uris: [callback] },
    ],
  };
  const idp = await serve({ fixtures: [fixtures] });
  const run = (...words: readonly string[]) =>
    idpIn(newFolder(), ["check", "scim", ...words], "", { IDP_URL: idp.issuer, IDP_ADMIN_TOKEN: idp.adminToken });
  const found = await run("--profile", "okta", ...cases);
  expect(found.code).toBe(6);
  expect(found.stderr).toContain(`Checking ${app.url} of client shop`);
  expect(found.stdout + found.stderr).not.toContain(app.token);
  expect(app.users.size).toBe(0);
  // The operator's own users are nowhere near.
  expect(app.seen.some(({ body }) => body?.["userName"] === "alice@example.com")).toBe(false);
  const without = await run("--client", "plain");
  expect(without).toMatchObject({ code: 3, stderr: expect.stringContaining('client "plain" has no scim') });
  expect(await run("--client", "shoop")).toMatchObject({ code: 3, stderr: expect.stringContaining("shop") });
});

test("no server, no app, and wrong arguments", async () => {
  const cwd = newFolder();
  const refused = async (words: readonly string[], code: number, part: string): Promise<void> => {
    const ended = await idpIn(cwd, ["check", "scim", ...words], "", { SCIM_TOKEN: "t0ken" });
    expect(ended.stderr).toContain(part);
    expect(ended.code).toBe(code);
  };
  const url = ["--url", "http://localhost:1/scim/v2"];
  await refused([], 5, "no server answers on");
  await refused([...url, "--token-env", "SCIM_TOKEN", "--timeout", "1"], 5, "the app did not answer at");
  await refused(url, 2, "--url needs --token-env");
  await refused([...url, "--token-env", "NOBODY"], 2, "has no such variable");
  await refused([...url, "--client", "shop"], 2, "exclude each other");
  await refused(["--token-env", "SCIM_TOKEN"], 2, "--token-env is for --url");
  await refused(["--url", "scim"], 2, "is not an http or https URL");
  await refused(["--profile", "entr"], 2, "okta-put, entra, entra-compliant.\n  Did you mean entra?");
  await refused([...url, "--case", "deactivat"], 2, "there is no case");
  await refused([...url, "--case", "page"], 2, "needs --pages");
  await refused([...url, "--case", "other-tenant"], 2, "needs --other-token-env");
  await refused([...url, "--accept", "control"], 2, "a control must work");
  await refused(["--url", "http://192.0.2.1/scim", "--token-env", "SCIM_TOKEN"], 2, "--allow-remote");
  await refused(["--url", "http://169.254.169.254/scim", "--token-env", "SCIM_TOKEN"], 2, "neither this machine");
});
