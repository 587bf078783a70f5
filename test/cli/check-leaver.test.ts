import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { launch, newFolder } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";
import { leaverApp, type LeaverAppOptions } from "../helpers/leaver-app.ts";

/** `idp check leaver`: what it prints, and how it ends. What each signal finds: test/client/leaver-neglect.test.ts. */

async function world(options: LeaverAppOptions) {
  const app = await leaverApp(options);
  const idp = await serve({
    fixtures: [{ users: [{ username: "alice" }], clients: [app.client() as never], settings: { login: "picker" } }],
  });
  app.oidc = { issuer: idp.issuer, clientId: "app", clientSecret: String(app.client()["client_secret"]) };
  const cwd = newFolder();
  const check = (...words: readonly string[]) =>
    idpIn(cwd, ["check", "leaver", "--start", `${app.url}/login`, "--signed-in", `${app.url}/me`, ...words], "", {
      IDP_URL: idp.issuer,
      IDP_ADMIN_TOKEN: idp.adminToken,
    });
  return { app, idp, cwd, check };
}

test("the time of each place, one document, a report, and nothing is left", async () => {
  const { app, idp, cwd, check } = await world({ takes: ["scim"] });
  const signals = ["--signal", "scim", "--signal", "revocation", "--client", "app", "--within", "3"];
  const { code, stdout, stderr } = await check(...signals, "--json", "--report", "leaver.xml");
  expect(code).toBe(6);
  expect(JSON.parse(stderr)).toMatchObject({
    error: { message: "the app fails 2 of 8 cases" },
  });
  const { passed, cases } = JSON.parse(stdout) as { passed: boolean; cases: Readonly<Record<string, unknown>>[] };
  expect(passed).toBe(false);
  expect(cases.map(({ name, verdict }) => [name, verdict])).toEqual([
    ["control", "works"],
    ["scim.session", "noticed"],
    ["scim.second-session", "noticed"],
    ["scim.sign-in", "noticed"],
    ["revocation.session", "unnoticed"],
    ["revocation.second-session", "unnoticed"],
    ["other-user", "works"],
    ["control", "works"],
  ]);
  expect(cases[1]).toMatchObject({ lockedOutAfterMs: expect.any(Number) });
  expect(cases[4]).toMatchObject({ lockedOutAfterMs: null, did: "still signed in after 3s" });
  expect(cases[0]).not.toHaveProperty("lockedOutAfterMs");
  const report = readFileSync(join(cwd, "leaver.xml"), "utf8");
  expect(report).toMatch(/<testcase classname="check-leaver\.scim" name="scim\.session" time="[\d.]+"\/>/);
  expect(stdout + stderr + report).not.toContain(app.scim.token);
  expect((await idp.call("users.list", {})).map(({ username }) => username)).toEqual(["alice"]);
  expect(app.scim.users.size).toBe(0);
});

test("the keys of --credential are in no output, no report and no ledger, and the last line says whose they are", async () => {
  const { app, idp, cwd, check } = await world({ takes: [], keys: "stay" });
  const words = ["--signal", "scim", "--client", "app", "--within", "1", "--api", `${app.url}/api`];
  const key = ["--credential", `POST ${app.url}/keys {"name":"check"}`, "--credential-header", "X-API-Key: {key}"];
  const { code, stdout, stderr } = await check(...words, ...key, "--report", "leaver.md");
  expect(code).toBe(6);
  expect(stdout).toMatch(/^✗ unnoticed {5}scim\.credential +still lets the key in after 1s/m);
  expect(stderr).toMatch(/^The app still has the keys that --credential gave idp-check-\S+: /m);
  const requests = JSON.stringify(await idp.call("requests.list", {}));
  expect(app.keys.size).toBe(1);
  for (const one of app.keys.keys()) {
    expect(stdout + stderr + readFileSync(join(cwd, "leaver.md"), "utf8") + requests).not.toContain(one);
  }
});

test("Ctrl+C: the last line says whose keys stay, too", async () => {
  const { app, idp, cwd } = await world({ takes: [], keys: "stay" });
  const hasLeft = new Promise<void>((resolve) => {
    const { hook } = app.scim;
    app.scim.hook = (seen) => {
      if (seen.method === "PATCH") resolve();
      return hook(seen);
    };
  });
  const at = ["check", "leaver", "--start", `${app.url}/login`, "--signed-in", `${app.url}/me`, "--signal", "scim"];
  const words = [...at, "--client", "app", "--api", `${app.url}/api`, "--credential", `POST ${app.url}/keys {}`];
  const env = { IDP_URL: idp.issuer, IDP_ADMIN_TOKEN: idp.adminToken };
  const running = launch([...words, "--credential-header", "X-API-Key: {key}"], { cwd, env });
  onTestFinished(() => void running.kill("SIGKILL"));
  let stderr = "";
  running.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  running.stdout.resume();
  const ended = new Promise((resolve) => running.on("close", resolve));
  await hasLeft;
  running.kill("SIGINT");
  expect(await ended).toBe(130);
  expect(stderr).toMatch(/^The app still has the keys that --credential gave idp-check-\S+: /m);
});

test("an issuer of its own, which the app must use", async () => {
  const { app, idp, check } = await world({ takes: ["revocation"] });
  const other = await check("--signal", "revocation", "--within", "1");
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("idp issuers add check-leaver") });
  const fixtures = { users: [{ username: "alice" }], clients: [app.client()] };
  const { issuer } = await idp.call("issuers.add", { name: "check-leaver", fixtures });
  app.oidc = { ...app.oidc, issuer };
  const { code, stdout } = await check("--signal", "revocation", "--within", "60");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^✓ noticed {7}revocation\.session +locked out after [\d.]+ s$/m);
});

test("wrong arguments, and a clock that was moved", async () => {
  const { idp, check } = await world({ takes: [] });
  const refused = async (words: readonly string[], code: number, part: string): Promise<void> => {
    const ended = await check(...words);
    expect(ended.stderr).toContain(part);
    expect(ended.code).toBe(code);
  };
  await refused(["--signal", "smoke"], 2, "It must be scim, backchannel-logout, revocation, silence, all.");
  await refused(["--case", "scim.sessio"], 2, "Did you mean scim.session?");
  await refused(["--case", "scim.api"], 2, "needs --api URL");
  await refused(["--case", "mover"], 2, "needs --admin URL --admin-group NAME");
  await refused(["--admin", "http://localhost:3000/admin"], 2, "--admin needs --admin-group NAME");
  await refused(["--credential", "http://localhost:3000/keys"], 2, "--credential needs --api URL");
  await refused(["--credential-header", "X-Key: {key}"], 2, "needs --credential");
  const api = ["--api", "http://localhost:3000/api"];
  await refused([...api, "--credential", "keys"], 2, "keys is not an http or https URL");
  await refused([...api, "--credential", "http://192.0.2.1/"], 2, "--credential is at 192.0.2.1");
  const key = ["--credential", "http://localhost:3000/keys"];
  await refused([...api, ...key, "--credential-header", "X-Key: one"], 2, "does not say where the key goes");
  await refused(["--accept", "control"], 2, "a control must work");
  await refused(["--api", "http://192.0.2.1/"], 2, "--api is at 192.0.2.1");
  await refused(["--within", "soon"], 2, "It must be a whole number of seconds");
  const another =
    "there is no active user but alice, who could stay signed in\n  List one in the fixtures. To add one to the running server: ";
  await refused(["--client", "app", "--user", "alice"], 3, another);
  await idp.call("clock.advance", { by: 60 });
  await refused(["--client", "app"], 4, "the clock of the server is off by 60 s");
});
