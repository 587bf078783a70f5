import { expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { Browser, formsOf, type Visit } from "../helpers/browser.ts";
import { openInspector } from "../helpers/inspector.ts";

/** The address of a form, opened by itself: what a browser does with Enter in its address bar after the form was refused. */

const idp = await serve({ settings: { try_it: true } });

/** The address opens a page of this server. @returns the path that it was led to, and the page */
async function follow(browser: Browser, address: string): Promise<object> {
  const { status, page, state, left, url } = await browser.open(address);
  expect([status, left, new URL(url).origin]).toEqual([200, null, idp.issuer]);
  return { page, state };
}

const actionsOf = ({ body }: Visit): readonly string[] => [
  ...new Set(formsOf(body).flatMap(({ action }) => (action === "" ? [] : [action]))),
];

test("of every form of the account leads to the account", async () => {
  const { browser } = await (await register(idp)).signIn();
  const account = await browser.open("/account");
  const shown = actionsOf(account);
  expect(shown.length).toBeGreaterThan(2);
  for (const address of [...shown, "/account/passkeys/remove", "/account/end-session"]) {
    expect([address, await follow(browser, address)]).toEqual([address, { page: "account", state: account.state }]);
  }
});

test("of the forms of the built-in app leads to the start page, where they begin", async () => {
  const browser = new Browser(idp.issuer);
  const home = await browser.open("/");
  expect(actionsOf(home)).toEqual(["/_idp/try"]);
  for (const address of ["/_idp/try", "/_idp/try/userinfo"]) {
    expect(await follow(browser, address)).toEqual({ page: "home", state: home.state });
  }
});

test("of every form of the inspector leads to its tab, and changes nothing", async () => {
  await idp.call("faults.add", { endpoint: "token", status: 503, always: true });
  await (await register(idp)).signIn();
  const { browser, at } = await openInspector(idp);
  const before = await idp.call("export", {});
  for (const tab of ["users", "clients", "grants", "tokens", "testing"]) {
    const shown = actionsOf(await browser.open(at(tab)));
    expect(shown).not.toEqual([]);
    for (const address of shown) {
      expect([address, await follow(browser, address)]).toEqual([address, { page: "inspector", state: tab }]);
    }
  }
  expect(await idp.call("faults.list", {})).toHaveLength(1);
  expect(await idp.call("export", {})).toEqual(before);
});

test.each(["issuer", "change", "change?change=none", "change?change=__proto__", "change?change=//evil.test/"])(
  "%s, which belongs to no tab, leads to the first one",
  async (path) => {
    const { browser, at } = await openInspector(idp);
    expect(await follow(browser, at(path))).toEqual({ page: "inspector", state: "live" });
  },
);

test("of a form of the inspector shows nothing to a browser without its cookie", async () => {
  const { at } = await openInspector(idp);
  for (const path of ["change?change=ban", "issuer"]) {
    const { status, state } = await new Browser(idp.issuer).open(at(path));
    expect([status, state]).toEqual([403, "forbidden"]);
  }
});
