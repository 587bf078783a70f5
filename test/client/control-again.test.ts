import { expect, test } from "vitest";
import { allCases } from "../../src/check/client/cases/list.ts";
import { runCases } from "../../src/check/frame/run.ts";
import { noticed, notReached, unnoticed, works, type Case, type Finding } from "../../src/check/frame/verdict.ts";
import { checkRun } from "../helpers/check-run.ts";
import { checkedApp, named } from "../helpers/checked-app.ts";

/** The control between the cases may fail once: then it is tried again, and the case, too. */

const check = await checkedApp();
const casesOf = (names: readonly string[]) => allCases.filter(({ name }) => names.includes(name));
const flawed = ["id-token.iss-wrong", "id-token.aud-wrong", "id-token.exp-past"];

test("one ordinary sign-in that fails between two cases ends no run", async () => {
  const result = await check(casesOf(flawed), ["busy"]);
  expect(named(result, "works")).toEqual(["control", "control"]);
  expect(named(result, "noticed")).toEqual(flawed);
  expect(result.passed).toBe(true);
});

test("what was refused just before such a sign-in is not noticed for that", async () => {
  const { cases } = await check(casesOf(flawed), ["busy", "id-iss", "exp"]);
  expect(cases.map(({ verdict }) => verdict)).toEqual(["works", "unnoticed", "noticed", "unnoticed", "works"]);
});

test("an app that signs nobody in any more after a case ends the run there", async () => {
  const { cases, passed } = await check(casesOf(flawed), ["broken"]);
  const down = 'nobody is signed in at --signed-in: the app answered 400 at /callback: "refused: busy"';
  expect(cases.map(({ name, verdict, did }) => [name, verdict, did])).toEqual([
    ["control", "works", "signed the user in, and out"],
    ["id-token.iss-wrong", "not-reached", `the app does not sign in any more after this case: ${down}`],
    ["id-token.aud-wrong", "not-reached", "not run: see id-token.iss-wrong"],
    ["id-token.exp-past", "not-reached", "not run: see id-token.iss-wrong"],
    ["control", "not-reached", down],
  ]);
  expect(passed).toBe(false);
});

/** A case that finds these, one after the other. */
const finds = (name: string, ...found: readonly Finding[]): Case<null> => {
  const left = [...found];
  const run = (): Promise<Finding> => Promise.resolve(left.shift() ?? notReached("it ran too often"));
  return { ...{ name, mustNot: "m", should: "s", paragraph: "p", fix: "f" }, run };
};

test("what went unnoticed before such a sign-in stays", async () => {
  const control = finds("control", works("worked"), notReached("busy"), works("worked"), works("worked"));
  const cases = [finds("hole", unnoticed("let it in"), noticed("refused")), finds("next", noticed("refused"))];
  const result = await runCases<null>(checkRun, {
    ...{ control, last: control, cases, broken: "b", didLast: "worked at the end too" },
    begin: () => null,
    tidy: () => Promise.resolve(null),
  });
  expect(result.cases.map(({ verdict }) => verdict)).toEqual(["works", "unnoticed", "noticed", "works"]);
});
