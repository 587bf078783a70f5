import { join } from "node:path";
import { Script } from "node:vm";
import { Eta } from "eta";
import { OperationError, type Problem } from "../../../core/base/errors.ts";
import { locateJson } from "../../../core/base/fixture-files/json.ts";
import { nearest } from "../../../core/base/nearest.ts";
import { ownValue } from "../../../text/json.ts";
import { builtInRoot, filesIn, folderOf, positionOf, problemOfFile, readPage, type Mistake } from "./page-file.ts";

/** Checks a folder of templates before anybody asks for a page: a page with a mistake would be an error 500 without a file name. */

/** What is wrong with the JSON of a locale; null: nothing. */
function problemOfLocale(text: string): Mistake | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return { position: "1:1", message: "must be an object of texts" };
    }
    const wrong = Object.entries(value).find(([, one]) => typeof one !== "string");
    if (wrong === undefined) return null;
    const offset = Math.max(0, text.indexOf(JSON.stringify(wrong[0])));
    return { position: positionOf(text, offset), message: `"${wrong[0]}" must be a text` };
  } catch {
    const { offset, message } = mistakeIn(text);
    return { position: positionOf(text, offset), message: `is not JSON: ${message}` };
  }
}

/** @param text one that is not JSON */
function mistakeIn(text: string): { readonly offset: number; readonly message: string } {
  if (text.trim() === "") return { offset: 0, message: "it is empty" };
  const comment = Math.max(0, text.search(/\/[/*]/));
  return locateJson(text).syntax ?? { offset: comment, message: "JSON has no comments: remove them" };
}

/** What is wrong with the syntax of a template; null: nothing. */
function problemOfTemplate(text: string): Mistake | null {
  const eta = new Eta({ debug: true });
  let code: string;
  try {
    code = eta.compileToString(text);
  } catch (error) {
    const { message } = error as Error;
    const [, what = message, line = "1", column = "1"] = /^(.*) at line (\d+) col (\d+)/s.exec(message) ?? [];
    return { position: `${line}:${column}`, message: what === "unclosed tag" ? `${what}: %> is missing` : what };
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
    return { position: `${line}:1`, message: `the JavaScript in the tags is not valid: ${message}` };
  }
}

/** Fixtures name scopes and fields; everything else has a text of that name in English. */
const ownKey = /^(scope|field)\./;

const didYouMean = (given: string, known: readonly string[]): string => {
  const found = nearest(given, known);
  return found === undefined ? "" : ` Did you mean ${found}?`;
};

/** Where a template has the tags of another engine, which are shown as they are. */
function foreignTags(text: string): readonly string[] {
  const at = text.search(/\{[{%]/);
  if (at === -1) return [];
  return [`:${positionOf(text, at)} ${text.slice(at, at + 2)} is shown as it is: the tags of templates are <%= … %>`];
}

/** The values that a text takes: `{app}`. */
const valuesIn = (text: string): readonly string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);

/** What has no effect in the texts of a locale, or no value on a page. @param known the built-in texts in English */
function oddTexts(texts: Readonly<Record<string, string>>, known: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(texts).flatMap(([key, text]) => {
    const original = ownValue(known, key);
    if (original === undefined) {
      return ownKey.test(key) ? [] : [` "${key}" is no text of a page.${didYouMean(key, Object.keys(known))}`];
    }
    const values = valuesIn(original);
    return valuesIn(text)
      .filter((name) => !values.includes(name))
      .map((name) => ` "${key}" has {${name}}, which has no value there.${didYouMean(name, values)}`);
  });
}

/** @returns the built-in file to compare a file with */
const originalOf = (name: string, known: readonly string[]): string =>
  join(builtInRoot, known.includes(name) ? name : "locales/en.json");

/**
 * @param path of the user's own folder
 * @returns what has no effect: unknown files and texts
 * @throws {OperationError} usage, where there is no such folder; invalid, with `file:line:column` of each mistake
 */
export function checkTemplates(path: string): readonly string[] {
  const root = folderOf(path);
  const known = filesIn(builtInRoot);
  const english = JSON.parse(readPage(join(builtInRoot, "locales/en.json"))) as Readonly<Record<string, string>>;
  const problems: Problem[] = [];
  const warnings: string[] = [];
  let compare: readonly string[] = [];
  for (const name of filesIn(root)) {
    const file = join(root, name);
    const isLocale = /^locales\/[a-z]{2,3}\.json$/.test(name);
    if (!isLocale && !known.includes(name)) {
      warnings.push(`${file} replaces nothing.${didYouMean(name, known)}`);
      continue;
    }
    const isTemplate = name.endsWith(".eta");
    const broken = problemOfFile(file);
    const text = broken === null && (isLocale || isTemplate) ? readPage(file) : "";
    const wrong = broken ?? (isLocale ? problemOfLocale(text) : isTemplate ? problemOfTemplate(text) : null);
    if (wrong !== null) {
      const place = wrong.position === null ? file : `${file}:${wrong.position}`;
      problems.push({ path: "", message: `${place} ${wrong.message}` });
      if (compare.length === 0 && wrong.position !== null) compare = ["diff", originalOf(name, known), file];
      continue;
    }
    const odd = isLocale ? oddTexts(JSON.parse(text) as Readonly<Record<string, string>>, english) : foreignTags(text);
    warnings.push(...odd.map((line) => file + line));
  }
  if (problems.length === 0) return warnings;
  const listed = problems.map(({ message }) => message).join("\n");
  throw new OperationError("invalid", listed, {
    problems,
    summary: "the templates have mistakes",
    hint:
      compare.length === 0
        ? "Fix that, or remove it: then the built-in file is used."
        : { text: "To compare the file with the built-in one", command: compare },
  });
}
