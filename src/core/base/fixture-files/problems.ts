import { countOf, OperationError, type Problem } from "../errors.ts";
import { lineCounter, offsetOf, pathText, type Located, type Path } from "./located.ts";

/** One thing that is wrong, before its line and column are known. */
export interface FoundProblem {
  readonly path: Path;
  readonly message: string;
  /** The position to report: of the key, or an offset of the text. Absent: the position of the value. */
  readonly at?: "key" | number;
  /** A value that is valid by itself conflicts with the settings in force, or with other fields of its record. */
  readonly conflictsWith?: "settings" | "record";
  /** It stands for this many problems that are only counted. */
  readonly more?: number;
}

/** How many problems are shown: a text of 1 MB may have 500,000, and describing each takes time that everybody waits for. */
export const maxProblems = 100;

/** Problems as they are found. Those beyond the limit are only counted, in one that stands for all of them. */
interface Findings<P extends FoundProblem> {
  add(found: Iterable<P>): void;
  /** Adds one that is described only if it is shown. */
  addOne(describe: () => P): void;
  /** How many more are shown. */
  left(): number;
  all(): readonly P[];
}

export function createFindings<P extends FoundProblem>(max = maxProblems): Findings<P> {
  const shown: P[] = [];
  let beyond: { readonly first: P; more: number } | null = null;
  function count(more: number, describe: () => P): void {
    beyond ??= { first: describe(), more: 0 };
    beyond.more += more;
  }
  const addOne = (describe: () => P): void => {
    if (shown.length < max) shown.push(describe());
    else count(1, describe);
  };
  function add(found: Iterable<P>): void {
    for (const one of found) {
      if (one.more === undefined) addOne(() => one);
      else count(one.more, () => one);
    }
  }
  return {
    addOne,
    add,
    left: () => max - shown.length,
    all: () => (beyond === null ? shown : [...shown, { ...beyond.first, more: beyond.more }]),
  };
}

/** The first problems of a list. */
export function firstOf<P extends FoundProblem>(found: Iterable<P>): readonly P[] {
  const findings = createFindings<P>();
  findings.add(found);
  return findings.all();
}

/** The same, with the number of its document. */
export interface FoundInDocument extends FoundProblem {
  readonly document: number;
}

/** The source that problems refer to: a file, or a value passed in by a program. */
export interface ProblemSource {
  /** The given file name; null for a value without a file. */
  readonly name: string | null;
  readonly text: string | null;
  /** Computes the positions of all values. */
  locate(): Located | undefined;
}

/** Characters of a path or a message: a key may have a megabyte, and each problem below it names it. */
const maxText = 2000;

const short = (text: string): string => (text.length > maxText ? `${text.slice(0, maxText)}…` : text);

function placed(found: readonly FoundProblem[], source: ProblemSource): Problem[] {
  const { name, text } = source;
  const file = name === null ? {} : { file: name };
  const shown = ({ path, message }: FoundProblem) => ({ path: short(pathText(path)), message: short(message) });
  if (text === null) return found.map((one) => ({ ...file, ...shown(one) }));
  const root = found.some(({ at }) => typeof at !== "number") ? source.locate() : undefined;
  const position = lineCounter(text);
  return found
    .map((one) => {
      const inTree = (on: "key" | "value"): number => (root === undefined ? 0 : offsetOf(root, one.path, on));
      const offset = typeof one.at === "number" ? one.at : inTree(one.at ?? "value");
      return { offset, problem: { ...file, ...position(offset), ...shown(one) } };
    })
    .sort((a, b) => a.offset - b.offset)
    .map(({ problem }) => problem);
}

/** The problems with their positions, in the order of the documents and of their lines. */
export const problemsIn = (documents: readonly ProblemSource[], all: readonly FoundInDocument[]): readonly Problem[] =>
  documents.flatMap((source, number) => {
    const found = all.filter(({ document, more }) => document === number && more === undefined);
    return found.length === 0 ? [] : placed(found, source);
  });

/** The problems that are shown, and how many there are, in words. */
export function shownOf(
  documents: readonly ProblemSource[],
  all: readonly FoundInDocument[],
): { readonly problems: readonly Problem[]; readonly count: string } {
  const first = firstOf(all);
  const problems = problemsIn(documents, first);
  const more = first.at(-1)?.more ?? 0;
  const count =
    more === 0
      ? countOf(problems)
      : `${problems.length + more} problems, of which the first ${problems.length} are shown`;
  return { problems, count };
}

/** The refusal that lists the problems of every document. */
export function refuseFixtures(documents: readonly ProblemSource[], all: readonly FoundInDocument[]): OperationError {
  const { problems, count } = shownOf(documents, all);
  return new OperationError("invalid", `the fixtures have ${count}; nothing was applied`, {
    hint: { text: "Fix the problems above. Field reference", command: ["idp", "seed", "--fields"] },
    problems,
  });
}
