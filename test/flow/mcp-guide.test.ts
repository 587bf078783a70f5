import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { approve, Browser } from "../helpers/browser.ts";
import { idp as run, startIdp } from "../helpers/cli.ts";
import { freePort } from "../helpers/port.ts";
import { blocks, repository } from "../helpers/readme.ts";
import { newProject, type } from "../helpers/shell.ts";

/** docs/mcp.md: the MCP server and the client of the official SDK, as printed. */

/** Ends with the test. */
function start(
  file: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): { readonly child: ChildProcess; readonly said: () => string } {
  const child = spawn(process.execPath, [file], { cwd, env: { ...process.env, ...env } });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    child.kill();
    await once(child, "exit");
  });
  return { child, said: () => said };
}

test.each<readonly [string, { readonly REGISTER?: string }, RegExp]>([
  ["by its metadata document", {}, /^https:\/\/localhost:\d+\/client\.json$/],
  ["by registration", { REGISTER: "1" }, /^c_/],
])("the client signs in %s, calls a tool and refreshes", async (_how, more, clientId) => {
  const { cwd } = newProject();
  for (const name of ["@modelcontextprotocol", "express", "jose"]) {
    symlinkSync(join(repository, "node_modules", name), join(cwd, "node_modules", name));
  }
  writeFileSync(join(cwd, "server.mjs"), blocks("An MCP server", "js")[0] ?? "");
  writeFileSync(join(cwd, "client.mjs"), blocks("An MCP client", "js")[0] ?? "");
  const [, flags = ""] = /idp start (.*)/.exec(blocks("Start it for MCP", "sh")[0] ?? "") ?? [];
  const idp = await startIdp(flags.split(" "), { cwd });
  expect(idp.issuer).toMatch(/^https:/);
  // The browser here accepts the certificate, as a person does once.
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  onTestFinished(() => void vi.unstubAllEnvs());
  const [, variable = ""] = /^export (\S+)=/m.exec(blocks("An MCP client", "sh").at(-1) ?? "") ?? [];
  const trusting = { NODE_TLS_REJECT_UNAUTHORIZED: "1", [variable]: ".idp/tls-cert.pem" };
  const port = await freePort();
  const server = start("server.mjs", cwd, { ...trusting, OIDC_ISSUER: idp.issuer, MCP_PORT: port });
  await vi.waitFor(
    () => {
      expect(server.said()).toContain("MCP server at");
    },
    { timeout: 30_000 },
  );

  const mcp = `http://localhost:${port}/mcp`;
  const client = start("client.mjs", cwd, { ...trusting, MCP_URL: mcp, DOCUMENT_PORT: "0", ...more });
  const exited = once(client.child, "exit");
  const address = await vi.waitFor(
    () => {
      const [, url] = /^Open (\S+)$/m.exec(client.said()) ?? [];
      if (url === undefined) throw new Error(client.said());
      return new URL(url);
    },
    { timeout: 30_000 },
  );
  expect(address.searchParams.get("resource")).toBe(mcp);
  expect(address.searchParams.get("client_id")).toMatch(clientId);
  const browser = new Browser(idp.issuer);
  const { left } = await approve(browser, await browser.open(address.href));
  await fetch(left ?? "");
  expect(await exited).toEqual([0, null]);
  expect(client.said()).toMatch(/^Signed in as alice@example\.com, as client \S+$/m);
  expect(client.said()).toMatch(/^Refreshed: AUTHORIZED$/m);

  const listed = JSON.parse((await run(["clients", "list", "--json"], { cwd })).stdout) as {
    readonly client_id: string;
    readonly metadata_document?: true;
  }[];
  const found = listed.find(({ client_id }) => clientId.test(client_id));
  expect(found?.metadata_document).toBe(more.REGISTER === "1" ? undefined : true);
  const requests = JSON.parse((await run(["requests", "list", "--json"], { cwd })).stdout) as {
    readonly metadata_document: object | null;
  }[];
  expect(requests.some(({ metadata_document: document }) => document !== null)).toBe(more.REGISTER !== "1");
});

test("a page of the Inspector may register", async () => {
  const { cwd, env } = newProject();
  const idp = await startIdp(["--mcp"], { cwd, env });
  const url = `${idp.issuer}/api/v2/oauth/register`;
  const asked = {
    method: "OPTIONS",
    headers: { origin: "http://localhost:6274", "access-control-request-method": "POST" },
  };
  const allowed = async () => (await fetch(url, asked)).headers.get("access-control-allow-origin");
  expect(await allowed()).toBeNull();
  const [command = ""] = blocks("The Inspector", "sh");
  expect(await type(command, { cwd, env })).toMatchObject({ code: 0 });
  expect(await allowed()).toBe("http://localhost:6274");
});
