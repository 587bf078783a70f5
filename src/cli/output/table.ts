import { isPlain } from "./escape.ts";
import type { Style } from "./style.ts";

/** Characters that take two cells on a terminal: East Asian wide ones and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const marks = /\p{Mn}|\p{Me}|[\u200b-\u200d]/gu;

/** How many cells of a terminal a text without escape sequences takes. */
export function cells(text: string): number {
  if (isPlain(text)) return text.length;
  let width = 0;
  for (const character of text.replace(marks, "")) width += wide.test(character) ? 2 : 1;
  return width;
}

/** Cuts a text to a width, with "…" at the cut. */
export function cut(text: string, width: number): string {
  if (cells(text) <= width) return text;
  let kept = "";
  for (const character of text) {
    if (cells(kept + character) > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/**
 * Text in indented lines that fit a terminal. Words stay whole, so that an address can be copied.
 * @param width cells of the terminal; Infinity for one line
 */
export function wrap(text: string, width: number, indent: string): string {
  // The sender of a request chooses how long a text in the log is, so each word is measured only once.
  const lines: string[] = [];
  let line = "";
  let taken = cells(indent);
  for (const word of text.split(" ")) {
    const size = cells(word);
    if (line !== "" && taken + 1 + size > width) {
      lines.push(line);
      line = word;
      taken = cells(indent) + size;
    } else {
      taken += (line === "" ? 0 : 1) + size;
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].map((each) => indent + each).join("\n");
}

const pad = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - cells(text)));

interface Column<Row> {
  readonly title: string;
  /** In the last column it may have several lines, which a terminal shows below each other. */
  readonly value: (row: Row) => string;
  /** May be cut to fit a terminal, because nobody copies it from here. Other columns are never cut. */
  readonly shrinks?: true;
  /** Whether the last column takes several lines where a terminal is too narrow for one. */
  readonly wraps?: true;
  readonly color?: (text: string, row: Row) => string;
}

const gap = 2;
/** How many cells a column that may be cut keeps. */
const minCells = 8;

const linesOf = (cell: string): readonly string[] => cell.split("\n");
const widthOfCell = (cell: string): number => Math.max(...linesOf(cell).map(cells));
const total = (widths: readonly number[]): number => widths.reduce((sum, each) => sum + each + gap, -gap);

/**
 * The width of each column for rows of plain text. Columns that may be cut become narrower first. If that is not enough, the longest cells
 * do not count, those of the widest column first, and their rows take more than one line.
 */
export function columnWidths(
  rows: readonly (readonly string[])[],
  width: number,
  shrinks: (index: number) => boolean = () => false,
): readonly number[] {
  const widest = (index: number, below: number): number =>
    rows.reduce((widestCell, row) => {
      const each = widthOfCell(row[index] ?? "");
      return each < below && each > widestCell ? each : widestCell;
    }, 0);
  const natural = (rows[0] ?? []).map((_cell, index) => widest(index, Infinity));
  let excess = total(natural) - width;
  const cutDown = natural.map((before, index) => {
    if (!shrinks(index) || excess <= 0) return before;
    const after = Math.min(before, Math.max(cells(rows[0]?.[index] ?? ""), minCells, before - excess));
    excess -= before - after;
    return after;
  });
  if (excess <= 0) return cutDown;
  const widths = [...natural];
  while (total(widths) > width) {
    const maxWidth = Math.max(...widths);
    const index = widths.indexOf(maxWidth);
    const next = widest(index, maxWidth);
    if (next === 0) break;
    widths[index] = next;
  }
  return widths;
}

/**
 * The lines of one row. A cell that is longer than its column stays whole, and those after it go to the next line, below their titles; one
 * that does not fit there begins at the left edge.
 */
export function rowLines(
  row: readonly string[],
  widths: readonly number[],
  width: number,
  paint: (text: string, index: number) => string = (text) => text,
): readonly string[] {
  const lines: string[] = [];
  let line = "";
  let taken = 0;
  let start = 0;
  const put = (text: string, index: number, at: number): void => {
    const fits = at + cells(text) <= width;
    if (taken > 0 && (taken + gap > at || !fits)) {
      lines.push(line.trimEnd());
      line = "";
      taken = 0;
    }
    const from = fits || index === 0 ? at : gap;
    line += " ".repeat(from - taken) + paint(text, index);
    taken = from + cells(text);
  };
  row.forEach((cell, index) => {
    for (const text of width === Infinity ? [linesOf(cell).join(" ")] : linesOf(cell)) {
      if (text !== "") put(text, index, start);
    }
    start += (widths[index] ?? 0) + gap;
  });
  return [...lines, line.trimEnd()];
}

/**
 * Rows under titles.
 * @param width cells of the terminal; Infinity without a terminal, so that nothing is cut and every row is a line
 */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], style: Style, width: number): string {
  const titles = columns.map((column) => column.title);
  const texts = rows.map((row) => columns.map((column) => column.value(row)));
  const shrinks = (index: number): boolean => columns[index]?.shrinks === true;
  const widths = columnWidths([titles, ...texts], width, shrinks);
  // The last column gets the rest of the line.
  const room = (index: number): number =>
    index === widths.length - 1 ? width - total([...widths.slice(0, -1), 0]) : (widths[index] ?? 0);
  return [
    ...rowLines(titles, widths, width, (text) => style.dim(text)),
    ...rows.flatMap((row, at) => {
      const cellsOf = texts[at] ?? [];
      const fitted = cellsOf.map((text, index) => (shrinks(index) ? cut(text, room(index)) : text));
      const last = fitted.length - 1;
      const [text = ""] = fitted.slice(-1);
      const paint = (shown: string, index: number): string => columns[index]?.color?.(shown, row) ?? shown;
      const fits = columns[last]?.wraps !== true || cells(text) <= room(last);
      if (fits) return rowLines(fitted, widths, width, paint);
      if (room(last) >= minRoom)
        return rowLines([...fitted.slice(0, -1), wrap(text, room(last), "")], widths, width, paint);
      const below = wrap(text, width, " ".repeat(gap)).split("\n");
      return [
        ...rowLines([...fitted.slice(0, -1), ""], widths, width, paint),
        ...below.map((line) => paint(line, last)),
      ];
    }),
  ].join("\n");
}

/** Narrower than this, a column has no use: its text goes below, as wide as the terminal. */
const minRoom = 24;

/** Names and values in two columns: what `show` prints. */
export function pairs(entries: readonly (readonly [name: string, value: string])[], style: Style, indent = ""): string {
  const width = Math.max(0, ...entries.map(([name]) => cells(name)));
  return entries.map(([name, value]) => `${indent}${style.dim(pad(name, width))}  ${value}`.trimEnd()).join("\n");
}

/** A check to be printed. Its name and detail are already safe for the terminal. */
interface CheckLine {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** A line for each check: whether it passed, what was checked, and what was found. */
export function checkLines(checks: readonly CheckLine[], style: Style, width: number): string {
  const names = Math.max(0, ...checks.map(({ name }) => cells(name)));
  const indent = " ".repeat(names + 4);
  return checks
    .map(({ name, ok, detail }) => {
      const mark = ok ? style.green("✓") : style.red("✗");
      const title = `${mark} ${style.dim(name)}${" ".repeat(names - cells(name) + 2)}`;
      return (title + wrap(detail, width, indent).slice(indent.length)).trimEnd();
    })
    .join("\n");
}
