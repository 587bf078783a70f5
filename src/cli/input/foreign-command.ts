import { OperationError } from "../../core/errors.ts";
import type { FixtureSource } from "../../core/fixture-files/source.ts";
import { RemoteError } from "../failure.ts";

/** The words after `--`, which are another command: `idp exec -- npm test`. */

/** What was typed for a command that runs another one. */
export interface TypedCommand {
  /** The arguments before and after `--`, as commander passes them together. */
  readonly before: readonly string[];
  /** All words after `idp`. */
  readonly words: readonly string[];
}

/** The words before `--`. */
export const ownWords = (words: readonly string[]): readonly string[] =>
  words.includes("--") ? words.slice(0, words.indexOf("--")) : words;

/** The other command, and the arguments that stand before `--` by mistake. */
export function foreignCommand({ before, words }: TypedCommand) {
  const command = words.slice(ownWords(words).length + 1);
  return { command, stray: before.slice(0, before.length - command.length) };
}

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
