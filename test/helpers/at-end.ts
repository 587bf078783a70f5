import { afterAll, expect, onTestFinished } from "vitest";

/** Ends what was started: with the test that runs, else with the file. vitest drops an `afterAll` that is registered inside a test. */
export function atEnd(work: () => unknown): void {
  const isInTest = expect.getState().currentTestName !== undefined;
  (isInTest ? onTestFinished : afterAll)(async () => {
    await work();
  });
}
