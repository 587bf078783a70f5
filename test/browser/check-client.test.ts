import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Browser, Places } from "../../src/client/app/visit.ts";
import { casesFor } from "../../src/check/client/cases/list.ts";
import { chromiumBrowser } from "../../src/client/app/chromium.ts";
import { runClient } from "../../src/check/client/check.ts";
import { smallBrowser } from "../../src/client/app/small-browser.ts";
import { launchChromium as launchBound } from "../../src/check/frame/browsers.ts";
import { controlOf } from "../../src/check/client/control.ts";
import { nearLookup } from "../../src/check/frame/near.ts";
import { Opened } from "../../src/check/frame/opened.ts";
import { createIdp } from "../../src/index.ts";
import { checkRun } from "../helpers/check-run.ts";
import { atEnd } from "../helpers/at-end.ts";
import { CarefulApp } from "../helpers/careful-app.ts";
import { preparedChromium, sharedChromium } from "../helpers/chromium.ts";
import { idp as idpCommand, newFolder } from "../helpers/cli.ts";
import { freePort } from "../helpers/port.ts";
import { startRelyingParty } from "../helpers/relying-party.ts";
import express from "express";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../helpers/readme.ts";
import { serveApp } from "../helpers/serve-app.ts";

/**
 * `idp check client --browser`: the same cases in Chromium.
 * @module-tag browser
 */

const chromium = await sharedChromium();

let careful: CarefulApp | null = null;
const served = await serveApp(0, () => careful);
atEnd(served.close);
const spa = await startRelyingParty();
const clientSecret = "the-secret-of-the-app-under-test";
const idp = await createIdp({
  port: 0,
  fixtures: {
    users: [{ username: "alice", displayName: "Alice Adams" }],
    clients: [
      { client_id: "app", client_secret: clientSecret, redirect_uris: [`${served.url}/callback`] },
      { client_id: "spa", redirect_uris: [`${spa.url}/callback`] },
    ],
  },
});
atEnd(() => idp.close());

const settings = {
  authority: idp.issuer,
  client_id: "spa",
  redirect_uri: `${spa.url}/callback`,
  scope: "openid profile",
};
spa.app.use("/node_modules", express.static(join(repository, "node_modules")));
spa.app.use((_req, res) => {
  res.send(`<!doctype html><meta charset="utf-8"><title>App</title><link rel="icon" href="data:,"><p>Welcome
<script src="/node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js"></script>
<script type="module">
  const manager = new oidc.UserManager(${JSON.stringify(settings)});
  if (location.pathname === "/login") await manager.signinRedirect();
  if (location.pathname === "/callback") await manager.signinRedirectCallback();
  const user = await manager.getUser();
  if (user !== null) document.querySelector("p").textContent = "Signed in as " + user.profile.name;
</script>`);
});

async function verdicts(
  client: string,
  url: string,
  signedInText: string | null,
  names: readonly string[],
  newBrowser: (places: Places) => Promise<Browser>,
): Promise<readonly string[]> {
  const redirectUris = [`${url}/callback`];
  const people = {
    issuer: idp.issuer,
    client,
    redirectUris,
    logoutUri: null,
    user: "alice",
    isOwn: true,
    isConfidential: client === "app",
  };
  const lookup = nearLookup(undefined);
  const places = { issuer: idp.issuer, redirectUris, origins: [url], user: "alice", lookup };
  const { cases } = await runClient(
    {
      app: { start: `${url}/login`, signedIn: `${url}/me`, signedInText, signOut: null, within: 2000, lookup },
      control: controlOf({ url: idp.issuer, adminToken: idp.adminToken }, people, new Opened()),
      ...{ ...checkRun, closeLimit: 5000, account: null, otherUser: null, second: null },
      newBrowser: () => newBrowser(places),
    },
    casesFor(null).filter(({ name }) => names.includes(name)),
  );
  return cases.map(({ name, verdict, did }) => `${name}: ${verdict}, ${did}`);
}

const inChromium = async (places: Places): Promise<Browser> => chromiumBrowser(places, await chromium.newContext());

