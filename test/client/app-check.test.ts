import { createServer, type AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { wrote } from "../../src/check/frame/app.ts";
import type { CaseResult } from "../../src/check/frame/verdict.ts";
import { ScriptlessBrowser } from "../../src/client/browser.ts";
import { onlyForm, refreshOf } from "../../src/client/app/html.ts";
import { smallBrowser } from "../../src/client/app/small-browser.ts";
import { endBefore, newProgress } from "../../src/client/app/progress.ts";
import { nearLookup } from "../../src/check/frame/near.ts";
import { reportOf } from "../../src/check/frame/report.ts";
import { checkClient } from "../../src/check/client/check.ts";
import { serveApp } from "../helpers/serve-app.ts";

/** The parts of `idp check client`: its cookies, as much HTML as it reads, and its reports. */

const app = new URL("http://app.test/login/start");

test.each([
  ["a=1", "http://app.test/login/next", "a=1"],
  ["a=1", "http://app.test/other", ""],
  ["a=1; Path=/", "http://app.test:8080/other", "a=1"],
  ["a=1; Path=/", "http://sub.app.test/", ""],
  ["a=1; Path=/; Domain=app.test", "http://sub.app.test/", "a=1"],
  ["a=1; Path=/; Domain=test", "http://app.test/", ""],
  ["a=1; Path=/; Domain=other.test", "http://other.test/", ""],
  ["a=1; Path=/; Secure", "http://app.test/", ""],
  ["a=1; Path=/; Max-Age=0", "http://app.test/", ""],
  ["a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "http://app.test/", ""],
  ["a=1; Path=/x", "http://app.test/xy", ""],
])("%s is sent to %s as %j", (line, address, expected) => {
  const browser = new ScriptlessBrowser();
  browser.keep(app, [line]);
  expect(browser.cookieHeader(new URL(address))).toBe(expected);
});

test("the loopback is secure, and __Host- has rules of its own", () => {
  const browser = new ScriptlessBrowser();
  const local = new URL("http://localhost:3000/");
  browser.keep(local, ["__Host-a=1; Path=/; Secure", "__Host-b=1; Path=/b; Secure", "__Secure-c=1; Path=/"]);
  expect(browser.cookieHeader(local)).toBe("__Host-a=1");
});

test("a host without a dot may name itself as the domain of its cookies (RFC 6265 5.3)", () => {
  for (const host of ["web", "[::1]", "localhost"]) {
    const browser = new ScriptlessBrowser();
    const url = new URL(`http://${host}:3000/`);
    browser.keep(url, [`a=1; Domain=${host}`, "b=2; Domain=test", "c=3; Domain=; Path=/"]);
    expect(browser.cookieHeader(url)).toBe("a=1; c=3");
  }
});

test("what an app wrote on the page of its error is said, cut, and without tokens or scripts", async () => {
  const token = `${"ey".padEnd(20, "J")}.${"ey".padEnd(20, "J")}.sig`;
  const { url, close } = await serveApp(0, () => ({
    handle(_request, response) {
      const page = `<title>x</title><h1>Bad &amp; worse</h1><script>no()</script><pre>${token} ${"long ".repeat(50)}</pre>`;
      response.writeHead(500, { "content-type": "text/html" }).end(page);
      return Promise.resolve();
    },
  }));
  onTestFinished(close);
  const places = { issuer: "http://idp.test", redirectUris: [], origins: [url], user: "alice" };
  const visit = await smallBrowser({ ...places, lookup: nearLookup(undefined) }).look(`${url}/callback`);
  expect(wrote(visit)).toMatch(/^: "Bad & worse eyJ… (?:long )+[a-z ]*…"$/);
  expect(wrote(visit).length).toBeLessThan(130);
});

test("an app that sends the browser to another program ends the visit there", async () => {
  const { url, close } = await serveApp(0, () => ({
    handle(_request, response) {
      response.writeHead(302, { location: "myapp:/callback?code=secret" }).end();
      return Promise.resolve();
    },
  }));
  onTestFinished(close);
  const places = { issuer: "http://localhost:1", redirectUris: [], origins: [url], user: "alice" };
  const { end } = await smallBrowser({ ...places, lookup: nearLookup(undefined) }).signIn(`${url}/login`);
  expect(end).toEqual({ kind: "foreign", url: "myapp:/callback?code=secret" });
});

test("a page with one button is pressed, one to fill in is not", () => {
  const address = "http://app.test/signin";
  const button = `<form action="/go?a=1&amp;b=2" method="POST"><input type="hidden" name="csrf" value="x&quot;y"><button>Sign in</button></form>`;
  const form = onlyForm(button, address);
  expect(form?.action).toBe("http://app.test/go?a=1&b=2");
  expect(form?.fields.get("csrf")).toBe('x"y');
  expect(onlyForm(button.replace("hidden", "text"), address)).toBeNull();
  expect(onlyForm(button + button, address)).toBeNull();
  expect(refreshOf(`<meta http-equiv="refresh" content="0; url=/next">`, address)).toBe("http://app.test/next");
});

test("bytes after a complete response are left out", async () => {
  const server = createServer((socket) => {
    socket
      .on("error", () => undefined)
      .end("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nfirstsecond");
  });
  await new Promise((resolve) => server.listen(0, "localhost", () => resolve(null)));
  onTestFinished(() => void server.close());
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  const places = {
    issuer: "http://localhost:1",
    redirectUris: [],
    origins: [url],
    user: "alice",
    lookup: nearLookup(undefined),
  };
  const { end } = await smallBrowser(places).look(url);
  expect(end).toMatchObject({ kind: "page", status: 200, text: "first" });
});

test("an app may ask again at once after login_required, and after no other error", () => {
  const places = {
    issuer: "http://idp.test",
    redirectUris: ["http://app.test/cb"],
    origins: ["http://app.test"],
    ...{ user: "alice", lookup: nearLookup(undefined) },
  };
  const again = (error: string): unknown => {
    const progress = newProgress(true, false, null);
    const ends = [
      "http://idp.test/authorize?n=1",
      `http://app.test/cb?error=${error}`,
      "http://idp.test/authorize?n=2",
    ].map((address) => endBefore(places, progress, new URL(address), null));
    return [ends.at(-1), progress.request?.search, progress.delivered];
  };
  expect(again("login_required")).toEqual([null, "?n=2", false]);
  expect(again("access_denied")).toEqual([{ kind: "idp" }, "?n=1", true]);
});

/** Whether each element is closed, and nothing else is wrong with the marks. */
function isWellFormed(xml: string): boolean {
  const open: string[] = [];
  const rest = xml
    .replace(/^<\?xml[^?]*\?>/, "")
    .replaceAll(/<(\/?)([\w-]+)((?: [\w-]+="[^"<]*")*)(\/?)>/g, (_all, end, name, _a, own) => {
      if (end === "/") return open.pop() === name ? "" : "<";
      if (own !== "/") open.push(String(name));
      return "";
    });
  return open.length === 0 && !/[<>]|&(?!(amp|lt|gt|quot);)/.test(rest);
}

test("a report survives any output of the app", () => {
  const base = { name: "id-token.aud-wrong", mustNot: "m", should: "s", paragraph: "p", fix: "f" } as const;
  const did = `answered 400 at /a<b>&"c"|d\u0000\u001b[2J*e*\n# f`;
  const cases: readonly CaseResult[] = [
    { ...base, verdict: "unnoticed", did },
    { ...base, verdict: "not-required", did },
    { ...base, verdict: "noticed", did },
    { ...base, name: "control", verdict: "not-reached", did },
    { ...base, name: "retry-503", verdict: "works", did },
  ];
  const report = (file: string): string =>
    reportOf(file, checkClient, { passed: false, cases, stale: ["retry-503"], isCutOff: false });
  const xml = report("r.xml");
  expect(isWellFormed(xml)).toBe(true);
  for (const character of ["\0", "\u001b"]) expect(xml).not.toContain(character);
  expect(xml).toContain('tests="5" failures="2" errors="0" skipped="1"');
  const stale = "retry-503 is accepted, but works now: it need not be accepted any more.";
  expect(xml).toContain(`<system-out>${stale}</system-out>`);
  expect(report("r.md")).toContain(`\n${stale}\n`);
  const rows = report("r.md")
    .split("\n")
    .filter((line) => line.startsWith("|"));
  expect(rows).toHaveLength(2 + cases.length);
  // In code, where it is no HTML.
  expect(rows[2]).toMatch(/\| (`+) [^`]*<b>.* \1 \|$/);
});

test("a report says why a control failed in a sentence of its own", () => {
  const text = { name: "control", mustNot: "m", should: "sign the user in", paragraph: "p", fix: "f" } as const;
  const cases: readonly CaseResult[] = [{ ...text, verdict: "not-reached", did: "the app did not go on" }];
  const xml = reportOf("r.xml", checkClient, { passed: false, cases, stale: [], isCutOff: false });
  expect(xml).toContain(">the app did not go on\nIt should sign the user in (p)");
});
