import { readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { pictureType, pictureUrl, sizeProblem } from "../core/brand/picture.ts";
import { logosIn, type FileOfLogo, metadataIn, type FileOfMetadata } from "../core/fixture-files/named-files.ts";
import { readSource, type AnyFixtures } from "../core/fixture-files/source.ts";
import { findFixtures, type FoundFixtures } from "./fixture-files.ts";

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
export const withLogosRead = <T extends AnyFixtures>(sources: readonly T[]): Promise<readonly T[]> =>
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
  return { ...found, sources: await withLogosRead(found.sources) };
}
