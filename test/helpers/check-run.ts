import { setTimeout as wait } from "node:timers/promises";
import type { CheckRun } from "../../src/check/frame/run.ts";
import { randomText } from "../../src/serve/random.ts";

/** What every check of a test gets: nothing is accepted, and what is checked cannot be started again. */
export const checkRun: CheckRun = {
  ...{ accepted: new Map(), progress: () => undefined, onResult: () => undefined, restart: null, startLimit: 30_000 },
  ...{ caseLimit: 60_000, until: Infinity, now: Date.now, wait, random: randomText },
  leaves: () => undefined,
};
