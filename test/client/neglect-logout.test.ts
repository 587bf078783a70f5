import { expect, test } from "vitest";
import { allCases } from "../../src/check/client/cases/list.ts";
import type { Neglect } from "../helpers/careful-app.ts";
import { checkedApp, named } from "../helpers/checked-app.ts";

/**
 * `idp check client` on an app that neglects something of back-channel logout: exactly that goes unnoticed. The app ends the session that
 * the logout token names by its `sid`.
 */

const check = await checkedApp();
const logoutCases = allCases.filter(({ name }) => name.includes("logout"));
const tokenCases = logoutCases.filter(({ name }) => name !== "backchannel-logout");

const neglected = [
  ["logout-signature", "signature-wrong"],
  ["logout-alg", "alg-none"],
  ["logout-iss", "iss-wrong"],
  ["logout-aud", "aud-wrong"],
  ["logout-exp", "exp-past"],
  ["logout-events", "events-missing"],
  ["logout-nonce", "nonce-present"],
  ["logout-unnamed", "sub-and-sid-missing"],
  ["logout-sub", "sub-other"],
] as const satisfies readonly (readonly [Neglect, string])[];

test("an app that checks everything notices all but an old token, which it may accept", async () => {
  const result = await check(logoutCases);
  expect(named(result, "noticed")).toEqual(
    [...neglected.map(([, name]) => name), "replayed"].map((name) => `logout-token.${name}`),
  );
  expect(named(result, "not-required")).toEqual(["logout-token.iat-past"]);
  expect(named(result, "works")).toContain("backchannel-logout");
});

test.each(neglected)("an app that neglects %s does not notice exactly %s", async (neglect, name) => {
  const cases = tokenCases.filter((one) => !/iat-past|replayed/.test(one.name));
  const result = await check(cases, [neglect]);
  expect(named(result, "unnoticed")).toEqual([`logout-token.${name}`]);
  expect(named(result, "noticed")).toHaveLength(neglected.length - 1);
});

test("an app that verifies nothing of a logout token notices no wrong one", async () => {
  const result = await check(tokenCases, [...neglected.map(([neglect]) => neglect), "logout-jti"]);
  expect(named(result, "unnoticed")).toEqual(neglected.map(([, name]) => `logout-token.${name}`));
  expect(named(result, "not-required")).toEqual(["logout-token.iat-past", "logout-token.replayed"]);
});

test("an app that ends no session notices nothing, with or without the case of an ended session", async () => {
  for (const cases of [logoutCases, tokenCases.slice(0, 2)]) {
    const result = await check(cases, ["no-logout"]);
    expect(named(result, "noticed")).toEqual([]);
    expect(named(result, "not-reached")).toEqual(cases.map(({ name }) => name).filter((name) => name.includes(".")));
  }
});
