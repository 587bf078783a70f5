import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { SAML, type Strategy } from "@node-saml/passport-saml";
import { expect, test } from "vitest";
import { approve, Browser, formsOf } from "../helpers/browser.ts";
import { documentOf, idpIn } from "../helpers/command.ts";
import { startIdp } from "../helpers/cli.ts";
import { blocks, repository } from "../helpers/readme.ts";
import { newProject, shell } from "../helpers/shell.ts";
import { postedBy } from "../helpers/saml.ts";

/** docs/saml.md: its fixtures, its service providers and its commands, as printed. */

const entityId = "http://localhost:3000/saml/metadata";
const metadata = `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="urn:of-metadata"><md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="http://localhost:5000/acs" index="0"/></md:SPSSODescriptor></md:EntityDescriptor>`;

/** A server with the fixtures of the guide, and the variables that its service provider is given. */
async function prepared(fixtures = blocks("Users and service providers", "yaml")[0] ?? "") {
  const project = newProject();
  const { cwd } = project;
  writeFileSync(join(cwd, "idp.fixtures.yaml"), fixtures);
  const idp = await startIdp([], project);
  const { stdout } = await idpIn(cwd, ["env", "--client", entityId, "--json"]);
  return { ...project, idp, variables: documentOf(stdout) as Readonly<Record<string, string>> };
}

/** What a browser posts to the service provider for alice. */
async function postedFor(issuer: string, url: string) {
  const browser = new Browser(issuer);
  const visit = await approve(browser, await browser.open(url));
  return { ...postedBy(visit), fields: Object.fromEntries(formsOf(visit.body)[0]?.fields ?? []) };
}

test("the service provider with passport-saml signs alice in, with her groups", async () => {
  const { cwd, idp, variables } = await prepared();
  expect(Object.keys(variables).sort()).toEqual(
    expect.arrayContaining(
      [...(blocks("A service provider with passport-saml", "js")[0] ?? "").matchAll(/process\.env\.(\w+)/g)].map(
        ([, name]) => name,
      ),
    ),
  );
  symlinkSync(join(repository, "node_modules/@node-saml"), join(cwd, "node_modules/@node-saml"));
  writeFileSync(join(cwd, "strategy.mjs"), blocks("A service provider with passport-saml", "js")[0] ?? "");
  Object.assign(process.env, variables);
  const { strategy } = (await import(pathToFileURL(join(cwd, "strategy.mjs")).href)) as { readonly strategy: Strategy };
  for (const name of Object.keys(variables)) Reflect.deleteProperty(process.env, name);
  const saml = (strategy as unknown as { readonly _saml: SAML })._saml;
  const { fields, action } = await postedFor(idp.issuer, await saml.getAuthorizeUrlAsync("", undefined, {}));
  expect(action).toBe("http://localhost:3000/saml/acs");
  const { profile } = await saml.validatePostResponseAsync(fields);
  const verify = (strategy as unknown as { readonly _signonVerify: (...given: readonly unknown[]) => void })
    ._signonVerify;
  const user = await new Promise((resolve) => {
    verify(profile, (_error: unknown, found: unknown) => {
      resolve(found);
    });
  });
  expect(user).toEqual({ name: "alice@example.com", email: "alice@example.com", groups: ["staff", "admins"] });
  // The same response again answers no request of the app.
  await expect(saml.validatePostResponseAsync(fields)).rejects.toThrow("InResponseTo");
});

test("the service provider with python3-saml signs alice in", { tags: ["python3-saml"] }, async () => {
  const { cwd, idp, variables } = await prepared();
  const run = (script: string, input = ""): unknown => {
    writeFileSync(
      join(cwd, "app.py"),
      `${blocks("A service provider with python3-saml", "python")[0] ?? ""}\n${script}`,
    );
    const env = { ...process.env, ...variables };
    return JSON.parse(execFileSync("python3", ["app.py"], { cwd, env, input, encoding: "utf8" }));
  };
  const start = `
import json, sys
from onelogin.saml2.auth import OneLogin_Saml2_Auth
request = {"https": "off", "http_host": "localhost:3000", "script_name": "/saml/acs", "get_data": {}, "post_data": json.loads(sys.stdin.read() or "{}")}
auth = OneLogin_Saml2_Auth(request, settings)
`;
  const { url, id } = run(
    `${start}url = auth.login()\nprint(json.dumps({"url": url, "id": auth.get_last_request_id()}))`,
  ) as { readonly url: string; readonly id: string };
  const { fields } = await postedFor(idp.issuer, url);
  const read = run(
    `${start}auth.process_response(request_id="${id}")\nprint(json.dumps([auth.get_errors(), auth.get_nameid(), auth.get_attributes()["groups"]]))`,
    JSON.stringify(fields),
  );
  expect(read).toEqual([[], "alice@example.com", ["staff", "admins"]]);
});

test("its commands run, one after another", async () => {
  const { cwd, env } = await prepared();
  writeFileSync(join(cwd, "sp.xml"), metadata);
  const [added = ""] = blocks("Users and service providers", "sh");
  expect(await shell(added, { cwd, env })).toMatchObject({ code: 0 });
  const ids = (documentOf((await idpIn(cwd, ["clients", "list", "--json"])).stdout) as { client_id: string }[]).map(
    ({ client_id }) => client_id,
  );
  expect(ids).toEqual(expect.arrayContaining(["urn:of-metadata", "http://localhost:4000/saml/metadata", entityId]));
  const [tests = ""] = blocks("Tests of a service provider", "sh");
  const { code, stdout, stderr } = await shell(tests, { cwd, env });
  expect(code, stderr).toBe(0);
  expect(stdout).toContain("<samlp:Response ");
});

test("the class of the second step asks carol for her password and a code", async () => {
  const own = blocks("A second step", "yaml")[0] ?? "";
  const clients = /^clients:[\s\S]*/m.exec(blocks("Users and service providers", "yaml")[0] ?? "")?.[0] ?? "";
  const { cwd, idp, variables } = await prepared(`${own}\n${clients}`);
  const saml = new SAML({
    issuer: entityId,
    callbackUrl: variables["SAML_ACS_URL"] ?? "",
    audience: entityId,
    entryPoint: variables["SAML_IDP_SSO_URL"] ?? "",
    idpCert: variables["SAML_IDP_CERT"] ?? "",
    wantAuthnResponseSigned: false,
    authnContext: ["https://refeds.org/profile/mfa"],
  });
  const browser = new Browser(idp.issuer);
  const login = await browser.open(await saml.getAuthorizeUrlAsync("", undefined, {}));
  const factor = await browser.press(login, "login-submit", { username: "carol", password: "carol" });
  expect(factor.page).toBe("factor");
  const otp = documentOf((await idpIn(cwd, ["users", "otp", "carol", "--json"])).stdout) as { readonly code: string };
  const { response } = postedBy(await browser.press(factor, "factor-submit", { otp: otp.code }));
  expect([response.statuses, response.contextClass]).toEqual([["Success"], "https://refeds.org/profile/mfa"]);
});
