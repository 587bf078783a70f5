import { readFile, stat } from "node:fs/promises";
import { OperationError } from "../../../core/base/errors.ts";
import { codeOf } from "../../../files/durable-file.ts";
import { cannotBeWritten, putFile, requireOwnFile } from "../../output/put-file.ts";

/** Our lines in a file of somebody else. They are between two marks, and nothing else in the file changes. */

const marks = { begin: "# idp begin", end: "# idp end" };

/** Turns bytes into text and back without a change, whatever their encoding is. */
const bytesAsText = "latin1";

interface Line {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly number: number;
}

function linesOf(text: string): readonly Line[] {
  let start = 0;
  return text.split(/(?<=\n)/).map((whole, index) => {
    const line = { text: whole.trimEnd(), start, end: start + whole.length, number: index + 1 };
    start = line.end;
    return line;
  });
}

const isMark = ({ text }: Line): boolean => text === marks.begin || text === marks.end;

/** Nobody could find the end of such a block again. @throws {OperationError} refused if a value has a line that is one of the marks */
function refuseMarks(block: string): void {
  const lines = linesOf(block);
  const mark = lines.find(isMark);
  if (mark === undefined) return;
  const names = lines.slice(0, mark.number).flatMap(({ text }) => /^(?:export )?(\w+)=/.exec(text)?.[1] ?? []);
  const message = `the value of ${names.at(-1) ?? ""} has the line "${mark.text}", which marks idp's lines in a file`;
  throw new OperationError("refused", message, { hint: "Give the variable another value." });
}

/**
 * The text with our block in place of the one it has, or at its end.
 * @throws {OperationError} invalid if the marks in it do not make one block; refused if the block has a mark in it
 */
function withBlock(text: string, block: string, file: string): string {
  refuseMarks(block);
  const lines = linesOf(text);
  const begins = lines.filter((line) => line.text === marks.begin);
  const ends = lines.filter((line) => line.text === marks.end);
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const whole = [marks.begin, ...block.split("\n"), marks.end, ""].join(newline);
  const [begin] = begins;
  const [end] = ends;
  if (begin === undefined && end === undefined) {
    return text + (text === "" || text.endsWith("\n") ? "" : newline) + whole;
  }
  if (begin === undefined || end === undefined || begins.length + ends.length > 2 || end.number < begin.number) {
    const where = [...begins, ...ends].map(({ number }) => number).sort((a, b) => a - b);
    throw new OperationError("invalid", `${file} has the marks of idp's lines on line ${where.join(", ")}`, {
      hint: `There has to be one "${marks.begin}", and after it one "${marks.end}", or neither. Nothing was changed.`,
    });
  }
  return text.slice(0, begin.start) + whole + text.slice(end.end);
}

function blockOf(text: string): { readonly begin: Line; readonly end: Line } | null {
  const lines = linesOf(text);
  const begin = lines.find((line) => line.text === marks.begin);
  const end = lines.find((line) => line.text === marks.end);
  return begin === undefined || end === undefined ? null : { begin, end };
}

/** The text without our block. */
export function withoutBlock(text: string): string {
  const block = blockOf(text);
  return block === null ? text : text.slice(0, block.begin.start) + text.slice(block.end.end);
}

/** What is in our block; null without one. */
export function blockIn(text: string): string | null {
  const block = blockOf(text);
  return block === null ? null : text.slice(block.begin.end, block.end.start);
}

/** Whether a file of variables sets one. */
export function setIn(text: string): (name: string) => boolean {
  const lines = text.split(/\r?\n/);
  return (name) => lines.some((line) => new RegExp(`^\\s*(export\\s+)?${name}\\s*=`).test(line));
}

/** The content of a file; null if it does not exist. */
export async function readTextFile(file: string): Promise<string | null> {
  try {
    await requireOwnFile(file);
  } catch (error) {
    throw cannotBeWritten(file, error);
  }
  try {
    return await readFile(file, bytesAsText);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw new OperationError("usage", `${file} cannot be read (${codeOf(error)})`, { cause: error });
  }
}

/**
 * Brings our block in a file up to date, in one step. A new file is only for its owner, because it holds a secret. Another file keeps its
 * mode, and a link stays a link.
 * @param before the content from {@link readTextFile}
 * @returns whether anything changed
 */
export async function writeBlock(file: string, before: string | null, block: string): Promise<boolean> {
  const asBytes = (text: string): string => Buffer.from(text).toString(bytesAsText);
  const after = withBlock(before ?? "", asBytes(block), file);
  if (after === before) return false;
  try {
    const mode = before === null ? 0o600 : (await stat(file)).mode & 0o777;
    await putFile(file, Buffer.from(after, bytesAsText), mode);
  } catch (error) {
    throw cannotBeWritten(file, error);
  }
  return true;
}
