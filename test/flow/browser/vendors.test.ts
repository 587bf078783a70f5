import type { Auth0Client } from "@auth0/auth0-spa-js";
import type { AuthenticationResult } from "@azure/msal-node";
import type { Jwt } from "@okta/jwt-verifier";
import type { OktaAuth } from "@okta/okta-auth-js";
import express from "express";
import type Keycloak from "keycloak-js";
import { spawn } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { UserManager } from "oidc-client-ts";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { signIn } from "../../../src/playwright.ts";
import { idp, newFolder, startIdp } from "../../helpers/cli.ts";
import { repository } from "../../helpers/readme.ts";
import { startRelyingParty } from "../../helpers/relying-party.ts";
import { useChromium } from "../../helpers/single-page-app.ts";

/**
 * docs/vendors.md, run: each SDK as its vendor ships it, with the configuration of that page.
 * @module-tag browser
 */

const document = readFileSync(join(repository, "docs/vendors.md"), "utf8");
const newPage = useChromium();
const tls = join(repository, "test/helpers/tls");
const https = ["--cert", join(tls, "cert.pem"), "--key", join(tls, "key.pem")];

/** The blocks of a language below a heading; above the first one: the heading is "". */
function blocks(heading: string, language: string): readonly string[] {
  const section = document.split(/^## /m).find((each) => each.startsWith(heading)) ?? "";
  const fences = section.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"));
  return Array.from(fences, ([, code = ""]) => code);
}

interface Place {
  /** Of `idp`. */
  readonly origin: string;
  readonly url: string;
  readonly app: express.Express;
  readonly cwd: string;
  /** Code of the page, with the addresses of this test. */
  readonly adapt: (code: string) => string;
}

async function start(vendor: string, flags: readonly string[] = []): Promise<Place> {
  const { app, url } = await startRelyingParty();
  const cwd = newFolder();
  const [fixtures = ""] = blocks("# ", "yaml");
  const changed = fixtures.replaceAll("http://localhost:3000", url).replace("endpoints: auth0", `endpoints: ${vendor}`);
  writeFileSync(join(cwd, "idp.fixtures.yaml"), changed);
  const { issuer } = await startIdp(flags, { cwd });
  const { origin, host } = new URL(issuer);
  const adapt = (code: string): string =>
    code
      .replaceAll(/https?:\/\/localhost:4370/g, origin)
      .replaceAll("localhost:4370", host)
      .replaceAll("http://localhost:3000", url);
  return { origin, url, app, cwd, adapt };
}

const imports = {
  "@auth0/auth0-spa-js": "/node_modules/@auth0/auth0-spa-js/dist/auth0-spa-js.production.esm.js",
  "@okta/okta-auth-js": "/okta.js",
  "keycloak-js": "/node_modules/keycloak-js/lib/keycloak.js",
  "oidc-client-ts": "/node_modules/oidc-client-ts/dist/esm/oidc-client-ts.js",
  "jwt-decode": "/node_modules/jwt-decode/build/esm/index.js",
};
const okta = "/node_modules/@okta/okta-auth-js/dist/okta-auth-js.min.js";

/** Serves an app of one page, which runs the example of a vendor. @param more what the app does with it; `sdk` is the name of the SDK */
async function startApp(vendor: string, heading: string, sdk: string, more: string): Promise<Place> {
  const place = await start(vendor);
  const { app, adapt } = place;
  const [example = ""] = blocks(heading, "js");
  const script = `${adapt(example)}\nglobalThis.sdk = ${sdk};\n${adapt(more)}\nglobalThis.ready = true;`;
  app.use("/node_modules", express.static(join(repository, "node_modules")));
  app.get("/okta.js", (_req, res) => {
    res.type("text/javascript").send("export const OktaAuth = globalThis.OktaAuth;");
  });
  app.use((_req, res) => {
    res.send(`<!doctype html><meta charset="utf-8"><title>App</title><link rel="icon" href="data:,">
<script src="${okta}"></script><script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module">${script}</script>`);
  });
  return place;
}

const ready = (page: Page) => page.waitForFunction("globalThis.ready");

test("auth0: @auth0/auth0-spa-js", async () => {
  const { url, origin } = await startApp(
    "auth0",
    "Auth0",
    "auth0",
    `if (location.search.includes("code=")) {
      await auth0.handleRedirectCallback();
      history.replaceState(null, "", "/");
    }`,
  );
  const page = await newPage();
  await page.goto(url);
  await ready(page);
  await page.evaluate("void sdk.loginWithRedirect()");
  await signIn(page, { user: "alice" });
  await page.waitForURL(`${url}/`);
  await ready(page);
  type Claims = Awaited<ReturnType<Auth0Client["getIdTokenClaims"]>>;
  expect(await page.evaluate<Claims>("sdk.getIdTokenClaims()")).toMatchObject({ iss: `${origin}/`, name: "alice" });

  // Tokens are in memory only: the SDK asks in a frame.
  await page.reload();
  await ready(page);
  expect(await page.evaluate("sdk.isAuthenticated()")).toBe(true);
  const token = "sdk.getTokenSilently({ cacheMode: 'off' })";
  expect(await page.evaluate(token)).not.toBe(await page.evaluate(token));

  await page.evaluate(`void sdk.logout({ logoutParams: { returnTo: "${url}/" } })`);
  await page.getByTestId("logout-confirm").click();
  await page.waitForURL(`${url}/`);
  await ready(page);
  expect(await page.evaluate("sdk.isAuthenticated()")).toBe(false);
});

test("okta: @okta/okta-auth-js", async () => {
  const { url, origin } = await startApp(
    "okta",
    "Okta",
    "okta",
    `if (okta.isLoginRedirect()) await okta.handleRedirect("http://localhost:3000/"); else await okta.start();`,
  );
  const page = await newPage();
  await page.goto(url);
  await ready(page);
  await page.evaluate("void sdk.signInWithRedirect()");
  await signIn(page, { user: "alice" });
  await page.waitForURL(`${url}/`);
  await ready(page);
  expect(await page.evaluate("sdk.isAuthenticated()")).toBe(true);
  type Token = Awaited<ReturnType<OktaAuth["tokenManager"]["get"]>>;
  expect(await page.evaluate<Token>("sdk.tokenManager.get('idToken')")).toMatchObject({
    issuer: `${origin}/oauth2/default`,
    claims: { name: "alice" },
  });
  expect(await page.evaluate("sdk.token.getUserInfo()")).toMatchObject({ preferred_username: "alice" });
  expect(await page.evaluate("sdk.tokenManager.renew('accessToken')")).toHaveProperty("accessToken");
  expect(await page.evaluate("sdk.token.getWithoutPrompt()")).toHaveProperty("tokens.accessToken.accessToken");

  const returned = page.waitForResponse(`${url}/`);
  await page.evaluate("void sdk.signOut()");
  await returned;
  await ready(page);
  expect(await page.evaluate("sdk.isAuthenticated()")).toBe(false);
});

test("keycloak: keycloak-js", async () => {
  const { url, origin } = await startApp("keycloak", "Keycloak", "keycloak", "");
  const page = await newPage();
  const state = () => page.evaluate<Keycloak>("({ ...sdk })");
  await page.goto(`${url}/callback`);
  await signIn(page, { user: "alice" });
  await ready(page);
  const signedIn = await state();
  expect(signedIn).toMatchObject({ authenticated: true, realm: "idp" });
  expect(signedIn.idTokenParsed).toMatchObject({ iss: `${origin}/realms/idp` });
  expect(await page.evaluate("sdk.loadUserInfo()")).toMatchObject({ sub: signedIn.subject });
  expect(await page.evaluate("sdk.updateToken(-1)")).toBe(true);
  expect((await state()).token).not.toBe(signedIn.token);

  const returned = page.waitForRequest(`${url}/`);
  await page.evaluate(`void sdk.logout({ redirectUri: "${url}/" })`);
  await returned;
});

test("cognito: oidc-client-ts, and the logout of Cognito", async () => {
  const { url, origin } = await startApp(
    "cognito",
    "Cognito",
    "cognito",
    `globalThis.logout = logout;
    if (location.pathname === "/callback") await cognito.signinRedirectCallback();`,
  );
  const page = await newPage();
  await page.goto(url);
  await ready(page);
  await page.evaluate("void sdk.signinRedirect()");
  await signIn(page, { user: "alice" });
  await page.waitForURL(`${url}/callback?*`);
  await ready(page);
  type User = Awaited<ReturnType<UserManager["getUser"]>>;
  expect((await page.evaluate<User>("sdk.getUser()"))?.profile).toMatchObject({
    iss: origin,
    email: "alice@example.com",
  });
  await page.goto(await page.evaluate<string>("logout"));
  await page.getByTestId("logout-confirm").click();
  await page.waitForURL(`${url}/`);
});

/** Runs an example with Node.js, which trusts the certificate of the tests. @returns what it prints, line by line */
async function runNode(
  { cwd, adapt }: Place,
  code: string,
  env: Readonly<Record<string, string>>,
  onLine: (line: string) => void = () => undefined,
): Promise<unknown> {
  symlinkSync(join(repository, "node_modules"), join(cwd, "node_modules"), "junction");
  writeFileSync(join(cwd, "app.mjs"), adapt(code));
  const child = spawn(process.execPath, ["app.mjs"], {
    cwd,
    env: { ...process.env, NODE_EXTRA_CA_CERTS: join(tls, "cert.pem"), ...env },
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.stdout += text;
    text.split("\n").forEach(onLine);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const status = await new Promise((resolve) => child.on("close", resolve));
  expect(status, output.stderr).toBe(0);
  return JSON.parse(output.stdout.trim().split("\n").at(-1) ?? "");
}

test("okta: @okta/jwt-verifier", async () => {
  const place = await start("okta", https);
  const { cwd, origin } = place;
  const issued = await idp(
    ["issue", "tokens", "--user", "alice", "--client", "my-app", "--scope", "openid email", "--json"],
    {
      cwd,
    },
  );
  const tokens = JSON.parse(issued.stdout) as { readonly access_token: string; readonly id_token: string };
  const [, example = ""] = blocks("Okta", "js");
  const env = { ACCESS_TOKEN: tokens.access_token, ID_TOKEN: tokens.id_token };
  const result = await runNode(place, `${example}console.log(JSON.stringify([claims, user]));`, env);
  const issuer = `${origin}/oauth2/default`;
  expect(result as readonly Jwt["claims"][]).toMatchObject([
    { iss: issuer, aud: "api://default", client_id: "my-app" },
    { iss: issuer, aud: "my-app", email: "alice@example.com" },
  ]);
});

test("entra: @azure/msal-node, device flow", async () => {
  const place = await start("entra", https);
  const [example = ""] = blocks("Entra ID", "js");
  const page = await newPage();
  const decide = async (line: string): Promise<void> => {
    const [, address, code] = /^To sign in, open (\S+) and enter the code (\S+)$/.exec(line) ?? [];
    if (address === undefined) return;
    await page.goto(`${address}?user_code=${code ?? ""}`);
    await page.getByTestId("login-as-alice").click();
    await page.getByTestId("device-allow").click();
  };
  let decided = Promise.resolve();
  const result = (await runNode(place, `${example}console.log(JSON.stringify(result));`, {}, (line) => {
    decided = decided.then(() => decide(line));
  })) as AuthenticationResult;
  await decided;
  expect(result.idTokenClaims).toMatchObject({ iss: `${place.origin}/common/v2.0`, name: "alice" });
  expect(result.accessToken).not.toBe("");
});

test("the versions on the page are those in package-lock.json", () => {
  const { packages } = JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly version: string }>>;
  };
  const rows = [...document.matchAll(/^\| `\w+` +\| [^|]+ \| (\S+) +\| ([\d.]+) +\|/gm)];
  expect(rows).toHaveLength(23);
  for (const [, name = "", version = ""] of rows) {
    expect(packages[`node_modules/${name}`]?.version, name).toBe(version);
  }
});
