import { expect, test } from "vitest";
import { renderError } from "../../src/http/pages/pages.ts";
import { createRenderer } from "../../src/http/pages/templates/render.ts";
import type { ErrorView } from "../../src/http/pages/error-views.ts";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl } from "../helpers/client.ts";
import { unescapeHtml, wordsOf } from "../helpers/html.ts";
import { serve } from "../helpers/app.ts";
import { errorViews } from "../helpers/views/error.ts";

const renderer = createRenderer();

const error = (changes: Partial<ErrorView>): string =>
  renderError(renderer, { ...errorViews["error-redirect-uri"], ...changes }).html;
const compared = (sent: string, ...registered: string[]): string =>
  error({ mismatch: { parameter: "redirect_uri", sent, registered } });
const fixIn = (html: string): string =>
  unescapeHtml((/id="error-fix"[^>]*>(.*?)<\/pre>/.exec(html)?.[1] ?? "none").replaceAll(/<[^>]*>/g, ""));
const adviceIn = (html: string): string => /id="error-advice"[^>]*>(.*?)<\/p>/.exec(html)?.[1] ?? "none";
const marks = (html: string): (string | undefined)[] => [...html.matchAll(/<mark>([^<]*)</g)].map((match) => match[1]);

test.each(Object.keys(errorViews))(
  "in Turkish, %s says the gist of message and fix to the developer too; both stay as programs get them",
  (name) => {
    const view = errorViews[name as keyof typeof errorViews];
    const gistsIn = (lang: string) =>
      Array.from(
        renderError(renderer, { ...view, lang }).html.matchAll(/id="error-(?:fix-)?gist"[^>]*>([^<]+)</g),
        ([, gist]) => gist,
      );
    expect(gistsIn("tr")).toEqual([expect.stringMatching(/[çğıöşü]/i), expect.stringMatching(/\p{L}/u)]);
    expect(gistsIn("en")).toEqual([]);
  },
);

test("speaks to the person first, then to the developer: code, message, fix", () => {
  const html = error({});
  expect(html.indexOf("Nothing was shared")).toBeLessThan(html.indexOf("For developers"));
  expect(html).toContain('<code id="error-code" data-testid="error-code">invalid_request</code>');
  expect(wordsOf(html)).toContain('redirect_uri "http://localhost:3001/callback" is not registered');
  expect(fixIn(html)).toBe("idp clients edit demo-app --add-redirect-uri http://localhost:3001/callback");
  expect(html).toContain("<title>Error: ");
});

test("marks what differs, the nearest registered address first, and says it in words", () => {
  const html = compared("http://localhost:3001/cb", "https://other.test/", "http://localhost:3000/cb");
  expect(marks(html)).toEqual(["1", "0", "s://other.test/"]);
  expect(html).toContain("“1” was sent where “0” is registered.");
});

test("says which part is extra, and which is missing", () => {
  expect(compared("http://localhost/cb/", "http://localhost/cb")).toContain("“/” was sent, but is not registered.");
  expect(compared("http://localhost/", "http://localhost/cb")).toContain("“cb” is registered, but was not sent.");
});

test("shows no fix and no comparison without one", () => {
  const html = error({ fix: null, mismatch: null });
  expect(html).not.toContain("error-fix");
  expect(html).not.toContain("registered</dt>");
});

test("an unknown client is shown beside a similar one; without one the page says how to add it", async () => {
  const idp = await serve();
  const browser = new Browser(idp.issuer);
  const near = await browser.open(authorizeUrl(idp, { client_id: "demo-ap" }));
  expect([near.status, near.state, marks(near.body)]).toEqual([400, "client", ["p"]]);
  expect(wordsOf(near.body)).toContain("“p” is registered, but was not sent.");
  expect(near.body).toContain("RFC 6749 2.2");
  expect(adviceIn(near.body)).toBe("Send client_id demo-app in your app. To add a client of the other name:");
  const far = await browser.open(authorizeUrl(idp, { client_id: "shop" }));
  expect(adviceIn(far.body)).toBe("none");
  expect([far.state, marks(far.body)]).toEqual(["client", []]);
  expect(fixIn(far.body)).toBe("idp clients add shop --public --redirect-uri http://localhost:3000/callback");
});

test("a sign-out that comes back to an unknown address has a heading of its own, and changes nothing", async () => {
  const idp = await serve();
  const query = new URLSearchParams({ client_id: "demo-app", post_logout_redirect_uri: "http://localhost:3000/bye" });
  const page = await new Browser(idp.issuer).open(`/api/v2/oauth/logout?${query.toString()}`);
  expect([page.page, page.state]).toEqual(["error", "redirect-uri"]);
  expect(/<h1>([^<]*)/.exec(page.body)?.[1]).toBe("This sign-out can&#39;t be done");
});

