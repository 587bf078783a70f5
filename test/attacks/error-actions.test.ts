import { describe, expect, test } from "vitest";
import { inspectorMarker, markedCsrf } from "../../src/core/inspector/access.ts";
import type { Idp } from "../../src/index.ts";
import { enroll, register, serve } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { Browser, formsOf, type Visit } from "../helpers/browser.ts";
import { authorizeUrl, pick } from "../helpers/client.ts";
import { csrfOf, openInspector } from "../helpers/inspector.ts";
import { rawRequest } from "../helpers/raw-http.ts";

/** The buttons of error pages: only a person in the inspector has them, and they do what they say and no more. */

const idp = await underAttack({ allowHosts: ["*"] });
const { origin } = new URL(idp.issuer);
const good = "http://localhost:3999/cb";
const button = /fix-(add-redirect-uri|create-client|restore)"/;
const cookieOf = (browser: Browser, kind: "inspector" | "inside", { port } = idp): string =>
  browser.cookies.get(`idp_${port}_${kind}`) ?? "";

type Fields = Record<string, string>;

const fieldsOf = ({ body }: Visit): Fields =>
  Object.fromEntries(formsOf(body).find(({ action }) => action.endsWith("/_idp/fix"))?.fields ?? []);

const post = (browser: Browser, fields: Fields, headers: Record<string, string> = { origin }, to = idp) =>
  browser.request(`${to.issuer}/_idp/fix`, { method: "POST", headers, body: new URLSearchParams(fields) });

/** A form with the value that belongs to it: only what it asks for is wrong. */
function forged(browser: Browser, [fix, request, username = ""]: readonly string[], to = idp): Fields {
  const marker = inspectorMarker(cookieOf(browser, "inspector", to));
  const change = [fix ?? "", request ?? "", username];
  return { csrf: markedCsrf(marker, change), fix: change[0] ?? "", request: change[1] ?? "", username };
}

const urisOf = async (client_id: string, of: Idp = idp) =>
  (await of.call("clients.show", { client_id })).redirect_uris.filter(
    (uri) => uri !== "http://localhost:3000/callback",
  );

/** A person in the inspector, before the button of a new client. */
async function atButton() {
  const { browser } = await openInspector(idp);
  const { credentials, url } = await register(idp);
  const fields = fieldsOf(await browser.open(url({ redirect_uri: good })));
  return { browser, fields, client_id: credentials.client_id };
}

test("the unchanged form passes, so the refusals below are for the change alone", async () => {
  const { browser, fields, client_id } = await atButton();
  expect((await post(browser, fields)).status).toBe(303);
  expect(await urisOf(client_id)).toEqual([good]);
});

