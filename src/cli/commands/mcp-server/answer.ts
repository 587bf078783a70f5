import { cut } from "../../../text/redacted.ts";
import { isObject, type JsonObject } from "../../../text/json.ts";
import { escapeDeep, escapeLine, escapeText } from "../../output/escape.ts";
import type { ToolAnswer } from "./protocol.ts";

/** What a tool answers with: the lines that a person would read first, then the data. */
export interface Answer {
  readonly lines: readonly string[];
  readonly data: JsonObject;
  /** The member of `data` that is a list, of which as many members are given as there is room for. */
  readonly list?: string;
  /** Which of them: those of a ledger are the last ones. */
  readonly keep?: "first" | "last";
  readonly isError?: boolean;
  /** Handed over letter by letter, because somebody asked for it: too long a one is refused before. */
  readonly isExact?: boolean;
}

/** Bytes of the text, and of `structuredContent`. */
export const maxBytes = 20_480;

const bytesOf = (value: unknown): number =>
  Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value));

/** Characters of a text, and members of a list, from generous to hardly any. */
const limits = [
  [2000, 500],
  [500, 100],
  [200, 20],
  [80, 5],
  [40, 2],
] as const;

/** Cuts texts, names and lists, whoever chose their length. */
function cutDeep(value: unknown, characters: number, members: number): unknown {
  if (typeof value === "string") return cut(value, characters);
  if (Array.isArray(value)) return value.slice(0, members).map((one) => cutDeep(one, characters, members));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).slice(0, members);
  return Object.fromEntries(kept.map(([name, one]) => [cut(name, 100), cutDeep(one, characters, members)]));
}

/** The longest part of a list that fits. */
function fitted(list: readonly unknown[], keep: "first" | "last", room: number): readonly unknown[] {
  const sizes = list.map((one) => bytesOf(one) + 1);
  let [count, used] = [0, 2];
  const order = keep === "first" ? sizes : sizes.toReversed();
  while (count < order.length && used + (order[count] ?? 0) <= room) {
    used += order[count] ?? 0;
    count += 1;
  }
  return keep === "first" ? list.slice(0, count) : list.slice(list.length - count);
}

/** The data in so many bytes, and the sentence that says what is missing; null: nothing is. */
function fitting(
  { data, list, keep = "first" }: Answer,
  room: number,
): { readonly data: JsonObject; readonly note: string | null } {
  if (bytesOf(data) <= room) return { data, note: null };
  const all = list === undefined ? undefined : data[list];
  if (list !== undefined && Array.isArray(all)) {
    const rest = bytesOf({ ...data, [list]: [] });
    const short = all.map((one) => cutDeep(one, 500, 50));
    const some = fitted(short, keep, room - rest);
    if (some.length > 0) {
      const which = keep === "first" ? "first" : "last";
      const note = `Cut: only the ${which} ${some.length} of ${all.length} are given. Ask for fewer.`;
      return { data: { ...data, [list]: some }, note };
    }
  }
  const note = "Cut: the answer is longer than a tool may give, so texts and lists in it are shortened.";
  for (const [characters, members] of limits) {
    const short = cutDeep(data, characters, members) as JsonObject;
    if (bytesOf(short) <= room) return { data: short, note };
  }
  return { data: {}, note: "Cut: the answer is longer than a tool may give. Ask for less." };
}

/** The longest text of the lines, which leaves room for the data. */
const maxLines = 6000;

/** Data in which nothing acts on a terminal. Our own texts keep their lines, which JSON writes as `\n`. */
function shownData(value: unknown): unknown {
  if (typeof value === "string") return escapeText(value);
  if (Array.isArray(value)) return value.map((one: unknown) => shownData(one));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      escapeLine(name),
      name === "from_request" ? escapeDeep(one) : shownData(one),
    ]),
  );
}

const oneLine = (text: string): string => escapeLine(text.replaceAll(/\s*\n\s*/g, " "));

/** An answer within its limits. No text of a request begins a line. */
export function toolAnswer(given: Answer): ToolAnswer {
  const safe = given.isExact === true ? given : { ...given, data: shownData(given.data) as JsonObject };
  const lines = cut(given.lines.map(oneLine).join("\n"), maxLines);
  const { data, note } = fitting(safe, maxBytes - bytesOf(lines) - 300);
  const structuredContent = note === null ? data : { ...data, cut: note };
  const before = [lines, note ?? ""].filter((part) => part !== "");
  const text = [...before, JSON.stringify(structuredContent)].join("\n");
  return {
    content: [{ type: "text", text }],
    structuredContent,
    ...(given.isError === true && { isError: true as const }),
  };
}
