import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { Attempt } from "../../src/check/client/attempt.ts";
import { tokenInUrl } from "../../src/check/client/cases/addresses.ts";
import { postForms } from "../../src/client/app/post-form.ts";
import { smallBrowser } from "../../src/client/app/small-browser.ts";
import { nearLookup } from "../../src/check/frame/near.ts";
import { signInWithoutBrowser } from "../../src/index.ts";
import { underAttack } from "../helpers/attack.ts";
import { CarefulApp } from "../helpers/careful-app.ts";
import { idpHere } from "../helpers/command.ts";
import { serveApp } from "../helpers/serve-app.ts";

/**
 * Apps that attack the program that calls them: `idp check client`, and a test with `signInWithoutBrowser`. 0.0.0.0 stands for a machine of
 * somebody else: it is neither loopback nor private, and the system connects it to this machine.
 */

const idp = await underAttack({
  settings: { http_redirect_hosts: ["0.0.0.0"] },
  fixtures: { users: [{ username: "alice" }] },
});

/** A server on this machine, and the requests that it got. */
async function serving(answer: RequestListener) {
  const got: IncomingMessage[] = [];
  const server = createServer((req, res) => {
    got.push(req);
    answer(req, res);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { got, port, url: `http://127.0.0.1:${port}`, remote: `http://0.0.0.0:${port}` };
}

/** An app whose address of sign-in shows a page. */
const showing = (html: string): Promise<Awaited<ReturnType<typeof serving>>> =>
  serving((_req, res) => {
    res.writeHead(200, { "content-type": "text/html" }).end(html);
  });

const browserFor = (url: string) =>
  smallBrowser({
    ...{ issuer: idp.issuer, redirectUris: [], origins: [url], user: "alice" },
    lookup: nearLookup(undefined),
  });

/** `idp check client` on an app, with a client that may return to another machine. */
async function check(app: { readonly url: string }, client: Readonly<Record<string, unknown>>, ...flags: string[]) {
  await idp.call("clients.add", { client_id: "app", token_endpoint_auth_method: "none", ...client } as never);
  onTestFinished(async () => {
    await idp.call("clients.remove", { client_id: "app" });
  });
  const words = ["check", "client", "--start", `${app.url}/login`, "--signed-in", `${app.url}/me`, "--client", "app"];
  return idpHere([...words, "--url", idp.issuer, "--case", "pkce", ...flags], "", { IDP_ADMIN_TOKEN: idp.adminToken });
}

test("a code goes to no machine of somebody else through another redirect URI of the client", async () => {
  const app = await serving((req, res) => {
    const request = new URLSearchParams({ response_type: "code", client_id: "app", scope: "openid", state: "s" });
    request.set("redirect_uri", `${app.remote}/callback`);
    request.set("code_challenge", "x".repeat(43));
    request.set("code_challenge_method", "S256");
    const leadsOn = req.url === "/login";
    res.writeHead(leadsOn ? 302 : 401, leadsOn ? { location: `${idp.issuer}/api/v2/oauth/authorize?${request}` } : {});
    res.end();
  });
  const uris = { redirect_uris: [`${app.url}/callback`, `${app.remote}/callback`] };
  const { code, stdout } = await check(app, uris);
  expect(app.got.filter(({ headers }) => headers.host?.startsWith("0.0.0.0") === true).map(({ url }) => url)).toEqual(
    [],
  );
  expect(code).toBe(6);
  expect(stdout).toMatch(/not-reached +control .*0\.0\.0\.0, which is neither this machine nor a private network/);
});

test("a logout token goes to no machine of somebody else", async () => {
  const paths: string[] = [];
  let app: CarefulApp | null = null;
  const { url, close } = await serveApp(0, () => app, { onRequest: (path) => paths.push(path.split("?")[0] ?? "") });
  onTestFinished(close);
  const logoutUri = `${url.replace("localhost", "0.0.0.0")}/backchannel-logout`;
  const [redirectUri, clientSecret] = [`${url}/callback`, "the-secret-of-the-app-under-test"];
  const client = {
    ...{ token_endpoint_auth_method: "client_secret_post", client_secret: clientSecret },
    ...{ redirect_uris: [redirectUri], backchannel_logout_uri: logoutUri },
  };
  const begun = check({ url }, client, "--case", "logout-token.alg-none");
  app = await CarefulApp.create({ issuer: idp.issuer, clientId: "app", clientSecret, redirectUri });
  const { code, stdout } = await begun;
  expect(paths).toContain("/callback");
  expect(paths).not.toContain("/backchannel-logout");
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/not-reached +logout-token.alg-none .*0\.0\.0\.0/),
  });
});