test("Chromium finds what the browser without scripts finds", async () => {
  const config = { issuer: idp.issuer, clientId: "app", clientSecret, redirectUri: `${served.url}/callback` };
  careful = await CarefulApp.create({ ...config, neglects: ["nonce", "session-id"] });
  const names = [
    "response.state-wrong",
    "login-csrf",
    "id-token.nonce-wrong",
    "open-redirect",
    "session-fixed",
    "secret-in-page",
  ];
  const found = await verdicts("app", served.url, null, names, inChromium);
  expect(found).toHaveLength(names.length + 2);
  expect(found).toEqual(
    await verdicts("app", served.url, null, names, (places) => Promise.resolve(smallBrowser(places))),
  );
});

test("an app of one page is signed in by its script, and recognized by its text", async () => {
  const names = ["pkce", "response.state-wrong", "id-token.iss-wrong"];
  const found = await verdicts("spa", spa.url, "Alice Adams", names, inChromium);
  expect(found.map((one) => one.replace(/,.*/, ""))).toEqual([
    "control: works",
    "response.state-wrong: noticed",
    "id-token.iss-wrong: unnoticed",
    "pkce: noticed",
    "control: works",
  ]);
});

/** An app of one page, whose scripts take their time. @param body of its page */
async function pageApp(body: string): Promise<{ readonly url: string; readonly places: Places }> {
  const app = createServer((_req, res) => res.setHeader("content-type", "text/html").end(body)).listen(0, "127.0.0.1");
  await once(app, "listening");
  onTestFinished(() => void app.close());
  const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
  const lookup = nearLookup(undefined);
  return { url, places: { issuer: idp.issuer, redirectUris: null, origins: [url], user: "alice", lookup } };
}

test("a page is read once its text has not changed for a second, and a text is waited for", async () => {
  const shows = (text: string, after: number): string =>
    `setTimeout(() => { document.querySelector("p").textContent = ${JSON.stringify(text)}; }, ${after});`;
  const steps = await pageApp(`<p>…</p><script>${shows("Loading", 700)}${shows("Signed in", 1400)}</script>`);
  const first = await inChromium(steps.places);
  expect((await first.look(`${steps.url}/me`)).end).toMatchObject({ text: "Signed in" });
  const late = await pageApp(`<p>Loading</p><script>${shows("Signed in", 2500)}</script>`);
  const at = `${late.url}/me`;
  const second = await inChromium({ ...late.places, awaits: { at, text: "Signed in" } });
  expect((await second.look(at)).end).toMatchObject({ text: "Signed in" });
});

test("the button that is named is pressed, among others and late", async () => {
  const button = "<button onclick=\"location = '/there'\">Sign in with idp</button>";
  const page = `<button>Help</button><p></p><script>setTimeout(() => { document.querySelector("p").innerHTML = ${JSON.stringify(button)}; }, 700);</script>`;
  const { url, places } = await pageApp(page);
  const browser = await inChromium({ ...places, startButton: "Sign in with idp" });
  const { steps } = await browser.signIn(`${url}/login`);
  expect(steps.map((step) => step.url.pathname)).toContain("/there");
});

test("what a page shows, or that nothing is there, is said in our words", async () => {
  const port = await freePort();
  const { places } = await pageApp("");
  const nowhere = `http://127.0.0.1:${port}/`;
  const away = await inChromium({ ...places, origins: [new URL(nowhere).origin] });
  expect((await away.look(nowhere)).end).toMatchObject({
    kind: "stuck",
    why: `the browser could not open ${nowhere}: nothing listens there`,
  });
  const request = `${idp.issuer}/api/v2/oauth/authorize?client_id=nobody`;
  const wrong = await pageApp(`<script>location = ${JSON.stringify(request)}</script>`);
  const { end } = await (await inChromium(wrong.places)).signIn(wrong.url);
  expect(end).toMatchObject({ kind: "stuck" });
  expect(JSON.stringify(end)).not.toMatch(/locator\.|page\.|Timeout \d/);
});

test("without scripts it says what to do", async () => {
  const found = await verdicts("spa", spa.url, "Alice Adams", ["pkce"], (places) =>
    Promise.resolve(smallBrowser(places)),
  );
  expect(found[0]).toContain("control: not-reached");
  expect(found[0]).toContain("--browser");
});

