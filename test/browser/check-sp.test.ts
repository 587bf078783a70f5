import { expect, test } from "vitest";
import { chromiumBrowser } from "../../src/client/app/chromium.ts";
import { allCases } from "../../src/check/sp/cases/list.ts";
import { checkedSp } from "../helpers/checked-sp.ts";
import { sharedChromium } from "../helpers/chromium.ts";

/**
 * `idp check sp --browser`: the same cases in Chromium.
 * @module-tag browser
 */

const chromium = await sharedChromium();
const check = await checkedSp();

test("Chromium finds what the browser without scripts finds", async () => {
  const names = [
    ...["sign-response", "request-fresh", "unsolicited", "audience-wrong", "unsigned", "xsw-3", "comment-in-nameid"],
    ...["replayed", "other-browser", "relay-state", "response-in-query", "status-shown", "logout-unsigned"],
  ];
  const cases = allCases.filter(({ name }) => names.includes(name));
  const neglects = ["audience", "first-assertion", "relay-state"] as const;
  const verdictsOf = async (setting: Parameters<typeof check>[1]): Promise<readonly string[]> =>
    (await check(cases, { neglects, ...setting })).cases.map(({ name, verdict, did }) => `${name}: ${verdict}, ${did}`);
  const found = await verdictsOf({
    newBrowser: async (places) => chromiumBrowser(places, await chromium.newContext()),
  });
  expect(found).toHaveLength(names.length + 3);
  // The attacker has another name each time.
  const masked = (lines: readonly string[]): readonly string[] =>
    lines.map((line) => line.replaceAll(/check-sp-\w+/g, "check-sp"));
  expect(masked(found)).toEqual(masked(await verdictsOf({})));
});

test("Chromium keeps a cookie with SameSite=Lax back from a response of another site", async () => {
  const cases = allCases.filter(({ name }) => name === "cross-site");
  const verdictWith = async (neglects: readonly "lax"[]): Promise<string | undefined> => {
    const newBrowser = async (places: Parameters<typeof chromiumBrowser>[0]) =>
      chromiumBrowser(places, await chromium.newContext());
    const { cases: found } = await check(cases, { neglects, newBrowser });
    return found.find(({ name }) => name === "cross-site")?.verdict;
  };
  expect(await verdictWith(["lax"])).toBe("unnoticed");
  expect(await verdictWith([])).toBe("works");
});
