import { expect, test } from "vitest";
import { allCases } from "../../src/client/app-check/cases/list.ts";
import { checkedApp, named } from "../helpers/checked-app.ts";

/** `idp check client` on an app that neglects something of back-channel logout: exactly that goes unnoticed. */

const check = await checkedApp();
const logoutCases = allCases.filter(({ name }) => name.includes("logout"));

test.each([
  [[], []],
  [["no-logout"], ["backchannel-logout"]],
  [["logout-signature"], ["logout-token.signature-wrong"]],
  [["logout-alg"], ["logout-token.alg-none"]],
  [["logout-iss"], ["logout-token.iss-wrong"]],
  [["logout-aud"], ["logout-token.aud-wrong"]],
  [["logout-exp"], ["logout-token.exp-past"]],
  [["logout-events"], ["logout-token.events-missing"]],
  [["logout-nonce"], ["logout-token.nonce-present"]],
  [["logout-subject"], ["logout-token.sub-and-sid-missing", "logout-token.sub-other"]],
] as const)("an app that neglects %j of logout tokens does not notice exactly %j", async (neglects, expected) => {
  const result = await check(logoutCases, [...neglects]);
  expect(named(result, "unnoticed")).toEqual(expected);
  const reached = neglects.some((one) => one === "no-logout") ? 0 : 9 - expected.length;
  expect(named(result, "noticed")).toHaveLength(reached);
});
