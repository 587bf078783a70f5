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
  ["logout-event", "events-other"],
  ["logout-nonce", "nonce-present"],
  ["logout-unnamed", "sub-and-sid-missing"],
  ["logout-sub", "sub-other"],
] as const satisfies readonly (readonly [Neglect, string])[];

test("an app that checks everything notices all but an old token, which it may accept", async () => {
  const result = await check(logoutCases);
  expect(named(result, "noticed").toSorted()).toEqual(
    [...neglected.map(([, name]) => name), "typ-wrong", "replayed"].map((name) => `logout-token.${name}`).toSorted(),
  );
  expect(named(result, "not-required")).toEqual(["logout-token.iat-past"]);
  expect(named(result, "works")).toEqual(["control", "backchannel-logout", "logout-token.typ-jwt", "control"]);
});

test("which types of logout tokens an app takes is for the app", async () => {
  const cases = tokenCases.filter(({ name }) => name.startsWith("logout-token.typ-"));
  const result = await check(cases, ["logout-typ", "logout-jwt"]);
  expect(named(result, "not-required")).toEqual(["logout-token.typ-wrong", "logout-token.typ-jwt"]);
});

test.each(neglected)("an app that neglects %s does not notice exactly %s", async (neglect, name) => {
  const cases = tokenCases.filter((one) => !/iat-past|replayed|typ-/.test(one.name));
  const result = await check(cases, [neglect]);
  expect(named(result, "unnoticed")).toEqual([`logout-token.${name}`]);
  expect(named(result, "noticed")).toHaveLength(neglected.length - 1);
});

test("an app that verifies nothing of a logout token notices no wrong one", async () => {
  const result = await check(tokenCases, [...neglected.map(([neglect]) => neglect), "logout-jti", "logout-typ"]);
  expect(named(result, "unnoticed")).toEqual(neglected.map(([, name]) => `logout-token.${name}`));
  expect(named(result, "not-required")).toEqual(
    ["typ-wrong", "iat-past", "replayed"].map((name) => `logout-token.${name}`),
  );
});

test("an app that ends no session notices nothing, with or without the case of an ended session", async () => {
  for (const cases of [logoutCases, tokenCases.slice(0, 2)]) {
    const result = await check(cases, ["no-logout"]);
    expect(named(result, "noticed")).toEqual([]);
    expect(named(result, "not-reached")).toEqual(cases.map(({ name }) => name).filter((name) => name.includes(".")));
  }
});
