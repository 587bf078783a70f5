import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { OperationError } from "../core/errors.ts";
import { decodeFixture, type FixtureSource } from "../core/fixture-files/source.ts";
import { packageFile } from "../files/package.ts";

/** Finds and reads fixture files. Only this file reads them from disk; `fixture-logos.ts` reads the pictures that they name. */

export interface FoundFixtures {
  readonly sources: readonly FixtureSource[];
  /** The given names of the files, for people; empty for the built-in demo. */
  readonly names: readonly string[];
}

/** A path, the text of a file, which begins with `{`, or a text with a name. */
export type NamedFixture = string | Extract<FixtureSource, { readonly text: string }>;

export const isPath = (one: NamedFixture): one is string => typeof one === "string" && !one.trimStart().startsWith("{");

/** The first that exists is used. */
export const usualNames: readonly string[] = ["idp.fixtures.json", "idp.fixtures.yaml", "idp.fixtures.yml"];

export const isFixtureName = (name: string): boolean => /\.(json|ya?ml)$/i.test(name);

/**
 * The given files, folders and texts, else the usual file of the working folder, else the built-in demo.
 * @param given a folder stands for its fixture files, sorted by name, without subfolders
 * @param folder the working folder
 * @param naming the words of the command that come before a name, for hints
 * @throws {OperationError} invalid for what does not exist, cannot be read, or is not UTF-8
 */
export function findFixtures(
  given: readonly NamedFixture[],
  folder: string,
  naming: readonly string[] = ["--fixtures"],
): FoundFixtures {
  const named = given.length > 0 ? given.flatMap((one) => textOrFiles(one, folder)) : usualFile(folder, naming);
  if (named.length === 0) return { sources: [builtInDemo()], names: [] };
  // Each file only once, even if it is named by a folder or a link too.
  const realPath = (one: NamedFixture): unknown => (typeof one === "string" ? realpathSync(resolve(folder, one)) : one);
  const once = [...new Map(named.map((one) => [realPath(one), one])).values()];
  const sources = once.map((one) => (typeof one === "string" ? readFixture(one, folder) : one));
  return { sources, names: sources.map(({ name }) => name) };
}

const readFixture = (name: string, folder: string): Exclude<NamedFixture, string> => {
  const path = resolve(folder, name);
  const bytes = read(name, () => readFileSync(path));
  return { name, text: decodeFixture(name, bytes), folder: dirname(path) };
};

/** A text as it is, or the files of a path. */
function textOrFiles(one: NamedFixture, folder: string): readonly NamedFixture[] {
  if (isPath(one)) return filesOf(one, folder);
  return [typeof one === "string" ? { name: "inline", text: one } : one];
}

/** The demo that ships with the package. */
export function builtInDemo(): FixtureSource {
  return { value: JSON.parse(readFileSync(packageFile("fixtures/demo.json"), "utf8")) as unknown, builtIn: true };
}

function filesOf(path: string, folder: string): readonly string[] {
  if (path === "-") {
    throw new OperationError("invalid", "- is standard input, which cannot be read here", {
      hint: "Name a fixture file (.json, .yaml, .yml) or a folder of them",
    });
  }
  const absolute = resolve(folder, path);
  if (!read(path, () => statSync(absolute)).isDirectory()) {
    // A named file may be one of another tool, with lines of JSON, which is refused with a hint.
    if (isFixtureName(path) || /\.(?:ndjson|jsonl)$/i.test(path)) return [path];
    throw new OperationError("invalid", `${path} does not have the name of a fixture file`, {
      hint: "Name it .json, .yaml or .yml",
    });
  }
  const names = read(path, () => readdirSync(absolute))
    .filter((name) => isFixtureName(name) && !name.startsWith(".") && !name.endsWith(".schema.json"))
    .filter((name) => read(join(path, name), () => statSync(join(absolute, name))).isFile())
    .sort();
  if (names.length > 0) return names.map((name) => join(path, name));
  throw new OperationError("invalid", `the folder ${path} holds no fixture files`, {
    hint: "Put files that end in .json, .yaml or .yml into it, or name another folder or file",
  });
}

function usualFile(folder: string, naming: readonly string[]): readonly string[] {
  const present = usualNames.filter(
    (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === true,
  );
  if (present.length < 2) return present;
  throw new OperationError("invalid", `found ${present.join(" and ")}: use only one of them`, {
    hint: { text: "Remove one, or name the file to use", command: [...naming, present[0] ?? ""] },
  });
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "its permissions do not allow it",
  EPERM: "its permissions do not allow it",
};

function read<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const isMissing = code === "ENOENT" || code === "ENOTDIR";
    const why = reasons[code] ?? (code || "unknown reason");
    throw new OperationError("invalid", isMissing ? `file not found: ${name}` : `${name} cannot be read: ${why}`, {
      hint: "Name a fixture file (.json, .yaml, .yml) or a folder of them",
      cause: error,
    });
  }
}
