import { expect, test } from "vitest";
import { allCases } from "../../src/check/sp/cases/list.ts";
import { flawList } from "../../src/core/testing/controls/faults/flaw-list.ts";
import { casesOfNeglect, neglects, type SpNeglect } from "../helpers/careful-sp.ts";
import { checkedSp } from "../helpers/checked-sp.ts";
import { named } from "../helpers/checked-app.ts";
import { newKey } from "../helpers/saml.ts";

/** `idp check sp` on a service provider that neglects something: exactly that goes unnoticed. */

const checkOne = await checkedSp();
const own = newKey();
const decryptionKey = own.key.export({ type: "pkcs8", format: "pem" }).toString();
const check: typeof checkOne = (cases, setting = {}) =>
  checkOne(cases, { saml: { certificates: [own.certificate] }, decryptionKey, ...setting });

test("a service provider that checks everything passes, and nearly every case is reached", async () => {
  const result = await check(allCases);
  expect(named(result, "unnoticed")).toEqual([]);
  // It has one connection. With two: test/cli/check-sp-tenants.test.ts.
  expect(named(result, "not-reached")).toEqual(["other-tenant"]);
  expect(named(result, "not-required")).toEqual(["keys-rotated"]);
  expect(named(result, "works")).toEqual([
    ...["control", "control-attacker", "sign-assertion", "sign-response", "sign-both", "encrypted"],
    ...["attributes-missing", "attributes-empty", "cross-site", "control"],
  ]);
  expect(result.passed).toBe(true);
  expect(result.cases).toHaveLength(allCases.length + 3);
});

/** Each neglects many checks at once, but none that could be mistaken for each other: so a few runs tell all of them apart. */
const apart: readonly (readonly SpNeglect[])[] = [
  ["first-assertion", "status-loop"],
  ["last-assertion", "replay", "relay-state"],
  ["any-assertion", "browser", "key-embedded", "query", "request-beside-response"],
];
const alone = apart.flat();
const apps: readonly (readonly SpNeglect[])[] = [
  ...apart,
  (Object.keys(neglects) as SpNeglect[]).filter((one) => !alone.includes(one)),
];

test.each(apps.map((neglected) => [neglected] as const))(
  "one that neglects %j does not notice exactly that",
  async (neglected) => {
    const result = await check(allCases, { neglects: neglected });
    expect(named(result, "unnoticed").toSorted()).toEqual(neglected.flatMap(casesOfNeglect).toSorted());
    expect(named(result, "not-reached")).toEqual(["other-tenant"]);
  },
);

test.each([
  [{}, "noticed", "signed the user out at the end of the session"],
  [{ ignoresSessionEnd: true }, "not-required", "kept the user signed in after SessionNotOnOrAfter"],
] as const)(
  "whether a session ends when it should, which is told and not required (%j)",
  async (setting, verdict, did) => {
    const { cases, passed } = await check(
      allCases.filter(({ name }) => name === "session-ends"),
      setting,
    );
    expect(cases.find(({ name }) => name === "session-ends")).toMatchObject({ verdict, did });
    expect(passed).toBe(true);
  },
);

test("every flaw has a case, and every case a unique name", () => {
  const names = allCases.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const flaws = flawList.filter(({ place }) => place === "saml").map(({ name }) => name);
  expect(flaws.filter((flaw) => !names.includes(flaw))).toEqual([]);
  expect(names.at(-1)).toBe("keys-rotated");
});