test.each([
  // An app that runs on another port has to be registered there.
  ["http://localhost:3001/callback", "none"],
  [
    "http://127.0.0.1:3000/callback",
    "Send redirect_uri http://localhost:3000/callback in your app. To register the other one too:",
  ],
  ["http://127.0.0.1:3001/callback", "none"],
  [
    "http://localhost:3000/api/auth/callback/idp",
    "Send redirect_uri http://localhost:3000/callback in your app. To register the other one too:",
  ],
  [
    "http://localhost:3000/callback/",
    "Send redirect_uri http://localhost:3000/callback in your app. To register the other one too:",
  ],
  [
    "htp://localhost:3000/callback",
    "Send redirect_uri http://localhost:3000/callback in your app. To register the other one too:",
  ],
  ["http://localhost:4200/signin", "none"],
])("for redirect_uri %s the advice is %s", async (redirect_uri, advice) => {
  const idp = await serve();
  const { body } = await new Browser(idp.issuer).open(authorizeUrl(idp, { redirect_uri }));
  expect(adviceIn(body)).toBe(advice);
});

test("a value of the request that a shell could run stands beside the command that fixes it; if none can, the command shows what is registered", async () => {
  const idp = await serve();
  const browser = new Browser(idp.issuer);
  const bodyOf = async (change: Parameters<typeof authorizeUrl>[1]): Promise<string> =>
    (await browser.open(authorizeUrl(idp, change))).body;
  const fixOf = async (change: Parameters<typeof authorizeUrl>[1]): Promise<string> => fixIn(await bodyOf(change));
  const unknown = await bodyOf({ client_id: "x;$(reboot)'" });
  expect([fixIn(unknown), unescapeHtml(adviceIn(unknown))]).toEqual([
    "idp clients add VALUE --public --redirect-uri http://localhost:3000/callback",
    "VALUE is x;$(reboot)':",
  ]);
  const other = await bodyOf({ redirect_uri: "http://localhost:3000/cb?a=1&b=$(reboot)" });
  expect([fixIn(other), unescapeHtml(adviceIn(other))]).toEqual([
    "idp clients edit demo-app --add-redirect-uri VALUE",
    "VALUE is http://localhost:3000/cb?a=1&b=$(reboot). Send redirect_uri http://localhost:3000/callback in your app. To register the other one too:",
  ]);
  for (const client_id of ["--help", "..", "a".repeat(201)]) {
    expect(await fixOf({ client_id })).toBe("idp clients list");
  }
  expect(await fixOf({ client_id: "shop", redirect_uri: "no" })).toBe("idp clients list");
  expect(await fixOf({ redirect_uri: "http://evil.example/cb" })).toBe("idp clients show demo-app");
});

test.each([
  ["nothing at all", "", "idp clients list"],
  ["two client ids", "client_id=demo-app&client_id=demo-app", "idp clients list"],
  ["no redirect URI", "client_id=demo-app&response_type=code", "idp clients show demo-app"],
])("a request of %s: the command shows what could be sent", async (_, query, fix) => {
  const idp = await serve();
  const page = await new Browser(idp.issuer).open(`/api/v2/oauth/authorize?${query}`);
  expect([page.status, fixIn(page.body)]).toEqual([400, fix]);
});

test("an address that cannot be registered for signing out, and a page that is not there, name a command too", async () => {
  const idp = await serve();
  const browser = new Browser(idp.issuer);
  const query = "client_id=demo-app&post_logout_redirect_uri=javascript:1";
  expect(fixIn((await browser.open(`/api/v2/oauth/logout?${query}`)).body)).toBe("idp clients show demo-app");
  expect(fixIn((await browser.open("/nothing")).body)).toBe(`curl ${idp.issuer}/.well-known/openid-configuration`);
});

test("a redirect URI that is not registered is shown beside those that are, and so is an address after signing out", async () => {
  const idp = await serve();
  const browser = new Browser(idp.issuer);
  const authorize = await browser.open(authorizeUrl(idp, { redirect_uri: "http://localhost:3000/callback/" }));
  expect([authorize.status, authorize.state, marks(authorize.body)]).toEqual([400, "redirect-uri", ["/"]]);
  expect(authorize.body).toContain("RFC 6749 3.1.2.3");
  const query = new URLSearchParams({ client_id: "demo-app", post_logout_redirect_uri: "http://localhost:3001/" });
  const logout = await browser.open(`/api/v2/oauth/logout?${query.toString()}`);
  expect([logout.status, logout.state, marks(logout.body)]).toEqual([400, "redirect-uri", ["1", "0"]]);
});
