import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { noticed, unnoticed, works, type Case } from "../../src/check/frame/verdict.ts";
import { notesOf } from "../../src/check/frame/result.ts";
import { runCases } from "../../src/check/frame/run.ts";
import { checkRun } from "../helpers/check-run.ts";

/** A check ends after its --total-timeout, with the verdicts so far. */

const text = { mustNot: "m", should: "s", paragraph: "p", fix: "f" };
const named = (name: string, run: Case<null>["run"]): Case<null> => ({ ...text, name, run });
const control = named("control", () => Promise.resolve(works("worked")));
const hangs = named("hangs", () => new Promise(() => undefined));
const later = named("later", () => Promise.resolve(noticed("refused")));

const run = (cases: readonly Case<null>[]) =>
  runCases<null>(
    {
      ...checkRun,
      accepted: new Map(),
      onResult: () => undefined,
      restart: null,
      startLimit: 0,
      until: Date.now() + 300,
    },
    {
      ...{ control, last: control, cases, broken: "b", didLast: "worked at the end too" },
      begin: () => null,
      tidy: () => Promise.resolve(null),
    },
  );

test("what is left is not reached, and what was seen counts", async () => {
  const good = await run([later, hangs, later]);
  expect(good.cases.map(({ name, verdict }) => `${name} ${verdict}`)).toEqual([
    ...["control works", "later noticed", "hangs not-reached", "later not-reached"],
  ]);
  expect(good.passed).toBe(true);
  const checked = { result: good, output: [], ended: null, notes: [] };
  expect(notesOf(checked)).toEqual([expect.stringContaining("--total-timeout before all cases had run")]);
  expect(notesOf({ ...checked, result: await run([later]) })).toEqual([]);
  expect(good.cases[2]?.did).toContain("--total-timeout");
  const open = await run([named("hole", () => Promise.resolve(unnoticed("let it in"))), hangs]);
  expect(open.passed).toBe(false);
});

test("work that ends late proves nothing", async () => {
  const slow = named("slow", () => delay(400).then(() => noticed("refused")));
  expect((await run([slow])).cases[1]).toMatchObject({ verdict: "not-reached" });
});