describe("the form is refused", () => {
  const others = ["https://evil.test", "null", "", `http://localhost:${idp.port + 1}`, `https://localhost:${idp.port}`];
  test.each([...others, `http://sub.localhost:${idp.port}`])("from the origin %j", async (foreign) => {
    const { browser, fields, client_id } = await atButton();
    const headers = { origin: foreign, "sec-fetch-site": "same-origin" };
    expect((await post(browser, fields, headers)).status).toBe(403);
    expect(await urisOf(client_id)).toEqual([]);
  });

  test("without an Origin", async () => {
    const { browser, fields, client_id } = await atButton();
    expect((await post(browser, fields, {})).status).toBe(403);
    expect(await urisOf(client_id)).toEqual([]);
  });

  test("without the cookie of the inspector: with none, with the marker alone, with the marker in its place", async () => {
    const { browser, fields, client_id } = await atButton();
    const marker = cookieOf(browser, "inside");
    expect(marker).toMatch(/^[\w-]{43}$/);
    for (const cookies of [{}, { inside: marker }, { inside: marker, inspector: marker }]) {
      const other = new Browser(idp.issuer);
      for (const [kind, value] of Object.entries(cookies)) other.setCookie(`idp_${idp.port}_${kind}`, value);
      const answer = await post(other, fields);
      expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining("idp open") as string]);
    }
    expect(await urisOf(client_id)).toEqual([]);
  });

  test("with another csrf value: missing, guessed, of the inspector, of another session, the marker itself", async () => {
    const { browser, fields, client_id } = await atButton();
    const { browser: another } = await openInspector(idp);
    const theirs = forged(another, ["add-redirect-uri", fields["request"] ?? ""])["csrf"] ?? "";
    const ofInspector = csrfOf(await browser.open("/_idp/users"));
    for (const csrf of ["", "guessed", ofInspector, theirs, cookieOf(browser, "inside")]) {
      expect((await post(browser, { ...fields, csrf })).status).toBe(403);
    }
    expect(await urisOf(client_id)).toEqual([]);
  });

  test("with one field changed: the query, the action, the user", async () => {
    const { browser, fields, client_id } = await atButton();
    const request = fields["request"] ?? "";
    for (const change of [
      { request: request.replace("3999", "4000") },
      { request: request.replace(client_id, "demo-app") },
      { request: `${request}&prompt=none` },
      { fix: "create-client" },
      { fix: "restore" },
      { username: "carol" },
    ]) {
      expect([change, (await post(browser, { ...fields, ...change })).status]).toEqual([change, 403]);
    }
    expect([await urisOf(client_id), await urisOf("demo-app")]).toEqual([[], []]);
    expect(await idp.call("users.show", { username: "carol" })).toMatchObject({ status: "suspended" });
  });

  test("as a GET, and as JSON", async () => {
    const { browser, fields, client_id } = await atButton();
    const query = new URLSearchParams(fields).toString();
    expect((await browser.request(`/_idp/fix?${query}`, { headers: { origin } })).status).toBe(405);
    const headers = { origin, "content-type": "application/json" };
    const answer = await browser.request("/_idp/fix", { method: "POST", headers, body: JSON.stringify(fields) });
    expect(answer.status).toBe(415);
    expect(await urisOf(client_id)).toEqual([]);
  });
});

test("the value of the form opens nothing in the inspector", async () => {
  const { browser, fields } = await atButton();
  const body = new URLSearchParams({ csrf: fields["csrf"] ?? "", change: "ban", target: "bob" });
  expect((await browser.request("/_idp/change", { method: "POST", headers: { origin }, body })).status).toBe(403);
});

test.each([
  "https://evil.test/cb",
  "http://evil.test/cb",
  "https://localhost.evil.test/cb",
  "https://localhost@evil.test/cb",
  "https://localhost:1@evil.test/cb",
  "https://evil.test/?u=http://localhost/",
  "https://evil.test#@localhost/",
  "http:localhost:3999/cb",
  "http://localhost:*/cb",
  "http://localhost:3999/cb\r\nSet-Cookie: a=b",
  "http://localhost:3999/cb\nX: y",
  "http://localhost\\@evil.test/cb",
  "http://127.0.0.1.evil.test/",
  "http://192.168.1.7/cb",
  "com.example.app:/cb",
  "javascript:alert(1)",
  "",
])("the redirect URI %j is never offered, and no form registers it", async (uri) => {
  const { browser } = await openInspector(idp);
  const { credentials, url } = await register(idp);
  const { client_id } = credentials;
  for (const change of [{ redirect_uri: uri }, { redirect_uri: uri, client_id: "unheard-of" }]) {
    const page = await browser.open(url(change));
    expect([page.status, button.test(page.body)]).toEqual([400, false]);
  }
  const known = new URLSearchParams({ client_id, redirect_uri: uri }).toString();
  const unknown = new URLSearchParams({ client_id: "unheard-of", redirect_uri: uri }).toString();
  expect((await post(browser, forged(browser, ["add-redirect-uri", known]))).status).toBe(409);
  expect((await post(browser, forged(browser, ["create-client", unknown]))).status).toBe(409);
  expect(await urisOf(client_id)).toEqual([]);
  await expect(idp.call("clients.show", { client_id: "unheard-of" })).rejects.toThrow("no client");
});

