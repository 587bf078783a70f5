import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { longRuns, report, timeLimit } from "../helpers/runs.ts";
import { sequence } from "./steps.ts";
import { createWalker } from "./walk.ts";

/** After any sequence of events, each token is worth what the contract says. */

const runs = longRuns(40);
const walker = createWalker();
afterAll(() => walker.close());

test(
  `${runs} random sequences of consents, exchanges, refreshes, revocations, suspensions, expiry, clocks and restarts`,
  { timeout: timeLimit },
  async () => {
    await fc.assert(
      fc.asyncProperty(sequence, (steps) => walker.walk(steps)),
      { numRuns: runs, interruptAfterTimeLimit: timeLimit - 10_000, markInterruptAsFailure: true },
    );
    const { seen } = walker;
    report("sequences", seen);
    // What did not come up was not tried.
    const reached = [
      "UserInfo: 200",
      "UserInfo: 401",
      "UserInfo: 403",
      "refresh: tokens",
      "refresh: rotated",
      "restart",
      "clock: forward",
      "clock: back",
      "expire",
    ];
    expect(reached.filter((what) => (seen.get(what) ?? 0) < runs / 50)).toEqual([]);
  },
);
