import { SignJWT, exportJWK, generateKeyPair } from "jose";
import { describe, expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl, exchange, paths, pick, pkce, post, refresh, signIn, userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";
import { documentServer, redirectUri } from "../helpers/document-server.ts";
import { openInspector } from "../helpers/inspector.ts";

/** Clients that nobody registered: their client_id is the URL of their metadata (OAuth Client ID Metadata Document). */

const documents = await documentServer();
const clock = testClock();
const idp = await serve({
  now: clock.now,
  settings: { client_metadata_documents: true, client_metadata_loopback: true },
});
/** A document that does not say how long it may be remembered is good for 5 s. */
const untilReadAgain = () => {
  clock.pass(6);
};
const { verifier, challenge } = pkce();

const asked = (client_id: string, change: Readonly<Record<string, string | null>> = {}) => ({
  client_id,
  redirect_uri: redirectUri,
  code_challenge: challenge,
  code_challenge_method: "S256",
  ...change,
});
const publicClient = (client_id: string) => ({ client_id, client_secret: null, redirect_uri: redirectUri });
const codeFor = async (url: string, change = {}) => (await signIn(idp, asked(url, change))).code;
const redeem = (url: string, code: string) => exchange(idp, code, { ...publicClient(url), code_verifier: verifier });

/** Signs in and redeems the code. */
const tokensOf = async (url: string) => (await redeem(url, await codeFor(url))).json;

const lastRequest = async (filter: object) => (await idp.call("requests.list", { ...filter })).at(-1);

test("a client signs in, refreshes and is revoked, as a registered one", async () => {
  const url = documents.publish("/shelf.json", { client_name: "Shelf", "client_name#tr": "Raf" });
  const tokens = await tokensOf(url);
  expect(tokens.error).toBeUndefined();
  expect((await userinfo(idp, tokens.access_token)).json).toMatchObject({ email: "alice@example.com" });
  const refreshed = (await refresh(idp, tokens.refresh_token, publicClient(url))).json;
  expect((await userinfo(idp, refreshed.access_token)).status).toBe(200);
  const granted = await idp.call("grants.list", { client: url });
  expect(granted).toMatchObject([{ user: "alice", status: "active" }]);
  expect((await idp.revoke({ user: "alice", client: url })).revoked).toHaveLength(1);
  expect((await userinfo(idp, refreshed.access_token)).json.error).toBe("access_revoked");
  expect((await refresh(idp, refreshed.refresh_token, publicClient(url))).json.error).toBe("invalid_grant");
});

test("operators see where it comes from, may remove it, and change nothing", async () => {
  const url = documents.publish("/seen.json");
  await tokensOf(url);
  expect(await idp.call("clients.show", { client_id: url })).toMatchObject({ metadata_document: true, public: true });
  await expect(idp.call("clients.edit", { client_id: url, client_name: "Mine" })).rejects.toThrow("metadata document");
  await expect(idp.call("clients.rotate-secret", { client_id: url })).rejects.toThrow("metadata document");
  const { browser, at } = await openInspector(idp);
  const inspector = (await browser.open(at(`clients?q=${encodeURIComponent(url)}`))).body;
  expect(inspector).toContain("by metadata document, not registered");
  expect(inspector).not.toContain("Add a redirect URI");
  const file = (await idp.call("export", { as: "fixtures" })) as { readonly clients: readonly object[] };
  expect(JSON.stringify(file)).not.toContain(url);
  await idp.call("clients.remove", { client_id: url });
  expect((await tokensOf(url)).access_token).toBeDefined();
});

test("the ledger has the document, without secrets", async () => {
  const url = documents.publish("/noted.json", { client_name: "Noted" });
  await codeFor(url);
  const record = await lastRequest({ endpoint: "authorize" });
  expect(record).toMatchObject({ client: url, metadata_document: { client_id: url, client_name: "Noted" } });
  const leaky = documents.publish("/leaky.json", { client_secret: "not so secret after all" });
  await fetch(authorizeUrl(idp, asked(leaky)));
  const refused = await lastRequest({ endpoint: "authorize" });
  expect(refused?.error).toContain("it contains client_secret");
  expect(refused?.rule).toBe("Client ID Metadata Document 4.1");
  expect(refused?.metadata_document).toMatchObject({ client_name: "Shelf", client_secret: "…" });
  expect(JSON.stringify(refused)).not.toContain("not so secret");
});

test("metadata says so, and only where it is on", async () => {
  const read = async (issuer: string) =>
    (await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json()) as Record<string, unknown>;
  expect(await read(idp.issuer)).toMatchObject({ client_id_metadata_document_supported: true });
  const off = await serve();
  expect(await read(off.issuer)).not.toHaveProperty("client_id_metadata_document_supported");
  const url = documents.publish("/off.json");
  const before = documents.reads.length;
  const page = await new Browser(off.issuer).open(authorizeUrl(off, asked(url)));
  expect([page.status, page.page, documents.reads.length]).toEqual([400, "error", before]);
  expect(page.body).toContain("--client-metadata-documents");
});

describe("the consent page", () => {
  const consentOf = async (url: string, redirect_uri: string) => {
    const browser = new Browser(idp.issuer);
    const page = await pick(browser, await browser.open(authorizeUrl(idp, asked(url, { redirect_uri }))), "bob");
    const text = (id: string): string | undefined =>
      new RegExp(`data-testid="${id}">(.*?)</p>`).exec(page.body)?.[1]?.replaceAll(/<[^>]*>/g, "");
    return ["consent-client-host", "consent-redirect-host", "consent-loopback"].map(text);
  };

  test("names both hosts, and warns where this request returns to loopback", async () => {
    const here = new URL(documents.base).host;
    const url = documents.publish("/near.json", {
      redirect_uris: [redirectUri, "http://[::1]/cb", "http://127.0.0.1/cb", "https://shelf.example/cb", "shelf:/cb"],
    });
    for (const uri of ["http://127.0.0.1:51004/cb", "http://[::1]:51004/cb", redirectUri]) {
      const [host, back, warning] = await consentOf(url, uri);
      expect(host).toContain(here);
      expect(back).toContain(new URL(uri).host);
      expect(warning).toContain("can pretend to be it");
    }
    for (const uri of ["https://shelf.example/cb", "shelf:/cb"]) {
      expect(await consentOf(url, uri)).toEqual([expect.stringContaining(here), expect.any(String), undefined]);
    }
  });

  test("of a registered client has neither", async () => {
    const [host, , warning] = await consentOf("demo-app", redirectUri);
    expect([host, warning]).toEqual([undefined, undefined]);
  });
});

describe("a sign-in uses the document it began with", () => {
  test("although the document changes before the person decides, and before the code is redeemed", async () => {
    const url = documents.publish("/changing.json", { client_name: "First name" });
    const browser = new Browser(idp.issuer);
    const login = await browser.open(authorizeUrl(idp, asked(url)));
    const replaced = { client_name: "Second name", redirect_uris: ["http://localhost:3000/elsewhere"] };
    documents.publish("/changing.json", { ...replaced, grant_types: ["refresh_token"], response_types: [] });
    untilReadAgain();
    expect((await fetch(authorizeUrl(idp, asked(url)), { redirect: "manual" })).status).toBe(400);
    const consent = await pick(browser, login, "alice");
    expect(consent.body).toContain("First name");
    const { left } = await browser.press(consent, "consent-allow");
    const { json } = await redeem(url, left?.searchParams.get("code") ?? "");
    expect(json).toMatchObject({ token_type: "Bearer" });
    // The next request uses the new one.
    documents.publish("/changing.json", { ...replaced, grant_types: ["authorization_code"] });
    untilReadAgain();
    const refused = await refresh(idp, json.refresh_token, publicClient(url));
    expect(refused.json.error).toBe("unauthorized_client");
  });

  test("also from a pushed request on, and on a device", async () => {
    const device = "urn:ietf:params:oauth:grant-type:device_code";
    const url = documents.publish("/pushed.json", { grant_types: ["authorization_code", "refresh_token", device] });
    const pushed = await post(
      idp,
      "/api/v2/oauth/par",
      {},
      {
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ ...asked(url), response_type: "code", scope: "openid" }),
      },
    );
    expect(pushed.status).toBe(201);
    const begun = await post(
      idp,
      "/api/v2/oauth/device_authorization",
      {},
      {
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ client_id: url, scope: "openid" }),
      },
    );
    documents.answer("/pushed.json", (_req, res) => res.writeHead(410).end());
    const request_uri = String(pushed.json["request_uri"]);
    const nothing = { redirect_uri: null, response_type: null, scope: null, state: null, nonce: null };
    const { code, browser } = await signIn(idp, { ...nothing, client_id: url, request_uri });
    expect((await redeem(url, code)).status).toBe(200);
    const page = await browser.open(String(begun.json["verification_uri_complete"]));
    expect(page.body).toContain('data-testid="device-client-host"');
    expect((await browser.press(page, "device-allow")).body).toContain("device-done");
    const poll = { client_id: url, client_secret: null, grant_type: device };
    expect((await post(idp, paths.token, { ...poll, device_code: String(begun.json["device_code"]) })).status).toBe(
      200,
    );
  });
});

