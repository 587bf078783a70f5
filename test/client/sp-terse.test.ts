import { expect, test } from "vitest";
import { allCases } from "../../src/check/sp/cases/list.ts";
import { named } from "../helpers/checked-app.ts";
import { checkedSp } from "../helpers/checked-sp.ts";
import { TerseSp, type SpHole } from "../helpers/terse-sp.ts";

/** `idp check sp` on a service provider of another form, which shows nothing but a persistent NameID that it asked for. */

const check = await checkedSp();

test("a correct one: who is signed in is told by the NameID alone, and nothing goes unnoticed", async () => {
  const result = await check(allCases, { make: (config) => new TerseSp(config) });
  expect(named(result, "unnoticed")).toEqual([]);
  expect(named(result, "not-reached")).toEqual(["encrypted", "encrypted-unsigned", "encrypted-forged", "other-tenant"]);
  expect(named(result, "not-required")).toEqual(["keys-rotated"]);
});

const holes: readonly (readonly [SpHole, readonly string[]])[] = [
  ["clock", ["conditions-past", "conditions-future", "subject-past"]],
  ["unsigned", ["unsigned", "xsw-4", "assertion-in-extensions"]],
  ["open-logout", ["logout-unsigned", "logout-other", "redirect-parameter-twice"]],
  ["anybody-logout", ["logout-other"]],
];
const all = new Set(holes.flatMap(([, names]) => names));

test.each(holes)("%s: %j alone", async (hole, names) => {
  const cases = allCases.filter(({ name }) => all.has(name));
  const result = await check(cases, { make: (config) => new TerseSp(config, hole) });
  expect(named(result, "unnoticed").toSorted()).toEqual([...names].toSorted());
});

test("one that fails where it refuses, and takes responses that answer no request", async () => {
  const wanted = ["unsolicited", "audience-wrong", "status-shown"];
  const cases = allCases.filter(({ name }) => wanted.includes(name));
  const result = await check(cases, { make: (config) => new TerseSp(config, "crashes", "takes-unsolicited") });
  expect(named(result, "unnoticed")).toEqual([]);
  expect(named(result, "noticed")).toEqual(["audience-wrong"]);
  expect(named(result, "not-required")).toEqual(["unsolicited", "status-shown"]);
});
