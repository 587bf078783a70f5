import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { built } from "../helpers/built.ts";
import { idp, newFolder, startIdp } from "../helpers/cli.ts";
import { documentOf, idpIn } from "../helpers/command.ts";
import { freePort } from "../helpers/port.ts";

/** `idp check sp --second-start`: whether the identity provider of another tenant opens an account that it names. */

const child = await built(fileURLToPath(new URL("children/sp.ts", import.meta.url)));

/** @param shape what the second identity provider looks like */
async function tenantsFolder(shape: Readonly<Record<string, unknown>> = {}) {
  const cwd = newFolder();
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const users = [{ username: "alice", displayName: "Alice Jones" }];
  const client = (base: string, saml = {}) => ({
    client_id: `${base}/metadata`,
    saml: { acs: [`${base}/acs`], ...saml },
  });
  const fixtures = {
    ...{ users, clients: [client(url)] },
    issuers: { tenant: { users, clients: [client(`${url}/2`, shape)] } },
  };
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify(fixtures));
  const at = ["check", "sp", "--start", `${url}/login`, "--signed-in", `${url}/me`, "--case", "other-tenant", "--json"];
  const flags = ["--mark", `${url}/note`, "--second-start", `${url}/2/login`];
  return { cwd, url, at, flags, app: [process.execPath, child, "tenants", port] };
}

/** The verdict of `other-tenant`, and what the app did. */
const found = (stdout: string) => {
  const { cases } = documentOf(stdout) as { readonly cases: readonly Readonly<Record<string, string>>[] };
  const { verdict, did } = cases.find(({ name }) => name === "other-tenant") ?? {};
  return { verdict, did };
};

test.each([[{ shape: "entra" }], [{ nameid: "persistent", sign: "both" }]])(
  "an app that finds accounts by name alone opens the user's account (%j)",
  async (shape) => {
    const { cwd, at, flags, app } = await tenantsFolder(shape);
    const ended = await idp([...at, ...flags, "--", ...app, "by-name"], { cwd });
    expect(found(ended.stdout)).toEqual({
      verdict: "unnoticed",
      did: "showed somebody of another tenant, whom its identity provider calls alice, the text of alice",
    });
    expect(ended.code).toBe(6);
  },
);

test("one that finds them by identity provider and name does not", async () => {
  const { cwd, at, flags, app } = await tenantsFolder();
  const ended = await idp([...at, ...flags, "--", ...app], { cwd });
  expect(found(ended.stdout)).toEqual({ verdict: "noticed", did: "signed in to another account" });
  expect(ended.code).toBe(0);
});

test("one whose second connection signs nobody in has noticed nothing", async () => {
  const { cwd, at, flags, app } = await tenantsFolder();
  const ended = await idp([...at, ...flags, "--", ...app, "refuses-second"], { cwd });
  expect(found(ended.stdout)).toEqual({
    verdict: "not-reached",
    did: expect.stringContaining("the second connection signs nobody in: nobody is signed in at --signed-in") as string,
  });
});

test("without --second-start, and without --mark or --account, it is not reached", async () => {
  const { cwd, url, at, flags, app } = await tenantsFolder();
  const reached = async (...more: readonly string[]) =>
    found((await idp([...at, ...more, "--", ...app], { cwd })).stdout);
  expect(await reached(...flags.slice(0, 2))).toMatchObject({
    did: expect.stringContaining("--second-start URL") as string,
  });
  expect(await reached(...flags.slice(2))).toMatchObject({ did: expect.stringContaining("add --mark URL") as string });
  expect(await reached("--mark", `${url}/note`, "--second-start", `${url}/login`)).toMatchObject({
    verdict: "not-reached",
    did: expect.stringContaining("--second-start does not lead to") as string,
  });
});

test("on a running server that asks for passwords: what stays in the app is said, and nothing stays on the server", async () => {
  const { cwd, url, at, flags, app } = await tenantsFolder();
  await startIdp(["--login", "password"], { cwd });
  const variables = async (prefix: string, ...args: readonly string[]) => {
    const values = documentOf((await idpIn(cwd, ["env", "--json", ...args])).stdout) as Readonly<
      Record<string, string>
    >;
    const own = Object.entries(values).filter(([name]) => name.startsWith("SAML_"));
    return Object.fromEntries(own.map(([name, value]) => [name.replace("SAML", prefix), value]));
  };
  const env = { ...(await variables("SAML")), ...(await variables("SAML_2", "--issuer", "tenant")) };
  const { spawn } = await import("node:child_process");
  const running = spawn(app[0] ?? "", [...app.slice(1), "by-name"], { env: { ...process.env, ...env } });
  onTestFinished(() => void running.kill("SIGKILL"));
  const users = async () => (await idpIn(cwd, ["users", "list", "--issuer", "tenant", "--json"])).stdout;
  const before = await users();
  const words = at.filter((word) => word !== "--json");
  const ended = await idp([...words, ...flags, "--client", `${url}/metadata`], { cwd });
  expect(ended.stdout).toMatch(/^✗ unnoticed {5}other-tenant/m);
  expect(ended.stderr).toMatch(/Left in the app: [^]*the text "[a-z]{12}" of alice/);
  expect(await users()).toBe(before);
});
