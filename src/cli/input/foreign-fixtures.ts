import { OperationError } from "../../core/errors.ts";
import type { FixtureSource } from "../../core/fixture-files/source.ts";
import { RemoteError } from "../failure.ts";

/**
 * Works with fixtures. If they are refused, and one of them is a file of another tool, the refusal says so.
 * @throws {OperationError} invalid, with the command that converts the file
 */
export async function withFixtures<T>(sources: readonly FixtureSource[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isRefused = error instanceof OperationError || error instanceof RemoteError;
    if (!isRefused || error.problems.length === 0) throw error;
    const { foreignFixtures } = await import("../../migrate/tools.ts");
    throw foreignFixtures(sources) ?? error;
  }
}
