import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";
import { Eta } from "eta";
import { OperationError, type Problem } from "../../../core/errors.ts";
import { nearest } from "../../../core/nearest.ts";

/** Checks a folder of templates before anybody asks for a page: a page with a mistake would be an error 500 without a file name. */

/** The folders that have files of pages. Whatever else is beside them, such as the data, is somebody else's. */
const folders = ["", "inspector/", "locales/", "partials/"];
const ofPages = /\.(eta|json|css|js)$/;

const filesIn = (root: string): readonly string[] =>
  folders.flatMap((folder) =>
    (existsSync(join(root, folder)) ? readdirSync(join(root, folder)) : [])
      .filter((name) => ofPages.test(name) && (folder !== "" || !name.endsWith(".json")))
      .sort()
      .map((name) => folder + name),
  );

/** Line and column of a place in a text, from 1. */
function positionOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

/** What is wrong with the JSON of a locale; null: nothing. */
function problemOfLocale(text: string): { readonly position: string; readonly message: string } | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return { position: "1:1", message: "must be an object of texts" };
    }
    const wrong = Object.entries(value).find(([, one]) => typeof one !== "string");
    if (wrong === undefined) return null;
    const offset = Math.max(0, text.indexOf(JSON.stringify(wrong[0])));
    return { position: positionOf(text, offset), message: `"${wrong[0]}" must be a text` };
  } catch (error) {
    const { message } = error as Error;
    const at = /at position (\d+)/.exec(message)?.[1];
    return {
      position: positionOf(text, at === undefined ? text.length : Number(at)),
      message: `is not JSON: ${message}`,
    };
  }
}

/** What is wrong with the syntax of a template; null: nothing. */
function problemOfTemplate(text: string): { readonly position: string; readonly message: string } | null {
  const eta = new Eta({ debug: true });
  let code: string;
  try {
    code = eta.compileToString(text);
  } catch (error) {
    const { message } = error as Error;
    const [, what = message, line = "1", column = "1"] = /^(.*) at line (\d+) col (\d+)/s.exec(message) ?? [];
    return { position: `${line}:${column}`, message: what };
  }
  try {
    new Script(`(function(){${code}\n})`, { filename: "template" });
    return null;
  } catch (error) {
    const { stack = "", message } = error as Error;
    // The compiled code says which line of the template each of its own lines is from.
    const reached = code.split("\n").slice(0, Number(/^template:(\d+)/.exec(stack)?.[1] ?? "1"));
    const line =
      reached
        .join("\n")
        .match(/__eta\.line=\d+/g)
        ?.at(-1)
        ?.slice("__eta.line=".length) ?? "1";
    return { position: `${line}:1`, message };
  }
}

/** Fixtures name scopes and fields; everything else has a text of that name in English. */
const ownKey = /^(scope|field)\./;

const meant = (given: string, known: readonly string[]): string => {
  const found = nearest(given, known);
  return found === undefined ? "" : ` Did you mean ${found}?`;
};

/**
 * @param folder the user's own
 * @param builtIn the folder whose files it may replace
 * @returns what has no effect: unknown files and texts
 * @throws {OperationError} invalid, with `file:line:column` of each mistake
 */
export function checkTemplates(folder: string, builtIn: string): readonly string[] {
  const known = filesIn(builtIn);
  const keys = Object.keys(JSON.parse(readFileSync(join(builtIn, "locales/en.json"), "utf8")) as object);
  const problems: Problem[] = [];
  const warnings: string[] = [];
  for (const name of filesIn(folder)) {
    const path = join(folder, name);
    const isLocale = /^locales\/[a-z]{2,3}\.json$/.test(name);
    if (!isLocale && !known.includes(name)) {
      warnings.push(`${path} replaces nothing.${meant(name, known)}`);
      continue;
    }
    if (!isLocale && !name.endsWith(".eta")) continue;
    const text = readFileSync(path, "utf8");
    const wrong = isLocale ? problemOfLocale(text) : problemOfTemplate(text);
    if (wrong !== null) problems.push({ path: "", message: `${path}:${wrong.position} ${wrong.message}` });
    else if (isLocale) {
      for (const key of Object.keys(JSON.parse(text) as object)) {
        if (!keys.includes(key) && !ownKey.test(key))
          warnings.push(`${path} "${key}" is no text of a page.${meant(key, keys)}`);
      }
    }
  }
  if (problems.length === 0) return warnings;
  const listed = problems.map(({ message }) => message).join("\n");
  throw new OperationError("invalid", listed, { problems, summary: "the templates have mistakes" });
}
