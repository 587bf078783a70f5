import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { approve, Browser } from "../helpers/browser.ts";
import { csrfOf, openInspector } from "../helpers/inspector.ts";
import { rawRequest } from "../helpers/raw-http.ts";
import { attackedInspector, inside } from "../helpers/attacked-inspector.ts";

/** The inspector without its key: nothing is shown, nothing is changed. inspector-key.test.ts has the key itself. */

const { idp, events, origin, host, newKey, place, at, get } = await attackedInspector();
const tabs = ["", "users", "clients", "grants", "tokens", "testing", "fixtures"].map(at);
const others = ["sign-ins/f1", "stream"].map(at);
const changes = ["change", "tokens"].map(at);

describe("without the cookie, each tab says how to get in, and nothing else", () => {
  const cookie = `idp_${idp.port}_inspector`;
  test.each([
    ["no cookie", {}],
    ["an empty one", { cookie: `${cookie}=` }],
    ["a made-up one", { cookie: `${cookie}=${"A".repeat(43)}` }],
    ["the admin token in its place", { cookie: `${cookie}=${idp.adminToken}` }],
    ["the admin token as a bearer", { authorization: `Bearer ${idp.adminToken}` }],
  ])("%s", async (_name, headers) => {
    for (const path of [...tabs, ...others]) {
      const { response, body } = await get(path, headers);
      expect([path, response.status]).toEqual([path, 403]);
      expect(body).toContain('data-state="forbidden"');
      expect(body).toContain("<code>idp open</code>");
      expect(body).not.toMatch(inside);
    }
    for (const path of changes) {
      const body = new URLSearchParams({ change: "ban", target: "alice" });
      const { status } = await fetch(origin + path, { method: "POST", headers: { ...headers, origin }, body });
      expect(status).toBe(403);
    }
    expect(await idp.call("users.show", { username: "alice" })).toMatchObject({ status: "active" });
  });

  test("the cookie of another issuer on another port opens nothing, under its own name or under ours", async () => {
    const other = await serve();
    const { browser } = await openInspector(other);
    const [[name, value] = ["", ""]] = browser.cookies;
    expect(name).toBe(`idp_${other.port}_inspector`);
    for (const given of [name, cookie]) {
      expect((await get(at("users"), { cookie: `${given}=${value}` })).response.status).toBe(403);
    }
  });
});

