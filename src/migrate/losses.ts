import { problemText, type Problem } from "../core/base/errors.ts";
import { noCounterpart } from "./draft.ts";

/** What could not be carried over, in lines. Equal problems are one line with their number, and those that a reader has to act on are first. */
interface LossLines {
  /** For a terminal. */
  readonly short: readonly string[];
  /** For the file: the place of each. */
  readonly whole: readonly string[];
}

/** More fields without a counterpart are a list of names. */
const maxFields = 10;
const maxWidth = 100;

const steps = /\["[^"\\]*(?:\\.[^"\\]*)*"\]|\[\d+\]|[^.[\]]+/g;

/** The last name of a path, with its indexes: `credentials[0]` of every user is one field. */
function lastName(path: string): string {
  const names = Array.from(path.matchAll(steps), ([step]) => (/^\[\d/.test(step) ? "[]" : step));
  const last = names.findLastIndex((name) => name !== "[]");
  // `claims["a.b"]`
  const isInside = names[last]?.startsWith("[") === true && names[last - 1]?.startsWith("[") === false;
  return names.slice(isInside ? last - 1 : last).join("");
}

function grouped(problems: readonly Problem[]): readonly (readonly [Problem, ...Problem[]])[] {
  const groups = new Map<string, [Problem, ...Problem[]]>();
  for (const problem of problems) {
    const key = JSON.stringify([lastName(problem.path), problem.message]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [problem]);
    else group.push(problem);
  }
  return [...groups.values()];
}

const times = ({ length }: readonly Problem[]): string => (length === 1 ? "" : ` (${length} times)`);
const lineOf = (group: readonly [Problem, ...Problem[]]): string => problemText(group[0]) + times(group);

/** The items with a comma between them, in indented lines. */
function wrapped(items: readonly string[]): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const [index, item] of items.entries()) {
    const next = index === items.length - 1 ? item : `${item},`;
    if (line !== "" && line.length + next.length >= maxWidth) {
      lines.push(`  ${line}`);
      line = next;
    } else line = line === "" ? next : `${line} ${next}`;
  }
  return line === "" ? lines : [...lines, `  ${line}`];
}

/** The places of all problems of a group but the first. */
function otherPlaces([first, ...more]: readonly [Problem, ...Problem[]]): readonly string[] {
  if (more.length === 0) return [];
  const places = more.map(
    ({ file, line, column }) => `${file === first.file ? "" : `${file ?? ""}:`}${line ?? 0}:${column ?? 0}`,
  );
  return wrapped(places).map((text, index) => (index === 0 ? `  also at ${text.trimStart()}` : text));
}

export function lossLines(leftOut: readonly Problem[]): LossLines {
  const told = grouped(leftOut.filter(({ message }) => message !== noCounterpart));
  const fields = grouped(leftOut.filter(({ message }) => message === noCounterpart));
  const count = fields.reduce((sum, { length }) => sum + length, 0);
  const names = fields.map((group) => group[0].path + times(group));
  return {
    short: [
      ...told.map(lineOf),
      ...(fields.length <= maxFields
        ? fields.map(lineOf)
        : [`${count} values of fields that have no counterpart here:`, ...wrapped(names)]),
    ],
    whole: [...told, ...fields].flatMap((group) => [lineOf(group), ...otherPlaces(group)]),
  };
}
