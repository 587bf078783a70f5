import { afterAll, onTestFinished } from "vitest";

/** Ends what was started: with the test that runs, else with the file. vitest drops an `afterAll` that is registered inside a test. */
export function atEnd(work: () => unknown): void {
  const end = async () => {
    await work();
  };
  try {
    onTestFinished(end);
  } catch {
    // It throws outside of a test.
    afterAll(end);
  }
}
