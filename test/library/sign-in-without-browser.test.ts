import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { createIdp, signInWithoutBrowser } from "../../src/index.ts";
import { CarefulSp } from "../helpers/careful-sp.ts";
import { exchange } from "../helpers/client.ts";
import { serveApp } from "../helpers/serve-app.ts";

/** `signInWithoutBrowser`: a sign-in at an app in a test that has no browser. */

interface Options {
  readonly mode?: string;
  readonly acr?: string;
  readonly issuer?: string;
}

/** An app with a session cookie. Its own login form must stay untouched. */
async function startApp() {
  const posted: string[] = [];
  const state: { issuer: string; options: Options } = { issuer: "", options: {} };
  const redirect = (res: ServerResponse, location: string, cookie = ""): void => {
    res.writeHead(302, { location, ...(cookie !== "" && { "set-cookie": cookie }) }).end();
  };
  const server = createServer((req, res) => {
    const base = `http://localhost:${(server.address() as AddressInfo).port}`;
    const url = new URL(req.url ?? "/", base);
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => void answer(Buffer.concat(chunks).toString()));
    async function answer(body: string): Promise<void> {
      if (req.method === "POST") posted.push(`${url.pathname} ${body}`);
      if (url.pathname === "/login") {
        const { mode = "query", acr } = state.options;
        const query = new URLSearchParams({ client_id: "app", response_type: "code", redirect_uri: `${base}/cb` });
        query.set("response_mode", mode);
        query.set("state", "s-1");
        if (acr !== undefined) query.set("acr_values", acr);
        redirect(res, `${state.issuer}/api/v2/oauth/authorize?${query}`, "before=1; HttpOnly");
        return;
      }
      if (url.pathname === "/cb") {
        const sent = body === "" ? url.searchParams : new URLSearchParams(body);
        const code = sent.get("code") ?? "";
        if (code === "") redirect(res, `/refused?error=${sent.get("error") ?? ""}`);
        else {
          const app = { client_id: "app", client_secret: "secret", redirect_uri: `${base}/cb`, code_verifier: null };
          const { status } = await exchange({ issuer: state.issuer }, code, app);
          if (status === 200) redirect(res, "/me", "session=alice; Path=/; HttpOnly");
          else res.writeHead(500).end();
        }
        return;
      }
      if (url.pathname === "/own-form") {
        res.writeHead(200, { "content-type": "text/html" }).end('<form method="post" action="/own-form"></form>');
        return;
      }
      const isKnown = (req.headers.cookie ?? "").includes("session=alice");
      res.writeHead(url.pathname === "/refused" ? 403 : isKnown ? 200 : 401).end(isKnown ? "hello alice" : "who?");
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  afterAll(() => server.close());
  const base = `http://localhost:${(server.address() as AddressInfo).port}`;
  return { base, posted, state };
}

test("at a service provider of SAML, from its own request and from here: it ends signed in", async () => {
  let sp: CarefulSp | null = null;
  const { url, close } = await serveApp(0, () => sp);
  afterAll(close);
  const [entityId, acs] = [`${url}/metadata`, `${url}/acs`];
  const idp = await createIdp({
    fixtures: { users: [{ username: "alice" }], clients: [{ client_id: entityId, saml: { acs: [acs] } }] },
  });
  afterAll(() => idp.close());
  const { certificate, entity_id, sso_url } = await idp.call("saml.show", {});
  sp = new CarefulSp({
    entityId,
    acs,
    takesUnsolicited: true,
    idp: { entityId: entity_id, sso: sso_url, certificate },
  });
  for (const start of [`${url}/login`, `${idp.issuer}/saml/start?sp=${encodeURIComponent(entityId)}`]) {
    const { fetch } = await signInWithoutBrowser(start, { user: "alice" });
    expect(await (await fetch(`${url}/me`)).text()).toContain("alice");
  }
});

test("at a service provider of SAML that posts its request: it ends at the app, with the response", async () => {
  let idpAddress = "";
  let posted: URLSearchParams | null = null;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      if (req.method === "POST") posted = new URLSearchParams(Buffer.concat(chunks).toString());
      const { origin } = new URL(`http://${req.headers.host ?? ""}`);
      const xml = `<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_1" Version="2.0" IssueInstant="${new Date(Date.now()).toISOString()}"><saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${origin}/metadata</saml:Issuer></samlp:AuthnRequest>`;
      const value = Buffer.from(xml).toString("base64");
      const form = `<form method="post" action="${idpAddress}/saml/sso"><input type="hidden" name="SAMLRequest" value="${value}"><input type="hidden" name="RelayState" value="r"><noscript><input type="submit"></noscript></form>`;
      res.writeHead(200, { "content-type": "text/html" }).end(req.url === "/login" ? form : "signed in");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  afterAll(() => server.close());
  const base = `http://localhost:${(server.address() as AddressInfo).port}`;
  const idp = await createIdp({
    fixtures: {
      users: [{ username: "alice" }],
      clients: [{ client_id: `${base}/metadata`, saml: { acs: [`${base}/acs`], nameid: "username" } }],
    },
  });
  afterAll(() => idp.close());
  // A server that is not idp gets nothing.
  idpAddress = base;
  expect(await signInWithoutBrowser(`${base}/login`, { user: "alice" })).toMatchObject({ url: `${base}/login` });
  expect(posted).toBeNull();
  idpAddress = idp.issuer;
  const { url, status } = await signInWithoutBrowser(`${base}/login`, { user: "alice" });
  expect([url, status]).toEqual([`${base}/acs`, 200]);
  const sent = posted as URLSearchParams | null;
  expect(sent?.get("RelayState")).toBe("r");
  expect(Buffer.from(sent?.get("SAMLResponse") ?? "", "base64").toString()).toContain(">alice</saml:NameID>");
});

describe("at an app", async () => {
  const { base, posted, state } = await startApp();
  const idp = await createIdp({
    fixtures: {
      users: [
        { username: "alice", factors: ["otp"] },
        { username: "carol", status: "suspended" },
      ],
      clients: [{ client_id: "app", client_secret: "secret", redirect_uris: [`${base}/cb`] }],
      settings: { acr: { "urn:mfa": ["otp"] } },
    },
  });
  afterAll(() => idp.close());

  test.each(["query", "form_post"])("response_mode %s: it ends signed in, with the app's cookies", async (mode) => {
    state.issuer = idp.issuer;
    state.options = { mode };
    const { url, status, cookies, fetch } = await signInWithoutBrowser(`${base}/login`, { user: "alice" });
    expect({ url, status, cookies }).toEqual({
      url: `${base}/me`,
      status: 200,
      cookies: expect.objectContaining({ session: "alice" }),
    });
    expect(await (await fetch(`${base}/me`)).text()).toBe("hello alice");
    await idp.reset();
  });

  test("what is not an address is named", async () => {
    for (const address of ["/login", "ftp://a.test/"]) {
      await expect(signInWithoutBrowser(address, { user: "alice" })).rejects.toThrow(
        `a sign-in begins at "${address}", which is not an http or https URL`,
      );
    }
  });

  test("approve: false denies, and the app is told", async () => {
    state.options = {};
    const denied = await signInWithoutBrowser(`${base}/login`, { user: "alice", approve: false });
    expect(denied).toMatchObject({ url: `${base}/refused?error=access_denied`, status: 403 });
  });

  test("the second step: a code that is given, and the one that the page shows", async () => {
    state.options = { acr: "urn:mfa" };
    const { code } = await idp.call("users.otp", { username: "alice" });
    for (const otp of [code ?? "", "auto"]) {
      expect(await signInWithoutBrowser(`${base}/login`, { user: "alice", otp })).toMatchObject({ status: 200 });
      await idp.clock.advance(30);
    }
    await expect(signInWithoutBrowser(`${base}/login`, { user: "alice" })).rejects.toThrow(/one-time code of alice/);
  });

  test("an issuer with a name, a user who may not sign in, and forms that are not idp's", async () => {
    state.options = {};
    const named = await idp.issuers.add("w1");
    state.issuer = named.issuer;
    expect(await signInWithoutBrowser(`${base}/login`, { user: "alice" })).toMatchObject({ url: `${base}/me` });
    await expect(signInWithoutBrowser(`${base}/login`, { user: "carol" })).rejects.toThrow(/suspended/);
    await expect(signInWithoutBrowser(`${base}/login`, { user: "nobody" })).rejects.toThrow(/./);
    posted.length = 0;
    expect(await signInWithoutBrowser(`${base}/own-form`, { user: "alice" })).toMatchObject({ status: 200 });
    expect(posted).toEqual([]);
  });
});
