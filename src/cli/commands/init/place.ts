import { appendFileSync, existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { OperationError } from "../../../core/base/errors.ts";
import { readSource } from "../../../core/base/fixture-files/source.ts";
import { isObject } from "../../../text/json.ts";
import { usualNames } from "../../../serve/fixture-files.ts";
import { envFile } from "../env/choices.ts";
import { cannotBeWritten } from "../../output/put-file.ts";
import { codeOf } from "../../../files/durable-file.ts";

/** Where `idp init` writes to. */

export const file = "idp.fixtures.yaml";

/** A folder may have only one fixture file with a usual name. */
const otherNames = usualNames.filter((name) => name !== file);

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    // Nothing is there, or what should be a folder is a file: then writing says so.
    return false;
  }
}

/** Where a file of the project is or would be, with all links followed. */
function realPlace(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // A link to nothing would make what it names.
    if (isLink(path)) return "";
    return join(realPlace(dirname(path)), basename(path));
  }
}

/** A project is often somebody else's, and what it links to may be a file of this user. @throws {OperationError} usage */
export function requireInProject(...names: readonly string[]): void {
  const project = realpathSync(".");
  for (const name of names) {
    const place = realPlace(resolve(name));
    const way = relative(project, place);
    if (place !== "" && way.split(/[\\/]/)[0] !== ".." && !isAbsolute(way)) continue;
    throw new OperationError(
      "usage",
      `${name} is, or is below, a link out of this folder, which idp init does not follow`,
      {
        hint: "Put a file or folder of its own there. To see what would be written, add --stdout",
      },
    );
  }
}

interface InitPlace {
  readonly flags: { readonly force?: true; readonly stdout?: true };
  /** The same command with one more flag. */
  readonly withFlag: (flag: string) => readonly string[];
}

/** Whether the folder has a fixture file with a usual name. */
export const hasFixtureFile = (): boolean => usualNames.some((name) => existsSync(name));

/** Refuses a place with a file, before anything is asked or read. @throws {OperationError} conflict */
export function checkPlace({ flags, withFlag }: InitPlace): void {
  if (flags.stdout === true) return;
  requireInProject(file, envFile, ".gitignore");
  const other = otherNames.find((name) => existsSync(name));
  if (other !== undefined) {
    throw new OperationError("conflict", `${other} already exists: use only one of ${other} and ${file}`, {
      hint: { text: "To see what would be written", command: withFlag("--stdout") },
    });
  }
  if (flags.force !== true && existsSync(file)) throw taken(withFlag);
}

const taken = (withFlag: InitPlace["withFlag"]): OperationError =>
  new OperationError("conflict", `${file} already exists`, {
    hint: { text: "See what would be written with --stdout. To replace it", command: withFlag("--force") },
  });

/** @throws {OperationError} conflict if somebody else has just made the file; usage if it cannot be written */
export function writeFixtures({ flags, withFlag }: InitPlace, text: string): void {
  try {
    writeFileSync(file, text, { flag: flags.force === true ? "w" : "wx" });
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw taken(withFlag);
    throw cannotBeWritten(file, error);
  }
}

/** Writes a file that does not exist, and its folders. @throws {OperationError} usage if it cannot be written */
export function writeNewFile(name: string, text: string): void {
  requireInProject(name);
  try {
    mkdirSync(dirname(name), { recursive: true });
    writeFileSync(name, text, { flag: "wx" });
  } catch (error) {
    throw cannotBeWritten(name, error);
  }
}

/** The secret and the variables that a client has in the fixture file here, which `--force` keeps. */
export async function secretsHere(
  clientId: string,
): Promise<{ readonly secret: string | null; readonly env: Readonly<Record<string, string>> }> {
  const none = { secret: null, env: {} };
  if (!existsSync(file)) return none;
  const { value } = await readSource({ name: file, text: readFileSync(file, "utf8") });
  const clients = isObject(value) && Array.isArray(value["clients"]) ? (value["clients"] as unknown[]) : [];
  const client = clients.filter(isObject).find((one) => one["client_id"] === clientId);
  if (client === undefined) return none;
  const { client_secret: secret, env } = client;
  const texts = Object.entries(isObject(env) ? env : {}).filter(
    (one): one is [string, string] => typeof one[1] === "string",
  );
  return { secret: typeof secret === "string" ? secret : null, env: Object.fromEntries(texts) };
}

/** The files of `idp start` and `idp init` with secrets, which no repository should have, each with patterns that cover it. */
const withSecrets: Readonly<Record<string, readonly string[]>> = {
  ".idp/": [".idp"],
  ".env.local": [".env.local", ".env*", ".env.*", ".env*.local", "*.local"],
};

/** Adds what the project's `.gitignore` lacks. @returns the added lines; none outside a git repository */
export function ignoreSecrets(): readonly string[] {
  const ignore = ".gitignore";
  const text = existsSync(ignore) ? readFileSync(ignore, "utf8") : null;
  if (text === null && !existsSync(".git")) return [];
  const lines = (text ?? "").split(/\r?\n/).map((line) => line.trim().replace(/^\/|\/$/g, ""));
  const missing = Object.entries(withSecrets).flatMap(([name, patterns]) =>
    patterns.some((pattern) => lines.includes(pattern)) ? [] : [name],
  );
  const start = text === null || text === "" || text.endsWith("\n") ? "" : "\n";
  try {
    if (missing.length > 0) appendFileSync(ignore, `${start}${missing.join("\n")}\n`);
  } catch (error) {
    throw cannotBeWritten(ignore, error);
  }
  return missing;
}

/** The JSON Schema of fixtures, for editors; null if the package is not installed here. */
export function schemaNearby(): string | null {
  const schema = join("node_modules", "dev-idp", "fixtures", "idp.fixtures.schema.json");
  return existsSync(schema) ? `./${schema}` : null;
}