test("a parameter stays in the query: it makes no header and no other path", async () => {
  const { browser } = await openInspector(idp);
  const { url, credentials } = await register(idp);
  const state = "\r\nSet-Cookie: planted=1\r\n\r\n<script>//evil.test";
  const page = await browser.open(url({ redirect_uri: good, state, "x\r\nLocation: //evil.test": "y" }));
  expect(page.body).not.toContain("<script>//");
  const answer = await post(browser, fieldsOf(page));
  expect(answer.headers.getSetCookie()).toEqual([]);
  const location = new URL(answer.headers.get("location") ?? "", origin);
  expect([location.origin, location.pathname]).toEqual([origin, "/api/v2/oauth/authorize"]);
  expect([location.searchParams.get("state"), location.searchParams.get("client_id")]).toEqual([
    state,
    credentials.client_id,
  ]);
});

test.each([
  "//evil.test/interaction/a/login",
  "/interaction/../../login",
  "/interaction/a/login?x",
  "https://evil.test",
])("a sign-in never continues at an address such as %j", async (request) => {
  const { browser } = await openInspector(idp);
  const answer = await post(browser, forged(browser, ["restore", request, "carol"]));
  expect([answer.status, answer.headers.get("location")]).toEqual([409, null]);
  expect(await idp.call("users.show", { username: "carol" })).toMatchObject({ status: "suspended" });
});

test("if other machines can reach the server, there is no button, and no form is accepted", async () => {
  const open = await serve({ host: "0.0.0.0" });
  const { browser } = await openInspector(open);
  const { credentials, url } = await register(open);
  const { client_id } = credentials;
  const carol = await enroll(open, { status: "suspended" });
  const login = await browser.open(url());
  const pages = [
    await browser.open(url({ redirect_uri: good })),
    await browser.open(authorizeUrl(open, { client_id: "unheard-of", redirect_uri: good })),
    await pick(browser, login, carol),
  ];
  expect(pages.map(({ state }) => state)).toEqual(["redirect-uri", "client", "error-suspended"]);
  expect(pages.filter(({ body }) => button.test(body))).toEqual([]);
  const request = new URLSearchParams({ client_id, redirect_uri: good }).toString();
  const headers = { origin: new URL(open.issuer).origin };
  for (const form of [
    ["add-redirect-uri", request],
    ["create-client", request.replace(client_id, "unheard-of")],
    ["restore", "/interaction/a/login", carol],
  ]) {
    expect((await post(browser, forged(browser, form, open), headers, open)).status).toBe(409);
  }
  expect(await urisOf(client_id, open)).toEqual([]);
  expect(await open.call("users.show", { username: carol })).toMatchObject({ status: "suspended" });
});

describe("no button", () => {
  const path = authorizeUrl(idp, { redirect_uri: good }).slice(idp.issuer.length);

  test("for a marker that is made up, or of another server", async () => {
    const other = await serve();
    const { browser: theirs } = await openInspector(other);
    for (const marker of ["", "A".repeat(43), cookieOf(theirs, "inside", other)]) {
      const browser = new Browser(idp.issuer);
      browser.setCookie(`idp_${idp.port}_inside`, marker);
      expect((await browser.open(path)).body).not.toMatch(button);
    }
  });

  test("under a name that only * allows (DNS rebinding)", async () => {
    const { browser } = await openInspector(idp);
    const cookie = `idp_${idp.port}_inside=${cookieOf(browser, "inside")}`;
    const under = (host: string) =>
      rawRequest(
        idp.port,
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nAccept: text/html\r\nCookie: ${cookie}\r\n\r\n`,
      );
    expect((await under(`localhost:${idp.port}`)).body).toMatch(button);
    expect((await under("evil.test")).body).not.toMatch(button);
  });
});

test("the page with a button is not framed, not cached, and sends no referrer", async () => {
  const { browser } = await openInspector(idp);
  const { body, headers } = await browser.open(authorizeUrl(idp, { redirect_uri: good }));
  expect(body).toMatch(button);
  expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("referrer-policy")).toBe("same-origin");
});
