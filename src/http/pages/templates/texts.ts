import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { OperationError } from "../../../core/base/errors.ts";
import { durationParts } from "../../../text/time.ts";
import type { Pages } from "./page-file.ts";

/** Values for the `{names}` of a text. */
export type TextValues = Readonly<Record<string, string | number>>;

/** A text of the catalog with its values, or a string that is shown as it is (machine texts stay English). */
export type Text = string | { readonly key: string; readonly values: TextValues };

/** The texts of the pages in every language that has a `locales/<language>.json`. */
export interface Texts {
  /** The codes of the languages with texts. */
  readonly languages: readonly string[];
  /** The language if nothing else matches. */
  readonly fallback: string;
  /** The first of these language tags that has texts, without its region: `tr` for `tr-TR`. */
  match(wanted: readonly (string | null)[]): string | null;
  has(language: string, key: string): boolean;
  /** As plain text, for titles and attributes, which the template engine escapes. */
  plain(language: string, text: Text): string;
  /**
   * As HTML: everything escaped, values set apart with `<bdi>`, `**…**` strong, and backticks around code.
   * @param hook id and data-testid of the elements around the values
   */
  html(language: string, key: string, values: TextValues, hook?: string): string;
}

type Catalog = ReadonlyMap<string, Message>;

const fallbackLanguage = "en";

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

/** Text as HTML, for an element or a quoted attribute. */
export const escapeHtml = (text: string): string =>
  /[&<>"']/.test(text) ? text.replace(/[&<>"']/g, (character) => entities[character] ?? "") : text;

function valueOf(values: TextValues, name: string, message: string): string {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value == null) throw new Error(`no value for {${name}} of the text "${message}"`);
  return String(value);
}

/** A text cut at its values: `names[i]` is between piece `i` and the next. */
interface Message {
  readonly text: string;
  readonly names: readonly string[];
  readonly plain: readonly string[];
  readonly html: readonly string[];
}

function cut(text: string): Message {
  const parts = text.split(/\{(\w+)\}/);
  const plain = parts.filter((_, at) => at % 2 === 0);
  const open = { "**": false, "`": false };
  // Only the text itself has marks; a value is shown as it is.
  const marked = (piece: string): string =>
    piece
      .split(/(\*\*|`)/)
      .map((part) => {
        if (part !== "**" && part !== "`") return escapeHtml(part);
        open[part] = !open[part];
        return `<${open[part] ? "" : "/"}${part === "`" ? "code" : "strong"}>`;
      })
      .join("");
  return { text, names: parts.filter((_, at) => at % 2 === 1), plain, html: plain.map(marked) };
}

/** @param named gives the value for a name */
function joined(pieces: readonly string[], names: readonly string[], named: (name: string) => string): string {
  let text = pieces[0] ?? "";
  for (let at = 0; at < names.length; at += 1) text += named(names[at] ?? "") + (pieces[at + 1] ?? "");
  return text;
}

function toHtml({ text, names, html }: Message, values: TextValues, hook: string | undefined): string {
  const attributes = hook === undefined ? "" : ` id="${escapeHtml(hook)}" data-testid="${escapeHtml(hook)}"`;
  return joined(html, names, (name) => `<bdi${attributes}>${escapeHtml(valueOf(values, name, text))}</bdi>`);
}

/** @throws {OperationError} usage, for a file name that is not a language. A region is not allowed: `tr-TR` uses `tr`. */
function languagesIn(root: string): string[] {
  const folder = join(root, "locales");
  // A folder that only replaces pages has no texts.
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const strange = names.find((name) => !/^[a-z]{2,3}\.json$/.test(name));
  if (strange !== undefined) {
    throw new OperationError("usage", `${join(folder, strange)} must be named after a language only`, {
      hint: "For example: en.json, tr.json",
    });
  }
  return names.map((name) => name.slice(0, -".json".length));
}

/**
 * The texts below these folders.
 * @param roots the folders of `pages`; the first one wins, text by text; a text that a language lacks is taken from English
 */
