import { decodeFixture } from "../../core/fixture-files/source.ts";
import { findFixtures, type FoundFixtures, type NamedFixture } from "../../serve/fixture-files.ts";
import { readBytes } from "../input/read.ts";
import type { Invocation } from "../invocation.ts";
import { valuesOf } from "./variables.ts";

/** The fixtures of the commands that run a server. */

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
