import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { load } from "js-yaml";
import { expect, test } from "vitest";
import { newFolder, startIdp } from "../helpers/cli.ts";
import { freePort } from "../helpers/port.ts";
import { blocks } from "../helpers/readme.ts";
import { newProject, shell } from "../helpers/shell.ts";

/** The recipes for containers of docs/ci.md. Their commands run as processes here. */

/** Asks a server at its port under another host name. */
const issuerFor = (host: string, port: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const path = "/.well-known/openid-configuration";
    request({ host: "127.0.0.1", port, path, headers: { host } }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      answer.on("end", () => {
        resolve((JSON.parse(text) as { issuer: string }).issuer);
      });
    })
      .on("error", reject)
      .end();
  });

interface Job {
  readonly services: readonly { readonly alias: string; readonly command: readonly string[] }[];
  readonly variables: Readonly<Record<string, string>>;
  readonly script: readonly string[];
}

test("GitLab: the job finds the service under its alias, and the issuer is that", async () => {
  const [text = ""] = blocks("GitLab CI", "yaml");
  const { tests } = load(text) as { tests: Job };
  const [{ alias, command } = { alias: "", command: [] as readonly string[] }] = tests.services;
  expect(command.slice(0, 4)).toEqual(["npx", "--yes", "dev-idp", "start"]);
  const port = await freePort();
  await startIdp(["--port", port, ...command.slice(4)], { cwd: newFolder() });
  expect(await issuerFor(`${alias}:4370`, port)).toBe(tests.variables["OIDC_ISSUER"]);
  expect(tests.script).toContain(`npx dev-idp wait --url ${tests.variables["OIDC_ISSUER"] ?? ""}`);
});

/** In place of testcontainers, which needs Docker: the container is a process, and its port is another one, as with Docker. */
const standIn = `import { spawn } from "node:child_process";
export const Wait = { forHttp: (path, port) => ({ path, port }) };
export class GenericContainer {
  withCommand(words) { this.words = words; return this; }
  withEnvironment(env) { this.env = env; return this; }
  withExposedPorts(port) { this.port = port; return this; }
  withWaitStrategy(strategy) { this.strategy = strategy; return this; }
  async start() {
    const [, , , ...words] = this.words;
    const mapped = Number(process.env.MAPPED_PORT);
    const env = { ...process.env, ...this.env, IDP_ISSUER: "http://localhost:" + this.port };
    const child = spawn("dev-idp", [...words, "--port", String(mapped)], { env, stdio: "ignore" });
    const health = "http://127.0.0.1:" + mapped + this.strategy.path;
    let ended = false;
    child.on("exit", () => (ended = true));
    while (!ended && !(await fetch(health).then(({ ok }) => ok, () => false)));
    return { getMappedPort: () => mapped, stop: () => child.kill() };
  }
}
`;

test("Testcontainers: the server learns its port, and Java does the same as JavaScript", async () => {
  const { cwd, env } = newProject();
  const folder = join(cwd, "node_modules", "testcontainers");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", exports: "./index.js" }));
  writeFileSync(join(folder, "index.js"), standIn);
  const [script = ""] = blocks("Testcontainers", "js");
  writeFileSync(join(cwd, "recipe.mjs"), script);
  const port = await freePort();
  expect(await shell("node recipe.mjs", { cwd, env: { ...env, MAPPED_PORT: port } })).toEqual({
    code: 0,
    stdout: `http://localhost:${port}/api/v2/oauth/token\n`,
    stderr: "",
  });
  const [java = ""] = blocks("Testcontainers", "java");
  const command = (text: string): string => /withCommand\(\[?(.*?)\]?\)/.exec(text)?.[1] ?? "";
  expect(command(java)).toBe(command(script));
  for (const shared of ["/_idp/health", "/_idp/api/issuer", "IDP_ADMIN_TOKEN", "application/json"]) {
    expect(script).toContain(shared);
    expect(java).toContain(shared);
  }
});

test("Tokens of workloads: the token of one takes the place of the client's secret", { tags: ["curl"] }, async () => {
  const project = newProject();
  const port = await freePort();
  const here = (text = ""): string => text.replaceAll("4370", port);
  writeFileSync(join(project.cwd, "idp.fixtures.yaml"), here(blocks("Tokens of workloads", "yaml")[0]));
  await startIdp(["--port", port], { cwd: project.cwd });
  const { code, stdout } = await shell(here(blocks("Tokens of workloads", "sh")[1]), project);
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ token_type: "Bearer" })]);
});