describe("the path", () => {
  /** The random part, which nobody else may know. */
  const secret = place.split("/")[2] ?? "";

  test("has 128 bits, other ones for each issuer", async () => {
    expect(place).toBe(`/_idp/${secret}/`);
    expect(Buffer.from(secret, "base64url")).toHaveLength(16);
    await idp.issuers.add("other", {});
    const { url } = await idp.issuers.get("other").call("inspector.open", {});
    expect(url).not.toContain(secret);
    expect((await get(`/i/other${place}`)).response.status).toBe(404);
  });

  test("is on no page for apps or users, in no redirect, no header and no error, for a person in the inspector too", async () => {
    // With a picker.
    const own = await serve();
    const { browser, at } = await openInspector(own);
    const secret = at().split("/").at(-2) ?? "";
    expect((await browser.open(at())).body).toContain(secret);
    const app = await register(own);
    const login = await browser.open(app.url());
    const consent = await browser.press(login, "login-as-alice");
    const done = await approve(browser, consent);
    const paths = [
      ...["/", "/account", "/device", "/nothing", "/_idp", "/_idp/", "/_idp/users", "/_idp/nothing", "/_idp/health"],
      ...["/_idp/assets/style.css", "/_idp/assets/inspector.js", "/.well-known/openid-configuration"],
      ...["/api/v2/oauth/logout", "/api/v2/oauth/jwks", "/api/v2/oauth/authorize?client_id=nobody", "/%"],
      app.url({ redirect_uri: "http://localhost:3999/" }),
      app.url({ prompt: "none" }),
    ];
    const shown = [login, consent, done, ...(await Promise.all(paths.map((path) => browser.open(path))))];
    const json = await Promise.all(
      paths.map(async (path) => (await fetch(new URL(path, own.issuer), { redirect: "manual" })).text()),
    );
    const all = [
      ...json,
      ...shown.map(({ body, headers, url, left }) => [body, url, left?.href, ...headers].join("\n")),
    ];
    expect(all.filter((text) => text.includes(secret))).toEqual([]);
  });

  test("is in no line of the log: not of its pages, not of what is not there, not of a refused form", async () => {
    const { browser } = await openInspector(idp);
    await browser.open(at("users"));
    await browser.open(at("nothing"));
    await get(at("users"));
    await fetch(origin + at("change"), { method: "POST", body: new URLSearchParams({ change: "ban" }) });
    const lines = events.filter(({ path }) => path.startsWith("/_idp/…/"));
    expect(lines.map(({ status }) => status)).toEqual(expect.arrayContaining([200, 404, 403]));
    expect(JSON.stringify(events)).not.toContain(secret);
  });

  test("the ledger, and the inspector under the issuer of a vendor's layout, hold none of its requests", async () => {
    const laidOut = await serve({ settings: { endpoints: "keycloak" } });
    const { url } = await laidOut.call("inspector.open", {});
    await fetch(url);
    await fetch(laidOut.issuer + new URL(url).pathname.slice(new URL(laidOut.issuer).pathname.length));
    expect(await laidOut.call("requests.list", {})).toEqual([]);
  });
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
  "http://localhost:3999/cb\nX: y",
  "http://localhost\\@evil.test/cb",
  "http://127.0.0.1.evil.test/",
  "http://192.168.1.7/cb",
  "com.example.app:/cb",
  "javascript:alert(1)",
  "",
])("anybody can send a request with the redirect URI %j: no button registers it", async (uri) => {
  const browser = new Browser(idp.issuer);
  const { url } = await register(idp);
  for (const change of [{ redirect_uri: uri }, { redirect_uri: uri, client_id: "unheard-of" }]) {
    const page = await browser.open(url(change));
    const flow = /idp open (f\d+)/.exec(page.body)?.[1];
    const { first } = await openInspector(idp, flow);
    expect([page.status, first.state, /id="(add-redirect-uri|create-client)-/.test(first.body)]).toEqual([
      400,
      "sign-in",
      false,
    ]);
  }
});

describe("a change", () => {
  const send = async (path: string, change: (sent: { csrf: string; headers: Record<string, string> }) => void) => {
    const { browser } = await openInspector(idp);
    const sent = { csrf: csrfOf(await browser.open(at("users"))), headers: { origin } };
    change(sent);
    const body = new URLSearchParams({ csrf: sent.csrf, change: "ban", target: "bob", token: "a.b.c" });
    return browser.request(origin + path, { method: "POST", headers: sent.headers, body });
  };
  const untouched = async () =>
    expect(await idp.call("users.show", { username: "bob" })).toMatchObject({ status: "active" });

  test.each([
    "https://evil.test",
    "null",
    "",
    `http://localhost:${idp.port + 1}`,
    `https://localhost:${idp.port}`,
    `http://localhost.evil.test:${idp.port}`,
    `http://sub.localhost:${idp.port}`,
  ])("from the origin %j is refused, with the cookie and the csrf value", async (foreign) => {
    for (const path of changes) {
      const { status } = await send(
        path,
        (sent) => (sent.headers = { origin: foreign, "sec-fetch-site": "same-origin" }),
      );
      expect([path, status]).toEqual([path, 403]);
    }
    await untouched();
  });

  test("without an Origin is refused", async () => {
    for (const path of changes) expect((await send(path, (sent) => (sent.headers = {}))).status).toBe(403);
    await untouched();
  });

  test("without the csrf value of this very session is refused", async () => {
    const others = csrfOf(await (await openInspector(idp)).browser.open(at("users")));
    for (const csrf of ["", "guessed", others]) {
      for (const path of changes) expect((await send(path, (sent) => (sent.csrf = csrf))).status).toBe(403);
    }
    await untouched();
  });

  test("does nothing as GET, which leads to its tab, and is refused as JSON", async () => {
    const { browser } = await openInspector(idp);
    const csrf = csrfOf(await browser.open(at("users")));
    const query = new URLSearchParams({ csrf, change: "ban", target: "bob" }).toString();
    const opened = await browser.request(at(`change?${query}`), { headers: { origin } });
    expect([opened.status, opened.headers.get("location")]).toEqual([303, at("users")]);
    const headers = { origin, "content-type": "application/json" };
    const body = JSON.stringify({ csrf, change: "ban", target: "bob" });
    expect((await browser.request(at("change"), { method: "POST", headers, body })).status).toBe(415);
    await untouched();
  });

  test("of an unknown name does nothing", async () => {
    const { browser } = await openInspector(idp);
    const csrf = csrfOf(await browser.open(at("users")));
    for (const change of ["__proto__", "constructor", "toString", "users.remove", ""]) {
      const body = new URLSearchParams({ csrf, change, target: "bob" });
      const { status } = await browser.request(at("change"), { method: "POST", headers: { origin }, body });
      expect([change, status]).toEqual([change, 422]);
    }
  });
});

