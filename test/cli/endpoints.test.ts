import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { newFolder, startIdp } from "../helpers/cli.ts";
import { jwtPart } from "../helpers/client.ts";
import { idpIn, startHere } from "../helpers/command.ts";

/** The paths of vendors on the command line. */

const path = "/realms/idp/protocol/openid-connect";

test("start --endpoints: a vendor; commands find the server by its issuer and by its folder", async () => {
  const cwd = newFolder();
  const env = { IDP_ADMIN_TOKEN: "an-admin-token-of-this-test" };
  const { issuer } = await startHere(["--endpoints", "keycloak"], { cwd, env });
  const { origin } = new URL(issuer);
  expect(issuer).toBe(`${origin}/realms/idp`);
  expect((await fetch(`${origin}${path}/certs`)).status).toBe(200);

  const login = ["login", "--user", "alice", "--approve", "--no-browser", "--json"];
  for (const where of [[], ["--issuer", issuer]]) {
    const { code, stdout, stderr } = await idpIn(cwd, [...login, ...where]);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ valid: true });
  }
  const status = await idpIn(cwd, ["status", "--url", issuer, "--json"], "", env);
  expect(JSON.parse(status.stdout)).toMatchObject({ issuer, endpoints: { token: `${origin}${path}/token` } });
  const opened = await idpIn(cwd, ["open", "discovery"]);
  expect((await fetch(opened.stdout.trim())).status).toBe(200);
});

test("start --endpoints: paths as JSON", async () => {
  const { issuer } = await startHere(["--memory", "--endpoints", '{"jwks":"/keys.json"}'], { cwd: newFolder() });
  expect((await fetch(`${issuer}/keys.json`)).status).toBe(200);
});

describe("what is refused", () => {
  test.each([
    ["keyclaok", 'Error: --endpoints "keyclaok" is not one of auth0, '],
    ["keyclaok", "Did you mean keycloak?"],
    ["{token}", "It must be the name of a vendor, or JSON"],
    ['{"token":"/_idp/token"}', 'Error: --endpoints "/_idp/token" clashes with /_idp'],
  ])("--endpoints %s: exit 2", async (endpoints, message) => {
    const { code, stderr } = await idpIn(newFolder(), ["start", "--memory", "--endpoints", endpoints]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test("in a fixture file: exit 7, with the position", async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "idp.fixtures.yaml"), "settings:\n  endpoints:\n    token: /i/token\n");
    const { code, stderr } = await idpIn(cwd, ["start", "--memory", "--port", "auto"]);
    expect([code, stderr]).toEqual([7, expect.stringContaining("idp.fixtures.yaml:3:12 settings.endpoints.token")]);
  });
});

test("a folder without a server issues tokens of the issuer that it was served under", async () => {
  const cwd = newFolder();
  const { issuer, child, ended } = await startIdp(["--endpoints", "auth0"], { cwd });
  child.kill("SIGTERM");
  await ended;
  const flags = ["--user", "alice", "--client", "demo-app", "--scope", "openid", "--json"];
  const { code, stdout, stderr } = await idpIn(cwd, ["issue", "tokens", ...flags]);
  expect(code, stderr).toBe(0);
  const { id_token: token } = JSON.parse(stdout) as { readonly id_token: string };
  expect(jwtPart(token, 1)).toMatchObject({ iss: issuer });
});
