import { isAscii } from "node:buffer";
import { constants, promises, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";

/**
 * Loads the files of the built command line with what V8 made of them the last time: docs/decisions/compiled-code-is-kept.md. It stands
 * by itself, since it is what loads all others.
 */

type Module = Pick<NodeJS.Module, "id" | "filename" | "exports">;
type Wrapper = (
  exports: object,
  require: (id: string) => unknown,
  module: Module,
  file: string,
  folder: string,
) => void;

interface Compiled {
  readonly script: Script;
  readonly source: Buffer;
  readonly keptIn: string;
}

/** Where it is kept for this V8 with the flags that it began with; another one makes nothing of it. */
const shelf = join(".compiled", `${process.version}-${cachedDataVersionTag()}`);

/** What Node.js puts around a file (module.wrapper). */
const opening = Buffer.from("(function (exports, require, module, __filename, __dirname) {");
const closing = Buffer.from("\n})");

/** What was compiled anew. */
const fresh: Compiled[] = [];

/** What V8 made of exactly this source; undefined where it is not known. */
function keptFor(source: Buffer, path: string): Buffer | undefined {
  try {
    const kept = readFileSync(path);
    const end = kept.length - source.length;
    return end > 0 && kept.subarray(end).equals(source) ? kept.subarray(0, end) : undefined;
  } catch {
    return undefined;
  }
}

/** @param file of the built command line, by its whole path @returns what it exports */
export function load(file: string): unknown {
  const folder = dirname(file);
  const nodeRequire = createRequire(file);
  const loaded = nodeRequire.cache[file];
  if (loaded !== undefined) return loaded.exports;
  const module: Module = { id: file, filename: file, exports: {} };
  nodeRequire.cache[file] = module as NodeJS.Module;
  const source = readFileSync(file);
  const keptIn = join(folder, shelf, basename(file));
  const cachedData = keptFor(source, keptIn);
  // As one text at once: of two that are put together V8 makes a third. ASCII, as nearly every file is, is taken as it is; UTF-8 has to be decoded.
  const bytes = Buffer.concat([opening, source, closing]);
  const wrapped = bytes.toString(isAscii(bytes) ? "latin1" : "utf8");
  const options = { filename: file, ...(cachedData === undefined ? {} : { cachedData }) };
  const script = new Script(wrapped, options);
  if (script.cachedDataRejected !== false) fresh.push({ script, source, keptIn });
  const require = (id: string): unknown => (id.startsWith("./") ? load(join(folder, id)) : nodeRequire(id));
  (script.runInThisContext() as Wrapper)(module.exports as object, require, module, file, folder);
  return module.exports;
}

async function keep({ script, source, keptIn }: Compiled): Promise<void> {
  const unfinished = `${keptIn}.${process.pid}`;
  try {
    const file = await promises.open(unfinished, "w");
    try {
      await file.writeFile(Buffer.concat([script.createCachedData(), source]));
      // On the disk before it has its name: V8 takes on trust what is in it.
      await file.datasync();
    } finally {
      await file.close();
    }
    await promises.rename(unfinished, keptIn);
  } catch (error) {
    await promises.unlink(unfinished).catch(() => undefined);
    throw error;
  }
}

/**
 * Keeps what V8 has compiled so far for the next process, beside the files themselves: whoever may write there may change these too. Where
 * this user may not, the next process compiles again. Never rejects.
 */
export async function keepCompiled(): Promise<void> {
  const now = fresh.splice(0);
  const [first] = now;
  if (first === undefined) return;
  try {
    const folder = dirname(first.keptIn);
    await promises.mkdir(folder, { recursive: true });
    await promises.access(folder, constants.W_OK);
    await Promise.all(now.map(keep));
  } catch {
    // A disk that is full, a folder that is not this user's.
  }
}

/** The one package that is not in the files: what V8 kept of a file does not know how to import a module, so it is done here. */
export const importOpen = () => import("open");
