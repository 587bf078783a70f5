import { escapeLine, printableJson } from "./escape.ts";
import type { Style } from "./style.ts";
import { pairs } from "./table.ts";

/** What an edit changed in a record, in words: each changed field, before and after. */

function shown(value: unknown): string {
  if (value === undefined || value === null || value === "") return "nothing";
  if (typeof value === "string") return escapeLine(value);
  if (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string"))
    return escapeLine(value.join(" "));
  return printableJson(value, 0);
}

/**
 * @param name the name of the record
 * @param secrets fields that were given and are never shown
 */
export function changesText(
  name: string,
  before: object,
  after: object,
  secrets: readonly string[],
  style: Style,
): string {
  const [was, is] = [new Map<string, unknown>(Object.entries(before)), new Map<string, unknown>(Object.entries(after))];
  const fields = [...new Set([...was.keys(), ...is.keys()])].filter((field) => field !== "updatedAt");
  const lines = fields.flatMap((field): (readonly [string, string])[] => {
    const [from, to] = [was.get(field), is.get(field)];
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [[field, `${shown(from)} -> ${shown(to)}`]];
  });
  const all = [...lines, ...secrets.map((field) => [field, "updated"] as const)];
  if (all.length === 0) return `No change: ${escapeLine(name)} already has these values`;
  return `Changed ${style.bold(escapeLine(name))}\n${pairs(all, style, "  ")}`;
}