test("a name is resolved for each connection, and what is refused then is not reached", async () => {
  const app = await serving((_req, res) => res.end("app"));
  const places = { issuer: idp.issuer, redirectUris: [], origins: [`http://app.test:${app.port}`], user: "alice" };
  const lookup: LookupFunction = (_host, _options, callback) => {
    callback(new Error("it leads elsewhere now"), "");
  };
  const { end } = await smallBrowser({ ...places, lookup }).look(`http://app.test:${app.port}/`);
  expect(end).toMatchObject({ kind: "stuck", why: expect.stringContaining("it leads elsewhere now") });
});

test.each([
  ["forms", "<form>".repeat(166_000)],
  ["meta elements", "<meta ".repeat(166_000)],
  ["attributes", `<form ${Array.from({ length: 150_000 }, (_, at) => at.toString(36)).join(" ")}>`],
  [
    "elements that a parser would have to open again",
    `<p>${"<b id=1><b id=2>".repeat(30_000)}</p>${"<p>x".repeat(100_000)}`,
  ],
  ["spaces in a refresh", `<meta http-equiv=refresh content="0;url=a${" ".repeat(900_000)}b">`],
  ["spaces before a refresh", `<meta http-equiv=refresh content="0${" ".repeat(900_000)}x">`],
])("a page of 1 MB of %s is read at once", async (_what, html) => {
  const app = await showing(html);
  const begun = performance.now();
  await browserFor(app.url).signIn(`${app.url}/login`);
  expect(performance.now() - begun).toBeLessThan(5000);
});

test.each([
  ["buttons without an end", "<button>x"],
  ["links without an end", "<a href=x>y"],
  ["links", "<a href=x>y</a>"],
])("a page of 1 MB of %s is searched for a button at once", async (_what, piece) => {
  const app = await showing(`<form>${piece.repeat(Math.floor(900_000 / piece.length))}`);
  const places = { issuer: idp.issuer, redirectUris: [], origins: [app.url], user: "alice", startButton: "Sign in" };
  const begun = performance.now();
  await smallBrowser({ ...places, lookup: nearLookup(undefined) }).signIn(`${app.url}/login`);
  expect(performance.now() - begun).toBeLessThan(5000);
});

test.each(["<select name=a>", "<select name=a><option>x", "<textarea name=a></textarea>", "<input name=a>"])(
  "a form of 1 MB of %s, in which --mark writes, is read at once",
  (piece) => {
    const begun = performance.now();
    const [form] = postForms(
      `<form method=post>${piece.repeat(Math.floor(900_000 / piece.length))}`,
      "http://app.test/",
    );
    expect(performance.now() - begun).toBeLessThan(5000);
    expect(form?.fields.length).toBeGreaterThan(10_000);
  },
);

test("a cookie whose name is 4,000 spaces is read at once", async () => {
  const app = await serving((_req, res) => res.setHeader("set-cookie", `${"\u00a0".repeat(4000)}b`).end());
  const begun = performance.now();
  await browserFor(app.url).look(app.url);
  expect(performance.now() - begun).toBeLessThan(5000);
});