export function loadTexts(roots: readonly string[], pages: Pages): Texts {
  const byRoot = roots.map((root) => ({ root, languages: languagesIn(root) }));
  const languages = new Set(byRoot.flatMap((entry) => entry.languages));
  const catalogs = new Map<string, Catalog>();

  function catalogOf(language: string): Catalog {
    let catalog = catalogs.get(language);
    if (catalog === undefined) {
      const layers = byRoot
        .filter((entry) => entry.languages.includes(language))
        .map(({ root }) => JSON.parse(pages.get(join(root, "locales", `${language}.json`)) ?? "{}") as object)
        .map((layer) => Object.entries(layer).map(([key, text]) => [key, cut(String(text))] as const))
        .reverse();
      const fallback = language === fallbackLanguage ? [] : catalogOf(fallbackLanguage);
      catalog = new Map([...fallback, ...layers.flat()]);
      catalogs.set(language, catalog);
    }
    return catalog;
  }

  function messageOf(language: string, key: string): Message {
    const message = catalogOf(language).get(key);
    if (message === undefined) throw new Error(`no text "${key}" in the catalog "${language}"`);
    return message;
  }

  return {
    languages: [...languages].sort(),
    fallback: fallbackLanguage,
    match(wanted) {
      for (const tag of wanted) {
        const [primary = ""] = tag?.toLowerCase().split("-") ?? [];
        if (languages.has(primary)) return primary;
      }
      return null;
    },
    has: (language, key) => catalogOf(language).has(key),
    plain(language, text) {
      if (typeof text === "string") return text;
      const { names, plain } = messageOf(language, text.key);
      return joined(plain, names, (name) => valueOf(text.values, name, text.key));
    },
    html: (language, key, values, hook) => toHtml(messageOf(language, key), values, hook),
  };
}

const rightToLeft = new Set(["ar", "dv", "fa", "he", "ks", "ps", "sd", "ug", "ur", "yi"]);

/** The direction in which a language is written. */
export const directionOf = (code: string): "ltr" | "rtl" => (rightToLeft.has(code) ? "rtl" : "ltr");

const languageNames = new Map<string, string>();

/** A language by its own name: "Türkçe". Every page shows all of them, and looking one up is slow. */
export function nameOfLanguage(code: string): string {
  let name = languageNames.get(code);
  if (name === undefined) {
    name = new Intl.DisplayNames([code], { type: "language" }).of(code) ?? code;
    languageNames.set(code, name);
  }
  return name;
}

/** "1,000". */
export const formatNumber = (number: number, language: string): string => number.toLocaleString(language);

/** A browser does not send its time zone. The time zone of this machine is the best guess, and every time names its zone. */
const ownTimeZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
export const timeZoneHere = (): string => ownTimeZone;

const clock = { hour: "2-digit", minute: "2-digit", timeZoneName: "short" } as const;
const kinds = {
  time: { year: "numeric", month: "short", day: "numeric", ...clock },
  clock,
  moment: { year: "numeric", month: "short", day: "numeric", second: "2-digit", ...clock },
  date: { dateStyle: "long" },
} as const;

/** Kept, because each takes tens of kilobytes outside the heap, and a page needs several. */
const formats = new Map<string, Intl.DateTimeFormat>();

function format(kind: keyof typeof kinds, iso: string, language: string, timeZone: string): string {
  const key = `${kind} ${language} ${timeZone}`;
  let formatter = formats.get(key);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, { ...kinds[kind], timeZone });
    formats.set(key, formatter);
  }
  return formatter.format(new Date(iso));
}

/** A moment in words, with the name of its time zone: "20 Nov 2026, 20:26 UTC". */
export const formatTime = (iso: string, language: string, timeZone: string): string =>
  format("time", iso, language, timeZone);

/** A calendar date in words: "1 April 1990". */
export const formatDate = (date: string, language: string): string => format("date", date, language, "UTC");

/** The time of day, with the name of its time zone: "20:26 UTC". */
export const formatClock = (iso: string, language: string, timeZone: string): string =>
  format("clock", iso, language, timeZone);

/** A moment to the second, with the name of its time zone: "20 Nov 2026, 20:26:31 UTC". */
export const formatMoment = (iso: string, language: string, timeZone: string): string =>
  format("moment", iso, language, timeZone);

/** A length of time: "2 hours 30 minutes". */
export const formatDuration = (seconds: number, language: string): string =>
  durationParts(seconds)
    .map(({ count, unit }) =>
      new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(count),
    )
    .join(" ");
