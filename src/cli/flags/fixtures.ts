import { existsSync } from "node:fs";
import { relative } from "node:path";
import { OperationError, RemoteError } from "../../core/base/errors.ts";
import { decodeFixture, type FixtureSource } from "../../core/base/fixture-files/source.ts";
import { builtInDemo, findFixtures, type FoundFixtures, type NamedFixture } from "../../serve/fixture-files.ts";
import type { MadeFrom } from "../../store/store.ts";
import { readBytes } from "../input/read.ts";
import type { Invocation } from "../invocation.ts";
import { valuesOf } from "./variables.ts";

/** The fixtures that a command is given. */

/** As commander reads them. The settings are read by `settingsOf`. */
interface FixturesFlag {
  readonly fixtures?: readonly string[];
}

/** The values of `--fixtures` or IDP_FIXTURES: paths, `-`, or the text of a file. */
export const fixturePaths = (cli: Invocation, flags: FixturesFlag): readonly string[] =>
  flags.fixtures ?? (cli.env.IDP_FIXTURES === undefined ? [] : valuesOf(cli.env.IDP_FIXTURES));

/** Reads standard input for `-`. It can be read only once. */
export async function withStdin(cli: Invocation, paths: readonly string[]): Promise<readonly NamedFixture[]> {
  if (!paths.includes("-")) return paths;
  const stdin = { name: "stdin", text: decodeFixture("stdin", await readBytes(cli.stdin)) };
  return paths.map((path) => (path === "-" ? stdin : path));
}

/** The named fixtures, else those of the working folder, else the demo. */
export function fixturesOf(cli: Invocation, flags: FixturesFlag): FoundFixtures {
  return findFixtures(fixturePaths(cli, flags), process.cwd());
}

/** The files that data were made from, as they are named from here. @returns null: they are gone, or were no files */
export function filesOf({ from }: MadeFrom): readonly string[] | null {
  const paths = from.map(({ path }) => path);
  if (paths.length === 0 || paths.some((path) => path === null || !existsSync(path))) return null;
  return paths.map((path) => {
    const way = relative(process.cwd(), path ?? "");
    return way.startsWith("..") ? (path ?? "") : way;
  });
}

/**
 * The fixtures of data in a folder: the named ones, else those that the data were made from, where those are files that are
 * there; if nobody knows, those that `idp start` would find.
 */
export function fixturesOfData(cli: Invocation, made: MadeFrom | null): FoundFixtures["sources"] {
  if (made === null || fixturePaths(cli, {}).length > 0) return fixturesOf(cli, {}).sources;
  if (made.demo) return [builtInDemo()];
  const files = filesOf(made);
  return files === null ? [] : findFixtures(files, process.cwd()).sources;
}

/**
 * A shared store does not say which files its data was made from, and those of the working folder may be of another project.
 * @param naming the words of the command that come before a name
 * @throws {OperationError} usage where no fixtures are named and no server has its own
 */
export function requireNamed(
  { store, url }: Pick<Invocation, "store" | "url">,
  given: readonly string[] | undefined,
  naming: readonly string[],
): void {
  if (store === null || url !== null || (given ?? []).length > 0) return;
  throw new OperationError("usage", "with --store and without a server, the fixtures must be named", {
    hint: { text: "Name them, or a server with --url", command: [...naming, "FILE"] },
  });
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
