/* text: forms of text that every layer reads or writes. json-digits.ts keeps digits, json-depth.ts limits nesting,
 * json-object.ts is the type of an object, own-text.ts copies slices, escape.ts shows what acts on a terminal, redacted.ts hides secrets, shell-word.ts quotes words. */
import { randomUUID } from "node:crypto";
import { parseJson } from "./json-depth.ts";
import { withoutEnd } from "./redacted.ts";

/** JSON with all digits of its numbers: JavaScript rounds a number beyond 2^53, so it is kept as text here. */

/** A number that JavaScript would write with other digits. */
export class ExactNumber {
  /** As in the JSON text. */
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

const isRounded = (number: string): boolean => magnitude(number) !== magnitude(String(Number(number)));

/** As `JSON.parse`, but a number that would be rounded is an {@link ExactNumber}. @throws {SyntaxError | NestingError} */
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

/** As `JSON.stringify`, with the digits of each {@link ExactNumber}. */
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
