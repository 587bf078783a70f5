import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startIdp } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";
import { freePort } from "../helpers/port.ts";
import { blocks, headingsOf, repository } from "../helpers/readme.ts";
import { newProject, shell, type } from "../helpers/shell.ts";

/** What the README and the guides print, run in a project that has the package installed. first-minute.test.ts has the first minute. */

const lines = (heading: string): string[] => blocks(heading, "sh").flatMap((block) => block.split("\n"));

test("your own users and clients", async () => {
  const { cwd, env } = newProject();
  const [fixtures = ""] = blocks("Your own users and clients", "yaml");
  writeFileSync(join(cwd, "idp.fixtures.yaml"), fixtures);
  const [last, ...others] = lines("Your own users and clients").reverse();
  expect(others).not.toHaveLength(0);
  for (const line of others.reverse()) expect(await type(line, { cwd, env }), line).toMatchObject({ code: 0 });
  expect(last).toBe("idp start");
  await startIdp([], { cwd, env });
  const { stdout } = await shell("idp users list --json; idp clients list --json", { cwd, env });
  for (const name of ["erin", "frank", "shop"]) expect(stdout).toContain(`"${name}"`);
  for (const name of ["alice", "demo-app"]) expect(stdout).not.toContain(`"${name}"`);
});

test("your users, and testers, in the README", async () => {
  const { cwd, env } = newProject();
  const [fixtures = ""] = blocks("Your users", "yaml");
  writeFileSync(join(cwd, "own.yaml"), fixtures);
  expect(await type("idp seed --check own.yaml", { cwd, env })).toMatchObject({ code: 0 });
  await startIdp([], { cwd, env });
  expect(lines("Testers")).not.toHaveLength(0);
  for (const line of lines("Testers")) expect(await type(line, { cwd, env }), line).toMatchObject({ code: 0 });
});

describe("the cookbook, on one server that each recipe finds as it began", () => {
  const project = newProject(afterAll);
  beforeAll(async () => {
    const ends: (() => unknown)[] = [];
    await startIdp([], project, (end) => ends.push(end));
    return async () => {
      for (const end of ends) await end();
    };
  });

  for (const heading of headingsOf("docs/cookbook.md")) {
    const recipes = blocks(heading, "sh");
    const needsOpenssl = recipes.some((recipe) => recipe.startsWith("openssl "));
    test(heading, { tags: needsOpenssl ? ["openssl"] : [] }, async () => {
      expect(await idpIn(project.cwd, ["reset", "--yes"])).toMatchObject({ code: 0 });
      expect(recipes).not.toHaveLength(0);
      for (const recipe of recipes) {
        // What one line leaves in the shell is for the next one.
        const typed = recipe.includes(" &\n") ? [recipe] : recipe.split("\n");
        for (const line of typed) expect(await type(line, project), line).toMatchObject({ code: 0 });
      }
    });
  }
});

test("commands", async () => {
  const { cwd, env } = newProject();
  const idp = await startIdp([], { cwd, env });
  for (const line of lines("All commands in one tour"))
    expect(await type(line, { cwd, env }), line).toMatchObject({ code: 0 });
  expect(await idp.ended).toEqual({ code: 0, signal: null });
});

test("logout", async () => {
  const { cwd, env } = newProject();
  const port = await freePort();
  await startIdp([], { cwd, env });
  const scripts = headingsOf("docs/logout.md").flatMap((heading) => blocks(heading, "sh"));
  expect(scripts).toHaveLength(3);
  for (const script of scripts) {
    const ended = await shell(`set -e\n${script.replaceAll("3999", port)}`, { cwd, env });
    expect(ended, script + ended.stderr).toMatchObject({ code: 0 });
    if (script.includes("decode")) expect(ended.stdout).toContain("http://schemas.openid.net/event/backchannel-logout");
  }
});

test("check a provider", async () => {
  const { cwd, env } = newProject();
  const port = await freePort();
  await startIdp(["--port", port], { cwd, env });
  const script = lines("Check a provider: idp login");
  expect(script).not.toHaveLength(0);
  for (const line of script) {
    const ended = await shell(line.replaceAll("4370", port), { cwd, env });
    expect(ended, line).toMatchObject({ code: 0 });
    if (!line.includes(">")) expect(ended.stdout, line).toContain("Signed in as alice (Alice Adams)");
  }
});

