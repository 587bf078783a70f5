import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { expect, onTestFinished, test } from "vitest";
import { environment, newFolder } from "../helpers/cli.ts";
import { repository } from "../helpers/readme.ts";
import { newProject } from "../helpers/shell.ts";

/** action.yml: `main` and `post` as GitHub's runner starts them, with stubs of the files that it reads. */

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly outputs: object;
  readonly runs: { readonly using: string; readonly main: string; readonly post: string };
}
const action = load(readFileSync(join(repository, "action.yml"), "utf8")) as Action;

/** A file of `name<<end`, value, `end`. */
function readVariables(file: string): Readonly<Record<string, string>> {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const found = [...text.matchAll(/^(\w+)<<(\S+)\n([\s\S]*?)\n\2$/gm)];
  return Object.fromEntries(found.map(([, name = "", , value = ""]) => [name, value] as const));
}

/** A job whose working directory has the package, and its action. */
function newJob(inputs: Readonly<Record<string, string>> = {}) {
  const { cwd, env: own } = newProject();
  const folder = newFolder();
  const files = Object.fromEntries(
    ["GITHUB_ENV", "GITHUB_STATE", "GITHUB_OUTPUT"].map((name) => [name, join(folder, name)]),
  );
  const read = (name: string) => readVariables(files[name] ?? "");
  const run = (script: string, status: string) => {
    const defaults = Object.entries(action.inputs).map(([name, { default: value = "" }]) => [name, value]);
    const given = { ...Object.fromEntries(defaults), ...inputs, "job-status": status } as Record<string, string>;
    const env = {
      ...environment({ ...own, ...files, RUNNER_TEMP: folder, ...read("GITHUB_ENV") }),
      ...Object.fromEntries(Object.entries(given).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])),
      ...Object.fromEntries(Object.entries(read("GITHUB_STATE")).map(([name, value]) => [`STATE_${name}`, value])),
    };
    const {
      status: code,
      stdout,
      stderr,
    } = spawnSync(process.execPath, [join(repository, script)], {
      cwd,
      env,
      encoding: "utf8",
    });
    return { code, stdout, stderr };
  };
  onTestFinished(() => {
    const { pid } = read("GITHUB_STATE");
    try {
      if (pid !== undefined) process.kill(-Number(pid), "SIGKILL");
    } catch {
      // It has ended.
    }
  });
  return {
    cwd,
    read,
    main: () => run(action.runs.main, "success"),
    post: (status: string) => run(action.runs.post, status),
  };
}

const isUp = (issuer = ""): Promise<boolean> =>
  fetch(`${issuer}/_idp/health`).then(
    ({ ok }) => ok,
    () => false,
  );

test("the later steps reach the server; a job that passed ends without a word, and without a server", async () => {
  const job = newJob();
  const { code, stdout, stderr } = job.main();
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const variables = job.read("GITHUB_ENV");
  const { OIDC_ISSUER: issuer, IDP_ADMIN_TOKEN: token = "" } = variables;
  expect(variables).toEqual({
    OIDC_ISSUER: expect.stringMatching(/^http:\/\/localhost:\d+$/),
    OIDC_CLIENT_ID: "demo-app",
    OIDC_CLIENT_SECRET: "demo-secret",
    OIDC_REDIRECT_URI: "http://localhost:3000/callback",
    IDP_URL: issuer,
    IDP_ADMIN_TOKEN: expect.stringMatching(/^[\w-]{43}$/),
  });
  expect(job.read("GITHUB_OUTPUT")).toEqual({ issuer });
  expect(Object.keys(action.outputs)).toEqual(["issuer"]);
  // The runner hides it from then on, so it comes first.
  expect(stdout.split("\n")[0]).toBe(`::add-mask::${token}`);
  expect(stdout.split(token)).toHaveLength(2);
  const users = await fetch(`${issuer ?? ""}/_idp/api/users`, { headers: { authorization: `Bearer ${token}` } });
  expect(users.status).toBe(200);
  expect(job.post("success")).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(await isUp(issuer)).toBe(false);
});

test("after a failure, post prints the requests, and stops the server", async () => {
  const job = newJob({ fixtures: "shop.yaml\n", client: "shop" });
  writeFileSync(
    join(job.cwd, "shop.yaml"),
    "clients: [{ client_id: first, redirect_uris: ['http://localhost/a'] }, { client_id: shop, redirect_uris: ['http://localhost/b'] }]",
  );
  expect(job.main()).toMatchObject({ code: 0, stderr: "" });
  const { OIDC_ISSUER: issuer = "", OIDC_CLIENT_ID: client } = job.read("GITHUB_ENV");
  expect(client).toBe("shop");
  await fetch(`${issuer}/api/v2/oauth/userinfo`);
  const { code, stdout } = job.post("failure");
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^::group::Requests to idp\n[\s\S]*GET userinfo +401[\s\S]*missing_token[\s\S]*::endgroup::\n$/,
  );
  expect(await isUp(issuer)).toBe(false);
});

test("a server that does not start fails the step with its reason, and leaves nothing to stop", () => {
  const job = newJob({ fixtures: "missing.yaml" });
  const { code, stdout } = job.main();
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^::error::the server ended with \d: .*missing\.yaml/m)]);
  expect(job.post("failure")).toEqual({ code: 0, stdout: "", stderr: "" });
});

test("a client that there is not fails the step in words, and post stops the server", async () => {
  const job = newJob({ client: "shop" });
  const { code, stdout } = job.main();
  const said = /^::error::no client "shop"%0A {2}All clients: \S.* --url (http:\/\/localhost:\d+)$/m.exec(stdout);
  expect([code, said?.[1]], stdout).toEqual([1, expect.any(String)]);
  expect(job.post("failure").code).toBe(0);
  expect(await isUp(said?.[1])).toBe(false);
});

test.each([
  ["no-such-command", "::error::no-such-command cannot be run"],
  ["sh -c 'echo not a server; exit 3'", "::error::the server ended with 3: not a server"],
])("the command %s is refused", (command, said) => {
  const { code, stdout } = newJob({ command }).main();
  expect([code, stdout]).toEqual([1, expect.stringContaining(said)]);
});