test("DNS rebinding: under a name that only * allows, cookie and key open nothing", async () => {
  const { browser } = await openInspector(idp);
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const raw = (path: string, more = "") =>
    rawRequest(idp.port, `GET ${path} HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n${more}\r\n`);
  const seen = await raw(at("users"), `Cookie: ${cookie}\r\nAccept: text/html\r\n`);
  expect([seen.status, inside.test(seen.body)]).toEqual([403, false]);
  const { pathname, search } = new URL(await newKey());
  expect((await raw(pathname + search)).status).toBe(403);
  expect((await get(pathname + search)).response.status).toBe(303);
});

test("no address makes a page claim that something was done", async () => {
  const { browser } = await openInspector(idp);
  const forged = new URLSearchParams({ done: "suspend", target: "call 555-1234", value: "", proof: "x" }).toString();
  const page = await browser.open(at(`users?${forged}`));
  expect(page.body).not.toContain("inspector-done");
});

test("no page of it is framed, kept or sent to others", async () => {
  const { browser } = await openInspector(idp);
  for (const path of tabs.slice(1)) {
    const { headers } = await browser.open(path);
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
    expect(headers.get("access-control-allow-origin")).toBeNull();
    expect(["same-origin", "no-referrer"]).toContain(headers.get("referrer-policy"));
  }
});

test("a session ends with the process", async () => {
  const first = await serve();
  const { browser, at } = await openInspector(first);
  const { port, issuer } = first;
  const before = at("").slice(issuer.length);
  await first.close();
  const second = await serve({ port });
  const [[name, value] = ["", ""]] = browser.cookies;
  const now = new URL((await second.call("inspector.open", {})).url).pathname;
  expect(now).not.toBe(before);
  for (const [place, expected] of [
    [before, 404],
    [now, 403],
  ] as const) {
    const bytes = `GET ${place}users HTTP/1.1\r\nHost: localhost\r\nCookie: ${name}=${value}\r\nConnection: close\r\n\r\n`;
    const { status, body } = await rawRequest(port, bytes);
    expect([status, inside.test(body)]).toEqual([expected, false]);
  }
});

test("names of clients and users are shown as text on every tab", async () => {
  const mark = `"'><img src=x onerror=alert(1)>`;
  await idp.call("seed", {
    users: [{ username: "marked", displayName: mark, claims: { roles: [mark] } }],
    clients: [{ client_id: "marked", client_name: mark, redirect_uris: ["http://localhost:1/"] }],
  });
  const { browser } = await openInspector(idp);
  for (const path of tabs) {
    const page = await browser.open(`${path}?q=&x=${encodeURIComponent(mark)}`);
    expect(page.body).not.toContain("<img");
  }
  const found = await browser.open(at(`users?q=${encodeURIComponent(mark)}`));
  expect(found.body).not.toContain("<img");
  expect(host).toBe(new URL(found.url).host);
});
