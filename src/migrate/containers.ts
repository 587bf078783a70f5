import { isObject } from "../text/json-object.ts";
import type { Located } from "../core/fixture-files/located.ts";
import { partOf, readPart, type Part, type Source } from "./text.ts";

/** Configurations inside other files: Kubernetes manifests (a ConfigMap, a Secret, the environment of a container), and Compose files. */

/** Whether a file may have the text of a configuration in one of its values. */
const isContainer = (root: unknown): boolean =>
  isObject(root) &&
  ((typeof root["kind"] === "string" && typeof root["apiVersion"] === "string") ||
    isObject(root["services"]) ||
    isObject(root["configs"]));

/** How many texts of one file are looked at. */
const maxTexts = 10_000;

/** What the texts in a file hold, each as a document of its own. */
export function contentsOf(source: Source): readonly Source[] {
  if (!isContainer(source.value)) return [];
  const texts: [text: string, located: Located | undefined][] = [];
  const visit = (value: unknown, located: Located | undefined, isEncoded: boolean): void => {
    if (texts.length >= maxTexts) return;
    if (typeof value === "string") texts.push([isEncoded ? Buffer.from(value, "base64").toString() : value, located]);
    else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, located?.items?.[index], isEncoded);
    } else if (isObject(value)) {
      for (const [name, member] of Object.entries(value)) {
        const isData = name === "data" && value["kind"] === "Secret";
        visit(member, located?.fields?.get(name)?.value, isEncoded || isData);
      }
    }
  };
  visit(source.value, source.locate(), false);
  return texts.flatMap(([text, located]) => {
    const part = partWith(text, located?.start ?? 0, source.text);
    return part === null ? [] : [{ ...readPart(source.name, source.text, part), within: source }];
  });
}

/** The text of a value, in which a variable may be named: `JSON_CONFIG={…}`. Null for one that is no file. */
function partWith(given: string, start: number, whole: string): Part | null {
  const text = given.replace(/^[A-Z][A-Z0-9_]*=(?=\s*[[{])/, "");
  if (!text.includes("\n") && !/^\s*[[{]/.test(text)) return null;
  return literalAt(whole, start) ?? { text, place: () => start };
}

/** The lines of a literal block (`|`) as they stand in the file, so that places in it are places in the file. */
function literalAt(whole: string, start: number): Part | null {
  const line = whole.lastIndexOf("\n", start - 1) + 1;
  const header = whole.slice(whole.lastIndexOf("\n", line - 2) + 1, line);
  if (!/[|][+-]?\d?[+-]?\s*(?:#.*)?\n$/.test(header)) return null;
  const indent = /^(?:[ \t]*\n)*( +)/.exec(whole.slice(line))?.[1]?.length ?? 0;
  if (indent === 0) return null;
  const after = new RegExp(`^ {0,${indent - 1}}\\S`, "m").exec(whole.slice(line));
  return partOf(whole, line, after === null ? whole.length : line + after.index);
}