test.each([
  ["a form", '<form method="post" action="http://["><button>Sign in</button></form>'],
  ["a refresh", '<meta http-equiv="refresh" content="0;url=http://[">'],
  ["a form for a program", '<form method="post" action="ms-msdt:x"><button>Sign in</button></form>'],
  ["a refresh with a script", '<meta http-equiv="refresh" content="0;url=javascript:alert(1)">'],
])("the address of %s that leads nowhere ends no check", async (_what, html) => {
  const app = await showing(html);
  expect(await check(app, { redirect_uris: [`${app.url}/callback`] })).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("Error: the app did not sign in"),
  });
});

test.each([
  ["with bytes that are no text", "http://app.test/a%FF"],
  ["of 1 MB that begins like many tokens", `http://app.test/${"-ey".repeat(333_000)}`],
])("an address %s is searched for tokens", async (_what, address) => {
  const attempt = { known: { addresses: [new URL(address)] } } as unknown as Attempt;
  const begun = performance.now();
  expect(await tokenInUrl.run(attempt)).toMatchObject({ verdict: "noticed" });
  expect(performance.now() - begun).toBeLessThan(5000);
});

test("fetch of a signed-in browser takes no credentials of the caller along to another origin", async () => {
  const other = await serving((_req, res) => res.end("other"));
  const app = await serving((req, res) => {
    if (req.url === "/away") res.writeHead(307, { location: `${other.url}/there` });
    res.end("app");
  });
  const { fetch } = await signInWithoutBrowser(app.url, { user: "alice" });
  const headers = { authorization: "Bearer the-secret-token", cookie: "session=the-secret-session", "x-other": "1" };
  await fetch(`${app.url}/away`, { method: "POST", body: "{}", headers });
  expect(other.got[0]?.headers).toMatchObject({ "x-other": "1" });
  expect(JSON.stringify(other.got[0]?.headers)).not.toContain("the-secret");
});

test.each(["http://[", "file:///etc/passwd"])(
  "fetch of a signed-in browser follows no redirect to %s",
  async (location) => {
    const app = await serving((req, res) => {
      res.writeHead(req.url === "/away" ? 302 : 200, req.url === "/away" ? { location } : {}).end("app");
    });
    const { fetch } = await signInWithoutBrowser(app.url, { user: "alice" });
    await expect(fetch(`${app.url}/away`)).rejects.toThrow(
      `redirects to "${location}", which is not an http or https URL`,
    );
  },
);

test("a SCIM server that redirects a check elsewhere, or is elsewhere, gets its token nowhere", async () => {
  const other = await serving((_req, res) => {
    res.writeHead(200, { "content-type": "application/scim+json" }).end("{}");
  });
  const app = await serving((req, res) => {
    res.writeHead(307, { location: `${other.remote}${req.url ?? ""}` }).end();
  });
  const scim = (url: string) =>
    idpHere(["check", "scim", "--url", url, "--token-env", "SCIM_TOKEN", "--case", "no-token"], "", {
      SCIM_TOKEN: "scim-secret-of-the-app",
    });
  const redirected = await scim(`${app.url}/scim`);
  expect(redirected).toMatchObject({ code: 6, stderr: expect.stringContaining("redirects are not followed") });
  expect(await scim(`${other.remote}/scim`)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("neither this machine nor a private network"),
  });
  // The same by the client of a server.
  await idp.call("clients.add", {
    client_id: "far",
    redirect_uris: ["http://localhost/callback"],
    scim: { url: `${other.remote}/scim`, token: "scim-secret-of-the-app" },
  });
  onTestFinished(async () => {
    await idp.call("clients.remove", { client_id: "far" });
  });
  const env = { IDP_ADMIN_TOKEN: idp.adminToken, IDP_URL: idp.issuer };
  const words = ["--client", "far", "--start", `${app.url}/login`, "--signed-in", `${app.url}/me`];
  const named = await idpHere(["check", "leaver", ...words, "--url", idp.issuer], "", env);
  expect(named).toMatchObject({ code: 2, stderr: expect.stringContaining('scim.url of client "far" is at 0.0.0.0') });
  expect(other.got).toEqual([]);
});
