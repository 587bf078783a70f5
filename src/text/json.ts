/*
 * text: forms of text that every layer reads or writes. This file reads and compares JSON, terminal.ts writes words for shells and shows
 * control characters, time.ts reads and words times, redacted.ts hides secrets, marks.ts bounds what it costs to normalize a text.
 */
import { randomUUID } from "node:crypto";
import { withoutEnd } from "./redacted.ts";

/** A JSON object; an array is not one. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * What a map holds under a name that somebody else chose. Every object inherits `constructor`, `toString` and others, which nobody put
 * there.
 */
export const ownValue = <T>(map: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(map, name) ? map[name] : undefined;

/** The same value with the fields of every object sorted. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const fields = value as Readonly<Record<string, unknown>>;
  // An assignment to `__proto__` would set the prototype.
  return Object.fromEntries(
    Object.keys(fields)
      .sort()
      .map((key) => [key, sorted(fields[key])]),
  );
}

/** The same text for the same value, whatever the order of its fields. */
export const canonical = (value: unknown): string => (value === undefined ? "" : JSON.stringify(sorted(value)));

/** Whether two values are the same JSON. */
export const sameJson = (a: unknown, b: unknown): boolean => a === b || canonical(a) === canonical(b);

/** How deep JSON may be nested, wherever it is read: bodies, tokens, files. Code that follows a deeper value would overflow the stack. */
export const deepest = 64;

export class NestingError extends Error {
  override readonly name = "NestingError";
  constructor() {
    super(`it is nested more than ${deepest} levels deep`);
  }
}

const [quote, backslash] = [0x22, 0x5c];
const isOpening = (byte: number | undefined): boolean => byte === 0x5b || byte === 0x7b;
const isClosing = (byte: number | undefined): boolean => byte === 0x5d || byte === 0x7d;

/** @param bytes UTF-8, whose other characters have none of these bytes. @throws {NestingError} */
export function checkDepth(bytes: Uint8Array): void {
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === quote) {
      do at += bytes[at] === backslash ? 2 : 1;
      while (at < bytes.length && bytes[at] !== quote);
    } else if (isOpening(bytes[at])) {
      depth += 1;
      if (depth > deepest) throw new NestingError();
    } else if (isClosing(bytes[at])) depth -= 1;
  }
}

/** Reads JSON as `JSON.parse` does. @throws {SyntaxError | NestingError} */
export function parseJson(text: string | Buffer): unknown {
  // A shorter text cannot be that deep, and most tokens are asked for often.
  if (text.length > deepest) checkDepth(typeof text === "string" ? Buffer.from(text) : text);
  return JSON.parse(text.toString());
}

/** A number beyond 2^53, say, which JavaScript would round: here it keeps all its digits, as text. */
export class ExactNumber {
  /** The digits as in the JSON text. */
  readonly digits: string;
  constructor(digits: string) {
    this.digits = digits;
  }
}

/** A text or a number in JSON. Texts are matched whole, so that digits in a text are not taken for a number. */
const textsAndNumbers = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** The significant digits and the power of ten, which are the same for every way to write a number. */
function magnitude(number: string): string {
  const [, whole = "", fraction = "", power = "0"] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = withoutEnd(digits, "0");
  return significant === ""
    ? "0"
    : `${significant}e${Number(power) - fraction.length + digits.length - significant.length}`;
}

/** Whether JavaScript holds another number than the one that is written. @param number as JSON writes it */
export const isRounded = (number: string): boolean => magnitude(number) !== magnitude(String(Number(number)));

/** Reads JSON as `JSON.parse` does, but a number that would be rounded is an {@link ExactNumber}. @throws {SyntaxError | NestingError} */
export function parseExact(text: string): unknown {
  const value = parseJson(text);
  // Random, so that no text begins with it.
  const mark = randomUUID();
  const marked = text.replace(textsAndNumbers, (found) =>
    found.startsWith('"') || !isRounded(found) ? found : `"${mark}${found}"`,
  );
  if (marked === text) return value;
  return JSON.parse(marked, (_name, member: unknown) =>
    typeof member === "string" && member.startsWith(mark) ? new ExactNumber(member.slice(mark.length)) : member,
  );
}

/** Writes JSON as `JSON.stringify` does, with the digits of each {@link ExactNumber}. */
export function exactJson(value: unknown, indent: number): string {
  const mark = randomUUID();
  const marked = JSON.stringify(
    value,
    (_name, member: unknown) => (member instanceof ExactNumber ? mark + member.digits : member),
    indent,
  );
  return marked.replaceAll(new RegExp(`"${mark}([^"]*)"`, "g"), "$1");
}

/** A number for arithmetic, which does not need every digit; undefined if it is not a number. */
export function asNumber(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return value instanceof ExactNumber ? Number(value.digits) : undefined;
}

/** An object in JSON; null for any other text. */
export function jsonObjectIn(text: string | Buffer): JsonObject | null {
  try {
    const json = parseJson(text);
    return isObject(json) ? json : null;
  } catch {
    return null;
  }
}
