import { OperationError } from "../errors.ts";
import type { FixtureSource } from "../fixtures/read/source.ts";

/** Fixtures in the input of an operation. */

/** 64 MB for fixtures and exports (CONTRACT 2.6). */
export const fixtureBody = 64 * 1024 * 1024;

/** Fixture files that a command has read: their names are in what is wrong with them. @throws {OperationError} usage */
export const texts = (sources: readonly unknown[]): FixtureSource[] =>
  sources.map((source) => {
    const { name, text, ...others } = Object(source) as Readonly<Record<string, unknown>>;
    const isPlain = Object.keys(others).length === 0;
    if (typeof name === "string" && typeof text === "string" && isPlain) return { name, text };
    throw new OperationError("usage", "each source must have a name and a text, and nothing else");
  });

/** Files, or one document. @throws {OperationError} usage, for both at once */
export function meantBy(
  sources: readonly unknown[] | undefined,
  document: unknown,
): readonly FixtureSource[] | undefined {
  if (sources === undefined) return document === undefined ? undefined : [{ value: document }];
  if (document === undefined) return texts(sources);
  throw new OperationError("usage", "give sources or a document, not both");
}
