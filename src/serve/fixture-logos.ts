import { readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { pictureType, pictureUrl, sizeProblem } from "../core/brand/picture.ts";
import { logosIn, type FileOfLogo } from "../core/fixture-files/logos.ts";
import { readSource, type AnyFixtures } from "../core/fixture-files/source.ts";
import { findFixtures, type FoundFixtures } from "./fixture-files.ts";

/** Reads the logos that fixture files name (`settings.brand.logo`). Nothing outside the folder of the fixture file is read. */

const isInside = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way !== "" && way.split(/[\\/]/)[0] !== ".." && !isAbsolute(way);
};

/** @param folder of the fixture file */
function readLogo(folder: string, file: string): FileOfLogo {
  if (isAbsolute(file) || !isInside(folder, join(folder, file))) {
    return { problem: "is not in the folder of the fixture file; put it there and write its relative path" };
  }
  const type = pictureType(file);
  if (type === undefined) return { problem: "must be a PNG, JPEG, WebP or SVG file: .png, .jpg, .jpeg, .webp or .svg" };
  try {
    const real = realpathSync(join(folder, file));
    if (!isInside(realpathSync(folder), real)) {
      return { problem: "is a link that leaves the folder of the fixture file; put the picture itself there" };
    }
    const stats = statSync(real);
    if (!stats.isFile()) return { problem: "is not a file" };
    const problem = sizeProblem(stats.size);
    return problem === null ? { url: pictureUrl(type, readFileSync(real)) } : { problem };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
    if (code === "ENOENT" || code === "ENOTDIR")
      return { problem: "is not there; its path begins at the folder of the fixture file" };
    return { problem: `cannot be read (${code})` };
  }
}

/** The sources with the logos that they name. Those that have them already stay as they are. */
export const withLogosRead = <T extends AnyFixtures>(sources: readonly T[]): Promise<readonly T[]> =>
  Promise.all(
    sources.map(async (source) => {
      if (!("text" in source) || source.folder === undefined || source.logos !== undefined) return source;
      const { text, folder } = source;
      // Most files have none, and need not be parsed for it.
      if (!text.includes("logo")) return source;
      const files = logosIn((await readSource(source)).value).map(({ file }) => file);
      if (files.length === 0) return source;
      return { ...source, logos: Object.fromEntries(files.map((file) => [file, readLogo(folder, file)])) };
    }),
  );

/** As {@link findFixtures}, with the logos. */
export async function readFixtures(...where: Parameters<typeof findFixtures>): Promise<FoundFixtures> {
  const found = findFixtures(...where);
  return { ...found, sources: await withLogosRead(found.sources) };
}
