import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { idpHere } from "../../helpers/command.ts";
import { repository } from "../../helpers/readme.ts";

/** The recipes of docs/testing.md, and `idp expect`, both as they are printed. The ledger says what a client did. */

const guide = readFileSync(join(repository, "docs/testing.md"), "utf8");

interface Recipe {
  readonly command: string;
  /** The last cell of its row. */
  readonly expected: string;
}

const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain = ""]) => quoted ?? plain);

/** Runs commands on the server of a data folder. */
export function commandsOn(data: string) {
  const inWords = (line: string) => idpHere(["--data", data, "--yes", ...wordsOf(line)]);

  /** Runs commands, each as it is printed. */
  const run = async (...lines: readonly string[]): Promise<void> => {
    for (const line of lines) {
      const { code, stdout, stderr } = await inWords(line);
      expect(code, stdout + stderr).toBe(0);
    }
  };

  /** Runs `idp expect`. @returns its exit code and output */
  const expectation = (line: string) => inWords(`expect ${line}`);

  /** The requests that the server got. @param lines arguments of `idp expect` */
  const asked = (...lines: readonly string[]): Promise<void> => run(...lines.map((line) => `expect ${line}`));

  return { run, expectation, asked };
}

/**
 * @param heading the section of the guide
 * @param data the folder of the server
 */
export function recipesOf(heading: string, data: string) {
  const section = guide.split(/^## /m).find((one) => one.startsWith(`${heading}\n`)) ?? "";
  const rows = section.matchAll(/^\| (.+?) +\| `idp (.+?)` +\| `?(.+?)`? +\|$/gm);
  const recipes = new Map<string, Recipe>(
    [...rows].map(([, title = "", command = "", expected = ""]) => [title, { command, expected }]),
  );
  const tested = new Set<string>();
  const { run, expectation, asked } = commandsOn(data);

  /** Runs the command of a recipe. @returns the last cell of its row */
  const follow = async (title: string): Promise<string> => {
    tested.add(title);
    const { command = "", expected = "" } = recipes.get(title) ?? {};
    await run(command);
    return expected;
  };

  /** Fails if the guide has a recipe that no test followed. */
  const allTested = (): void => {
    expect(recipes.size).toBeGreaterThan(0);
    expect([...tested].sort()).toEqual([...recipes.keys()].sort());
  };

  return { follow, expectation, asked, allTested };
}
