import { expect, test } from "vitest";
import { renderAccount } from "../../src/http/pages.ts";
import { createRenderer } from "../../src/http/render.ts";
import type { AccountView } from "../../src/http/views.ts";
import { elementsOf, hooked, wordsOf } from "../helpers/html.ts";
import { accountViews } from "../helpers/sample-views.ts";

const renderer = createRenderer();

const account = async (changes: Partial<AccountView>): Promise<string> =>
  (await renderAccount(renderer, { ...accountViews["account-one"], ...changes })).html;
const stateOf = (html: string): string | undefined => elementsOf(html)[0]?.attributes["data-state"];

test("has a state for none, one and many apps, one removed, and one removed elsewhere", async () => {
  const { apps } = accountViews["account-many"];
  expect(stateOf(await account({ apps: [] }))).toBe("none");
  expect(stateOf(await account({}))).toBe("one");
  expect(stateOf(await account({ apps }))).toBe("many");
  const removed = await account({ outcome: { kind: "removed", app: "Demo App" } });
  expect(stateOf(removed)).toBe("removed");
  expect(hooked(removed, "account-status").attributes["role"]).toBe("status");
  expect(wordsOf(removed).replace(/\s+/g, " ")).toContain("Demo App can no longer use your account.");
  expect(stateOf(await account({ outcome: { kind: "gone", app: "Demo App" } }))).toBe("gone");
});

test("leads from each app to the page that asks before it removes", async () => {
  const html = await account({});
  expect(hooked(html, "account-revoke-demo-app")).toMatchObject({
    tag: "a",
    attributes: { href: "/account/apps/demo-app/revoke", "aria-label": "Remove access for Demo App" },
  });
});

test("writes times with their zone", async () => {
  expect(await account({})).toContain(">20 Nov 2026, 12:04 UTC</time>");
  const { html } = await renderAccount(renderer, accountViews["account-one"], "Europe/Istanbul");
  expect(html).toContain(">20 Nov 2026, 15:04 GMT+3</time>");
});
