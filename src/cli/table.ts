import type { Style } from "./style.ts";

/** Letters that take two cells on a terminal: East Asian wide ones and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const marks = /\p{Mn}|\p{Me}|[\u200b-\u200d]/gu;

/** How many cells of a terminal a text without escape sequences takes. */
export function cells(text: string): number {
  let width = 0;
  for (const character of text.replace(marks, "")) width += wide.test(character) ? 2 : 1;
  return width;
}

/** Cut to a width, with "…" where something is left off. */
function cut(text: string, width: number): string {
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
 * @param width cells of the terminal; Infinity: one line
 */
export function wrap(text: string, width: number, indent: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && cells(indent) + cells(line) + 1 + cells(word) > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].map((each) => indent + each).join("\n");
}

const pad = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - cells(text)));

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  /** May be cut to fit a terminal: for what nobody copies from here. Others are never cut. */
  readonly shrinks?: true;
  readonly colour?: (text: string, row: Row) => string;
}

const gap = 2;

/**
 * Rows under titles, without lines.
 * @param width cells of the terminal; Infinity where the output is no terminal, so that nothing is cut
 */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], style: Style, width: number): string {
  const texts = rows.map((row) => columns.map((column) => column.value(row)));
  const widths = columns.map((column, index) =>
    texts.reduce((most, row) => Math.max(most, cells(row[index] ?? "")), cells(column.title)),
  );
  let excess = widths.reduce((sum, each) => sum + each + gap, -gap) - width;
  columns.forEach((column, index) => {
    if (column.shrinks === undefined || excess <= 0) return;
    const before = widths[index] ?? 0;
    const after = Math.max(cells(column.title), 8, before - excess);
    widths[index] = Math.min(before, after);
    excess -= before - (widths[index] ?? 0);
  });
  const line = (values: readonly string[], paint: (text: string, index: number) => string): string =>
    values
      .map((value, index) => {
        const fitted = columns[index]?.shrinks === undefined ? value : cut(value, widths[index] ?? 0);
        const last = index === values.length - 1;
        return paint(fitted, index) + (last ? "" : " ".repeat(gap + Math.max(0, (widths[index] ?? 0) - cells(fitted))));
      })
      .join("")
      .trimEnd();
  return [
    line(
      columns.map((column) => column.title),
      (text) => style.dim(text),
    ),
    ...rows.map((row, at) => line(texts[at] ?? [], (text, index) => columns[index]?.colour?.(text, row) ?? text)),
  ].join("\n");
}

/** Names and values in two columns: what `show` prints. */
export function pairs(entries: readonly (readonly [name: string, value: string])[], style: Style, indent = ""): string {
  const width = Math.max(0, ...entries.map(([name]) => cells(name)));
  return entries.map(([name, value]) => `${indent}${style.dim(pad(name, width))}  ${value}`.trimEnd()).join("\n");
}
