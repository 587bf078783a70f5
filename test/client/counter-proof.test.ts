import { expect, test } from "vitest";
import { allCases } from "../../src/check/client/cases/list.ts";
import type { Browser } from "../../src/client/app/visit.ts";
import type { Neglect } from "../helpers/careful-app.ts";
import { checkedApp, named } from "../helpers/checked-app.ts";

/** `idp check client` says `noticed` only where the app would have gone on if nothing had been wrong. Logout: neglect-logout.test.ts. */

const check = await checkedApp();
const casesOf = (names: readonly string[]) => allCases.filter(({ name }) => names.includes(name));

test("an app that takes no response which the check delivers", async () => {
  const names = ["mix-up", "login-csrf", "callback-replayed"];
  const refused: Browser["deliver"] = (response) =>
    Promise.resolve({
      ...{ steps: [], request: null, response, callback: null, changed: false },
      end: { kind: "page", url: response.redirectUri, status: 400, text: "" },
    });
  const result = await check(casesOf(names), [], {}, { deliver: refused });
  expect(named(result, "not-reached")).toEqual(names);
});

test.each([
  ["links", ["redirect-uri", "open-redirect"]],
  ["refreshed", ["refresh-refused"]],
] as const satisfies readonly (readonly [Neglect, readonly string[]])[])(
  "an app that refuses what is right, too: %s",
  async (neglect, names) => {
    expect(named(await check(casesOf(names)), "noticed")).toEqual(names);
    expect(named(await check(casesOf(names), [neglect]), "not-reached")).toEqual(names);
  },
);

test("a redirect URI that a pushed request takes from the address", async () => {
  const result = await check(casesOf(["redirect-uri"]), ["redirect-uri"], { pushes: true });
  expect(named(result, "unnoticed")).toEqual(["redirect-uri"]);
});

test("an app that sends strangers to its own sign-in page, with 200, is checked", async () => {
  const names = ["id-token.nonce-wrong", "id-token.exp-past", "refresh-refused", "access-revoked"];
  const way = { hasSignInPage: true } as const;
  const result = await check(casesOf(names), ["nonce"], way);
  expect(named(result, "works")).toEqual(["control", "control"]);
  expect(named(result, "unnoticed")).toEqual(["id-token.nonce-wrong"]);
  expect(named(result, "noticed")).toEqual(["id-token.exp-past", "refresh-refused", "access-revoked"]);
});
