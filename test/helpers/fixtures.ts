import { OperationError, type Problem } from "../../src/core/base/errors.ts";
import type { FixtureSource } from "../../src/core/base/fixture-files/source.ts";
import { checkFixtures } from "../../src/core/admin/seed/seed.ts";

/** Place, path and message of a problem. */
function problemLine({ file, line, column, path, message }: Problem): string {
  const place = file === undefined ? "" : line === undefined ? `${file} ` : `${file}:${line}:${column} `;
  return `${place}${path} ${message}`;
}

/** The problems of refused fixtures, one per line; none if nothing was refused. */
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
