import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { atEnd } from "../helpers/at-end.ts";
import { CarefulSp } from "../helpers/careful-sp.ts";
import { newFolder } from "../helpers/cli.ts";
import { idpHere } from "../helpers/command.ts";
import { startWithTokens, tokenOf } from "../helpers/control-tokens.ts";
import { serveApp } from "../helpers/serve-app.ts";

/** `idp sign-in` at a service provider of SAML, and with the token of a tester. */

const cwd = newFolder(afterAll);

async function samlApp() {
  let sp: CarefulSp | null = null;
  const { url, close } = await serveApp(0, () => sp);
  atEnd(close);
  return {
    url,
    acs: `${url}/acs`,
    entityId: `${url}/metadata`,
    use: (idp: { readonly entity_id: string; readonly sso_url: string; readonly certificate: string }) => {
      const [entityId, acs] = [`${url}/metadata`, `${url}/acs`];
      sp = new CarefulSp({
        entityId,
        acs,
        idp: { entityId: idp.entity_id, sso: idp.sso_url, certificate: idp.certificate },
      });
    },
  };
}

test("a user signs in at a service provider, and --signed-in tells a stranger from the user", async () => {
  const app = await samlApp();
  const client = { client_id: app.entityId, saml: { acs: [app.acs] } };
  const idp = await serve({
    fixtures: { users: [{ username: "alice", email: "alice@example.com" }], clients: [client] },
  });
  app.use(await idp.call("saml.show", {}));
  const words = (start: string) => ["sign-in", "--start", start, "--signed-in", `${app.url}/me`, "--as", "header"];
  const target = ["--url", idp.issuer, "--data", join(cwd, "none")];
  const signIn = (start: string) => idpHere([...words(start), ...target], "", { IDP_ADMIN_TOKEN: idp.adminToken });
  const { code, stdout, stderr } = await signIn(`${app.url}/login`);
  expect([code, stderr]).toEqual([0, expect.stringContaining("Signed in as alice")]);
  const me = (cookie: string) => fetch(`${app.url}/me`, { headers: { cookie }, redirect: "manual" });
  expect((await me(stdout.trim().replace("Cookie: ", ""))).status).toBe(200);
  expect((await me("")).status).not.toBe(200);
  await idp.call("clients.remove", { client_id: app.entityId });
  const refused = await signIn(`${app.url}/login`);
  expect(refused).toMatchObject({
    code: 6,
    stdout: "",
    stderr: expect.stringContaining("the AuthnRequest was refused"),
  });
});

test("a tester may, and the act has the name of the token", async () => {
  const app = await samlApp();
  const server = await startWithTokens();
  const { ctx } = server.issuer;
  const url = ctx.issuer;
  const api = (method: string, path: string, body?: unknown) =>
    fetch(`${url}/_idp/api${path}`, {
      method,
      headers: { authorization: `Bearer ${tokenOf("lead")}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  await api("POST", "/clients", { client_id: app.entityId, saml: { acs: [app.acs] } });
  await api("POST", "/seed", { settings: { login: "password" } });
  app.use((await (await api("GET", "/saml")).json()) as never);
  const words = ["sign-in", "--start", `${app.url}/login`, "--signed-in", `${app.url}/me`, "--user", "alice"];
  const run = await idpHere([...words, "--url", url, "--data", join(cwd, "none")], "", {
    IDP_ADMIN_TOKEN: tokenOf("qa"),
  });
  expect([run.code, run.stderr]).toEqual([0, expect.stringContaining("Signed in as alice")]);
  const acts = (await (await api("GET", "/acts")).json()) as readonly { by: string; command: string }[];
  expect(acts.at(-1)).toMatchObject({ by: "qa", command: "idp sign-in --user alice" });
});
