import { OperationError } from "../../src/core/errors.ts";
import { problemLine } from "../../src/core/fixtures/problems.ts";
import type { FixtureSource } from "../../src/core/fixtures/source.ts";
import { checkFixtures } from "../../src/core/seed.ts";

/** The lines that a refusal of fixtures prints; none where nothing was refused. */
export async function linesOf(work: Promise<unknown>): Promise<string[]> {
  try {
    await work;
    return [];
  } catch (error) {
    if (!(error instanceof OperationError) || error.code !== "invalid") throw error;
    return error.problems.map(problemLine);
  }
}

/** The problems of these sources, as lines. */
export const problemsOf = (...sources: FixtureSource[]): Promise<string[]> => linesOf(checkFixtures(sources));
