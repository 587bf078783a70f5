import { isUtf8 } from "node:buffer";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { OperationError } from "../../../core/base/errors.ts";
import { packageFile } from "../../../files/package.ts";

/** The text of a file of pages, without the byte order mark that editors on Windows put first. */
export const readPage = (path: string): string => readFileSync(path, "utf8").replace(/^\ufeff/, "");

/** The folder of the built-in pages. */
export const builtInRoot = fileURLToPath(packageFile("templates/"));

/** @throws {OperationError} usage */
export function folderOf(path: string): string {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new OperationError("usage", `templates ${path} is not a folder`, {
      hint: "It holds files such as login.eta, style.css or locales/en.json: those that you want to replace",
    });
  }
  return resolve(path);
}

/** The folders that have files of pages. Whatever else is beside them, such as the data, is somebody else's. */
const folders = ["", "inspector/", "locales/", "partials/"];
const ofPages = /\.(eta|json|css|js)$/;

/** The files of pages in a folder, by their names in it: `partials/avatar.eta`. */
export const filesIn = (root: string): readonly string[] =>
  folders.flatMap((folder) =>
    (existsSync(join(root, folder)) ? readdirSync(join(root, folder)) : [])
      .filter((name) => ofPages.test(name) && (folder !== "" || !name.endsWith(".json")))
      .sort()
      .map((name) => folder + name),
  );

/** The texts of files by their paths. */
export type Pages = ReadonlyMap<string, string>;

/**
 * Every file of these folders as it is now, so that no later mistake in one reaches a page.
 * @param roots the built-in one last; whatever else has scripts or stylesheets beside its templates keeps them
 */
export function readPages(roots: readonly string[]): Pages {
  const known = filesIn(roots.at(-1) ?? "");
  const isPage = (name: string): boolean => !/\.(css|js)$/.test(name) || known.includes(name);
  const paths = roots.flatMap((root) =>
    filesIn(root)
      .filter(isPage)
      .map((name) => join(root, name)),
  );
  return new Map(paths.map((path) => [path, readPage(path)]));
}

/** Line and column of a place in a text, from 1. */
export function positionOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

/** A mistake in a file, with its line and column; none for a file that cannot be read. */
export interface Mistake {
  readonly position: string | null;
  readonly message: string;
}

const reasons: Readonly<Partial<Record<string, string>>> = {
  EACCES: "its permissions do not allow it",
  EPERM: "its permissions do not allow it",
  EISDIR: "it is a folder",
  ENOENT: "it is a link to a file that does not exist",
};

/** Why a file cannot be used at all; null if it can. */
export function problemOfFile(path: string): Mistake | null {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return { position: null, message: `cannot be read: ${reasons[code] ?? (code || "unknown reason")}` };
  }
  if (isUtf8(bytes)) return null;
  const text = bytes.toString();
  return { position: positionOf(text, text.indexOf("\ufffd")), message: "is not UTF-8: save the file in UTF-8" };
}