test("reset, export, import, watch", async () => {
  const { cwd, env } = newProject();
  const [fixtures = ""] = blocks("Your own users and clients", "yaml");
  writeFileSync(join(cwd, "idp.fixtures.yaml"), fixtures);
  await startIdp([], { cwd, env });
  for (const line of lines("Reset, export, import, watch")) {
    expect(await type(line, { cwd, env }), line).toMatchObject({ code: 0 });
  }
});

test("in CI", { tags: ["curl"] }, async () => {
  const { cwd, env } = newProject();
  const port = await freePort();
  const [exec = "", script = ""] = blocks("Run your tests", "sh");
  const scripts = {
    test: `node -e "fetch(process.env.OIDC_ISSUER + '/_idp/health').then(({ status }) => process.exit(status))"`,
  };
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ scripts }));
  expect(await shell(exec, { cwd, env })).toMatchObject({ code: 200 });
  const ended = await shell(script.replaceAll("4370", port), { cwd, env: { ...env, IDP_PORT: port } });
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stdout).toContain('"username":"alice"');
});

test("in CI, as a GitHub Actions job", async () => {
  interface Step {
    readonly uses?: string;
    readonly run?: string;
  }
  const [text = ""] = blocks("Run your tests", "yaml");
  const workflow = load(text) as { on: string[]; jobs: Record<string, { "runs-on": string; steps: readonly Step[] }> };
  expect(workflow.on).toEqual(["push", "pull_request"]);
  const [job] = Object.values(workflow.jobs);
  expect(job?.["runs-on"]).toBe("ubuntu-latest");
  const steps = job?.steps ?? [];
  for (const { uses, run } of steps) expect(uses ?? run).toMatch(uses === undefined ? /./ : /^actions\/[\w-]+@v\d+$/);
  const commands = steps.flatMap(({ run }) => run ?? []);
  // Here `newProject` does it.
  expect(commands.shift()).toBe("npm ci");
  const { cwd, env } = newProject();
  writeFileSync(
    join(cwd, "test.mjs"),
    `const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_REDIRECT_URI } = process.env;
const { issuer } = await (await fetch(OIDC_ISSUER + "/.well-known/openid-configuration")).json();
console.log(issuer === OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_REDIRECT_URI);
`,
  );
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ scripts: { test: "node test.mjs" } }));
  expect(commands).not.toHaveLength(0);
  for (const command of commands) {
    const ended = await shell(command, { cwd, env });
    expect(ended, command + ended.stderr).toMatchObject({ code: 0 });
    expect(ended.stdout).toContain("true demo-app demo-secret http://localhost:3000/callback");
  }
});

test.each([
  ["In tests", '"dev-idp/vitest"', 1],
  ["Tests in parallel, with snapshots", '"vitest"', 3],
])("%s, with vitest", async (heading, marker, passed) => {
  const { cwd, env } = newProject();
  const [fixtures = ""] = blocks("Your own users and clients", "yaml");
  const program = blocks(heading, "js").find((block) => block.includes(marker)) ?? "";
  writeFileSync(join(cwd, "idp.fixtures.yaml"), fixtures);
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(cwd, "sign-in.test.js"), program);
  symlinkSync(join(repository, "node_modules", "vitest"), join(cwd, "node_modules", "vitest"));
  const ended = await shell("node node_modules/vitest/vitest.mjs run", { cwd, env });
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
  expect(ended.stdout).toMatch(new RegExp(`Tests\\s.*${passed} passed`));
});

test("in tests", async () => {
  const { cwd, env } = newProject();
  const [program = ""] = blocks("In tests", "js");
  writeFileSync(join(cwd, "app.mjs"), program);
  expect(await shell("node app.mjs", { cwd, env })).toEqual({ code: 0, stdout: "200\n403\n", stderr: "" });
});

test("the JavaScript library", async () => {
  const { cwd, env } = newProject();
  const [program = ""] = blocks("In a program", "js");
  writeFileSync(join(cwd, "app.mjs"), program);
  expect(await shell("node app.mjs", { cwd, env })).toEqual({ code: 0, stdout: "localhost\nsuspended\n", stderr: "" });
});
