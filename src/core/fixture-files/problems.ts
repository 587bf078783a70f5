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

function placed(found: readonly FoundProblem[], source: ProblemSource): Problem[] {
  const { name, text } = source;
  const file = name === null ? {} : { file: name };
  if (text === null) return found.map(({ path, message }) => ({ ...file, path: pathText(path), message }));
  const root = found.some(({ at }) => typeof at !== "number") ? source.locate() : undefined;
  const position = lineCounter(text);
  return found
    .map((one) => {
      const inTree = (on: "key" | "value"): number => (root === undefined ? 0 : offsetOf(root, one.path, on));
      const offset = typeof one.at === "number" ? one.at : inTree(one.at ?? "value");
      return { offset, problem: { ...file, ...position(offset), path: pathText(one.path), message: one.message } };
    })
    .sort((a, b) => a.offset - b.offset)
    .map(({ problem }) => problem);
}

/** The problems with their positions, in the order of the documents and of their lines. */
export const problemsIn = (documents: readonly ProblemSource[], all: readonly FoundInDocument[]): readonly Problem[] =>
  documents.flatMap((source, number) => {
    const found = all.filter(({ document }) => document === number);
    return found.length === 0 ? [] : placed(found, source);
  });

/** The refusal that lists every problem of every document. */
export function refuseFixtures(documents: readonly ProblemSource[], all: readonly FoundInDocument[]): OperationError {
  const problems = problemsIn(documents, all);
  return new OperationError("invalid", `the fixtures have ${countOf(problems)}; nothing was applied`, {
    hint: { text: "Fix the problems above. Field reference", command: ["idp", "seed", "--fields"] },
    problems,
  });
}
