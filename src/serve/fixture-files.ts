import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve, isAbsolute, relative } from "node:path";
import { OperationError } from "../core/base/errors.ts";
import { decodeFixture, readSource, type FixtureSource, type AnyFixtures } from "../core/base/fixture-files/source.ts";
import { distrustOfFile } from "../store/json/trust.ts";
import { packageFile } from "../files/package.ts";
import { pictureType, pictureUrl, sizeProblem } from "../core/base/brand/picture.ts";
import { logosIn, metadataIn, type FileOfLogo, type FileOfMetadata } from "../core/base/fixture-files/named-files.ts";

/** Finds and reads fixture files, and the files that they name. Only this file reads them from disk. */

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
  if (path === "") {
    throw new OperationError("invalid", "the name of a fixture file is empty", {
      hint: "Name a fixture file (.json, .yaml, .yml) or a folder of them",
    });
  }
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
  const [only] = present;
  const distrust = only === undefined ? null : distrustOfFile(join(folder, only));
  if (only !== undefined && distrust !== null) {
    throw new OperationError("invalid", `${only} ${distrust.problem}, so it is used only where it is named`, {
      hint: { text: `${distrust.repair}\nOr name it`, command: [...naming, only] },
    });
  }
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

/**
 * Reads the files that fixture files name: logos (`settings.brand.logo`) and metadata of service providers (`clients[].saml.metadata`). Nothing outside
 * the folder of the fixture file is read.
 */

const maxMetadataBytes = 65_536;

const isInside = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way !== "" && way.split(/[\\/]/)[0] !== ".." && !isAbsolute(way);
};

const isBeside = (folder: string, file: string): boolean => !isAbsolute(file) && isInside(folder, join(folder, file));

/**
 * Reads a file beside a fixture file.
 * @param folder of the fixture file
 * @param what it holds, for messages
 * @param work with its real path and its size in bytes
 */
function readBeside<T>(
  folder: string,
  file: string,
  what: string,
  work: (path: string, size: number) => T,
): T | { readonly problem: string } {
  if (!isBeside(folder, file)) {
    return { problem: "is not in the folder of the fixture file; put it there and write its relative path" };
  }
  try {
    const real = realpathSync(join(folder, file));
    if (!isInside(realpathSync(folder), real)) {
      return { problem: `is a link that leaves the folder of the fixture file; put the ${what} itself there` };
    }
    const stats = statSync(real);
    return stats.isFile() ? work(real, stats.size) : { problem: "is not a file" };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
    if (code === "ENOENT" || code === "ENOTDIR")
      return { problem: "is not there; its path begins at the folder of the fixture file" };
    return { problem: `cannot be read (${code})` };
  }
}

function readLogo(folder: string, file: string): FileOfLogo {
  const type = pictureType(file);
  if (type === undefined && isBeside(folder, file))
    return { problem: "must be a PNG, JPEG, WebP or SVG file: .png, .jpg, .jpeg, .webp or .svg" };
  return readBeside<FileOfLogo>(folder, file, "picture", (path, size) => {
    const tooLarge = sizeProblem(size);
    return tooLarge === null ? { url: pictureUrl(type ?? "", readFileSync(path)) } : { problem: tooLarge };
  });
}

const readMetadata = (folder: string, file: string): FileOfMetadata =>
  readBeside<FileOfMetadata>(folder, file, "file", (path, size) =>
    size > maxMetadataBytes ? { problem: "is larger than 64 kB" } : { text: readFileSync(path, "utf8") },
  );

const byPath = <T>(files: readonly string[], read: (file: string) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(files.map((file) => [file, read(file)]));

/** The sources with the files that they name. Those that have them already stay as they are. */
export const withNamedFiles = <T extends AnyFixtures>(sources: readonly T[]): Promise<readonly T[]> =>
  Promise.all(
    sources.map(async (source) => {
      if (!("text" in source) || source.folder === undefined) return source;
      if (source.logos !== undefined || source.metadata !== undefined) return source;
      const { text, folder } = source;
      // Most files have none, and need not be parsed for it.
      if (!text.includes("logo") && !text.includes("metadata")) return source;
      const { value } = await readSource(source);
      const logos = logosIn(value).map(({ file }) => file);
      const metadata = metadataIn(value).map(({ file }) => file);
      return {
        ...source,
        ...(logos.length > 0 && { logos: byPath(logos, (file) => readLogo(folder, file)) }),
        ...(metadata.length > 0 && { metadata: byPath(metadata, (file) => readMetadata(folder, file)) }),
      };
    }),
  );

/** As {@link findFixtures}, with the files that they name. */
export async function readFixtures(...where: Parameters<typeof findFixtures>): Promise<FoundFixtures> {
  const found = findFixtures(...where);
  return { ...found, sources: await withNamedFiles(found.sources) };
}
