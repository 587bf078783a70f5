import { expect, test } from "vitest";
import { chromiumBrowser } from "../../src/client/app/chromium.ts";
import { allCases } from "../../src/check/sp/cases/list.ts";
import type { SpNeglect } from "../helpers/careful-sp.ts";
import { checkedSp } from "../helpers/checked-sp.ts";
import { sharedChromium } from "../helpers/chromium.ts";

/**
 * `idp check sp --browser`: the same cases in Chromium.
 * @module-tag browser
 */

const chromium = await sharedChromium();
const check = await checkedSp();

const inChromium: NonNullable<NonNullable<Parameters<typeof check>[1]>["newBrowser"]> = async (places) =>
  chromiumBrowser(places, await chromium.newContext());

/** What the app did in each case, in both browsers. The attacker has another name each time. */
async function inBoth(names: readonly string[], neglects: readonly SpNeglect[]) {
  const cases = allCases.filter(({ name }) => names.includes(name));
  const verdictsOf = async (setting: Parameters<typeof check>[1]): Promise<readonly string[]> =>
    (await check(cases, { neglects, ...setting })).cases.map(({ name, verdict, did }) =>
      `${name}: ${verdict}, ${did}`.replaceAll(/check-sp-\w+/g, "check-sp"),
    );
  return { scriptless: await verdictsOf({}), chromium: await verdictsOf({ newBrowser: inChromium }) };
}

test("Chromium finds what the browser without scripts finds", async () => {
  const names = [
    ...["sign-response", "request-fresh", "unsolicited", "audience-wrong", "unsigned", "xsw-3", "comment-in-nameid"],
    ...["replayed", "other-browser", "relay-state", "response-in-query", "status-shown", "logout-unsigned"],
  ];
  const found = await inBoth(names, ["audience", "first-assertion", "relay-state"]);
  expect(found.chromium).toHaveLength(names.length + 3);
  expect(found.chromium).toEqual(found.scriptless);
});

test("a response that a case brings comes from where that of a sign-in comes, so an app with SameSite=Lax reads it", async () => {
  const names = ["replayed", "relay-state", "nameid-missing", "fetch-entity", "logout-other"];
  const neglects = ["lax", "replay", "relay-state", "no-nameid", "fetches-entity", "logout-name"] as const;
  const found = await inBoth(names, neglects);
  expect(found.chromium).toEqual(found.scriptless);
  expect(found.chromium.filter((line) => line.includes(": unnoticed"))).toHaveLength(names.length);
});

test("Chromium keeps a cookie with SameSite=Lax back from a response of another site", async () => {
  const cases = allCases.filter(({ name }) => name === "cross-site");
  const found = async (neglects: readonly "lax"[]) => {
    const { cases: all } = await check(cases, { neglects, newBrowser: inChromium });
    return all.find(({ name }) => name === "cross-site");
  };
  expect(await found(["lax"])).toMatchObject({ verdict: "unnoticed" });
  expect(await found([])).toMatchObject({
    verdict: "works",
    did: "signed the user in; sp without SameSite is sent so only in its first two minutes (Chromium)",
  });
});