/** An app that sends the browser and a frame to another machine: 0.0.0.0 is neither loopback nor private, and is this machine. */
async function leadingAway() {
  const hosts: (string | undefined)[] = [];
  const server = createServer((req, res) => {
    hosts.push(req.headers.host?.replace(/:.*/, ""));
    const away = `http://0.0.0.0:${(server.address() as AddressInfo).port}/callback?code=secret`;
    if (req.url === "/go") res.writeHead(302, { location: away });
    else if (req.url === "/moved") res.writeHead(302, { location: away.replace("0.0.0.0", "moved.test") });
    else res.setHeader("content-type", "text/html");
    res.end(req.url === "/frame" ? `<p>Welcome<iframe src="${away}"></iframe>` : "<p>Welcome");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { hosts, port: (server.address() as AddressInfo).port };
}

test("no document of another machine is fetched, in a frame neither", async () => {
  const { hosts, port } = await leadingAway();
  const [near, far] = [`http://127.0.0.1:${port}`, `http://0.0.0.0:${port}`];
  const places = { issuer: idp.issuer, redirectUris: [`${far}/callback`], origins: [near, far], user: "alice" };
  const browser = await inChromium({ ...places, lookup: nearLookup(undefined) });
  const { end } = await browser.look(`${near}/go`);
  expect(end).toMatchObject({ kind: "stuck", why: expect.stringContaining("neither this machine nor a private") });
  expect((await browser.look(`${near}/frame`)).end).toMatchObject({ kind: "page", status: 200 });
  expect(new Set(hosts)).toEqual(new Set(["127.0.0.1"]));
});

test("a name of the app leads to the address that was checked, whatever a resolver says later", async () => {
  const { hosts, port } = await leadingAway();
  const { path, env } = preparedChromium();
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const origin = `http://app.test:${port}`;
  // At first each name leads to this machine, and then to where something else listens, or nobody.
  const asked: string[] = [];
  const lookup: LookupFunction = (host, _options, callback) => {
    asked.push(host);
    const isFirst = asked.filter((one) => one === host).length === 1 || host === "127.0.0.1";
    callback(null, [{ address: isFirst ? "127.0.0.1" : "127.0.0.9", family: 4 }]);
  };
  const places = { issuer: idp.issuer, redirectUris: null, origins: null, user: "alice" };
  const bound = await launchBound({ CHROMIUM_PATH: path });
  onTestFinished(() => bound.close());
  const browser = await chromiumBrowser(
    { ...places, lookup: bound.keeping(lookup) },
    await bound.newContext({ ignoreHTTPSErrors: true }),
  );
  expect((await browser.look(`${origin}/`)).end).toMatchObject({ kind: "page", status: 200 });
  // One that a redirect names is bound in the same way.
  expect((await browser.look(`${origin}/moved`)).end).toMatchObject({ kind: "page", status: 200 });
  expect((await browser.look(`${origin}/`)).end).toMatchObject({ kind: "page", status: 200 });
  expect(hosts).toEqual(expect.arrayContaining(["app.test", "moved.test"]));
  expect(asked.filter((host) => host.endsWith(".test")).toSorted()).toEqual(["app.test", "moved.test"]);
});

test("--browser finds Playwright in the project, and the browser by CHROMIUM_PATH", async () => {
  const cwd = newFolder();
  symlinkSync(join(repository, "node_modules"), join(cwd, "node_modules"), "junction");
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const clients = [{ client_id: "app", client_secret: clientSecret, redirect_uris: [`${url}/callback`] }];
  const fixtures = JSON.stringify({ users: [{ username: "alice" }], clients });
  const at = ["--start", `${url}/login`, "--signed-in", `${url}/me`, "--fixtures", fixtures];
  const app = [process.execPath, join(repository, "examples/check-client/openid-client.js")];
  const { path, env } = preparedChromium();
  const { code, stdout, stderr } = await idpCommand(
    ["check", "client", "--browser", "--case", "response.state-wrong", ...at, "--", ...app],
    { cwd, env: { ...env, CHROMIUM_PATH: path, PORT: port } },
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("Checking") });
  expect(stdout).toContain("1 noticed, 2 working.");
});