test("private_key_jwt proves the client by the keys in its document", async () => {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const jwks = { keys: [await exportJWK(publicKey)] };
  const url = documents.publish("/keyed.json", { token_endpoint_auth_method: "private_key_jwt", jwks });
  const assertion = (key = privateKey) =>
    new SignJWT({ jti: crypto.randomUUID() })
      .setProtectedHeader({ alg: "ES256" })
      .setIssuer(url)
      .setSubject(url)
      .setAudience(idp.issuer)
      .setIssuedAt(clock.now() / 1000)
      .setExpirationTime(clock.now() / 1000 + 60)
      .sign(key);
  const redeemWith = async (client_assertion: string | null) =>
    exchange(idp, await codeFor(url), {
      ...publicClient(url),
      code_verifier: verifier,
      client_assertion,
      client_assertion_type:
        client_assertion === null ? null : "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    });
  expect((await redeemWith(await assertion())).status).toBe(200);
  expect((await redeemWith(null)).json.error).toBe("invalid_client");
  expect((await redeemWith(await assertion((await generateKeyPair("ES256")).privateKey))).json.error).toBe(
    "invalid_client",
  );
});

test("a loopback address without a port matches any port; localhost matches exactly", async () => {
  const url = documents.publish("/ports.json", { redirect_uris: ["http://127.0.0.1/cb", "http://localhost:3000/cb"] });
  const status = async (redirect_uri: string) =>
    (await fetch(authorizeUrl(idp, asked(url, { redirect_uri })), { redirect: "manual" })).status;
  expect(await status("http://127.0.0.1:51004/cb")).toBe(303);
  expect(await status("http://localhost:3000/cb")).toBe(303);
  expect(await status("http://localhost:3001/cb")).toBe(400);
});

test("empty members, loose spaces and undefined scopes are no reason to refuse a document", async () => {
  const change = { client_uri: "", token_endpoint_auth_method: "", jwks_uri: "" };
  const empty = documents.publish("/empty.json", { ...change, scope: "" });
  expect((await tokensOf(empty)).access_token).toBeDefined();
  const loose = documents.publish("/loose.json", { scope: "  openid   profile email " });
  expect((await tokensOf(loose)).scope).toBe("openid profile email");
  const undefinedOnes = documents.publish("/undefined-scopes.json", { scope: "mcp:read" });
  expect((await tokensOf(undefinedOnes)).scope).toBe("openid profile email");
});

test("a refusal says where to add what is missing, and no command edits the document", async () => {
  const url = documents.publish("/missing.json", { scope: "openid" });
  const page = await new Browser(idp.issuer).open(
    authorizeUrl(idp, asked(url, { redirect_uri: "http://localhost:3000/x" })),
  );
  expect(page.body).toContain(`Add it to the metadata document of the client, ${url}`);
  expect(page.body).not.toContain("clients edit");
  const broken = documents.publish("/broken.json", { client_name: undefined });
  const refused = await new Browser(idp.issuer).open(authorizeUrl(idp, asked(broken)));
  expect([refused.page, refused.state]).toEqual(["error", "document"]);
});

test("a registered client with such an id is not read", async () => {
  const url = `${documents.base}/registered.json`;
  await idp.call("clients.add", { client_id: url, token_endpoint_auth_method: "none", redirect_uris: [redirectUri] });
  expect((await tokensOf(url)).access_token).toBeDefined();
  expect(documents.reads).not.toContain("/registered.json");
});
