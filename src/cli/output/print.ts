/*
 * cli/output: everything that is printed. A command returns an outcome; only print.ts writes it.
 */
import { redacted } from "../../text/redacted.ts";
import { problemText } from "../../core/base/errors.ts";
import { hintOf, hintText, terminalHint, type Hint } from "../../core/base/hint.ts";
import { asTyped, commandLine } from "./command-line.ts";
import { escapeDeep, escapeLine, escapeText, printableJson } from "./escape.ts";
import type { Failure } from "../failure.ts";
import { widthOf, type Invocation } from "../invocation.ts";
import type { Style } from "./style.ts";
import { cells, wrap, pairs } from "./table.ts";

/** What a command has to say. Only {@link print} writes it. */
export interface Outcome {
  /** The document of `--json`. */
  readonly document: unknown;
  /** The same for a person; empty for nothing. */
  readonly text: (style: Style) => string;
  /** For stderr: where a change was made, what happens next. */
  readonly notes: readonly (string | Hint)[];
  /** Set if the answer was given but is a "no", which sets the exit code. */
  readonly failure: Failure | null;
}

/**
 * The outcome of a command.
 * @param document the answer, printed as it is under `--json`
 * @param text turns the document into lines; it gets a copy in which no text can act upon the terminal
 */
export const answer = <D>(
  document: D,
  text: (shown: D, style: Style) => string,
  extra: { readonly notes?: readonly (string | Hint)[]; readonly failure?: Failure | null } = {},
): Outcome => ({
  document,
  text: (style) => text(escapeDeep(document), style),
  notes: extra.notes ?? [],
  failure: extra.failure ?? null,
});

/** Writes an outcome: the answer to stdout, everything else to stderr. */
export function print(cli: Invocation, outcome: Outcome): void {
  if (cli.json) {
    cli.stdout.write(`${printableJson(outcome.document, cli.stdout.isTTY ? 2 : 0)}\n`);
  } else {
    const text = outcome.text(cli.out);
    if (text !== "") cli.stdout.write(`${text}\n`);
  }
  if (outcome.failure !== null) printFailure(cli, outcome.failure, null);
  // Then the error is one object, and stderr has nothing else.
  if (outcome.failure !== null && cli.json) return;
  for (const note of outcome.notes) say(cli, note);
}

type Stderr = Pick<Invocation, "stderr" | "err" | "target" | "env">;

/** A hint for a person. A command and an indented line stay whole, to be copied; a command that does not fit gets its own line. */
function hintLines(cli: Stderr, hint: Hint, indent: string): string {
  const { text, command } = terminalHint(hint);
  const width = widthOf(cli.stderr);
  const shown = asTyped(redacted(text), cli)
    .split("\n")
    .map(escapeLine)
    .filter((line) => line !== "");
  if (command === undefined) {
    return shown.map((line) => (line.startsWith("  ") ? indent + line : wrap(line, width, indent))).join("\n");
  }
  const line = escapeLine(redacted(commandLine(cli)(command)));
  const whole = [...shown, line].join(": ");
  if (cells(indent + whole) <= width) return indent + whole;
  return [...shown.map((each) => wrap(`${each}:`, width, indent)), indent + line].join("\n");
}

/** Writes a remark to stderr, unless `--quiet` is given. */
export function say(cli: Stderr & Pick<Invocation, "quiet">, note: string | Hint): void {
  if (!cli.quiet) cli.stderr.write(`${cli.err.dim(hintLines(cli, hintOf(note), ""))}\n`);
}

/** Writes an error: message and next step; under `--json` one object. `cause`: for `--verbose`. */
export function printFailure(cli: Stderr & Pick<Invocation, "json">, failure: Failure, cause: string | null): void {
  const { code, problems, hint, example = null } = failure;
  const steps = [example, hint].filter((step) => step !== null);
  // What was typed may be a secret in the wrong place, which must not get into the log of a pipeline.
  const message = redacted(failure.message);
  if (cli.json) {
    const error = {
      code,
      message,
      ...(steps.length === 0
        ? {}
        : { hint: asTyped(redacted(steps.map((step) => hintText(step, commandLine(cli))).join("\n")), cli) }),
      ...(problems.length === 0 ? {} : { problems }),
      ...(cause === null ? {} : { cause }),
    };
    cli.stderr.write(`${printableJson({ error }, 0)}\n`);
    return;
  }
  const width = widthOf(cli.stderr);
  for (const problem of problems) cli.stderr.write(`${escapeLine(problemText(problem))}\n`);
  const [first = "", ...more] = escapeText(`Error: ${message}`).split("\n");
  const lines = [wrap(first, width, "  ").trimStart(), ...more];
  cli.stderr.write(`${cli.err.red("Error:")}${lines.join("\n").slice("Error:".length)}\n`);
  for (const step of steps) cli.stderr.write(`${hintLines(cli, step, "  ")}\n`);
  if (cause !== null) cli.stderr.write(`${wrap(escapeLine(`Cause: ${cause}`), width, "  ")}\n`);
}

function shown(value: unknown): string {
  if (value === undefined || value === null || value === "") return "nothing";
  if (typeof value === "string") return escapeLine(value);
  if (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string"))
    return escapeLine(value.join(" "));
  return printableJson(value, 0);
}

/**
 * What an edit changed in a record, in words: each changed field, before and after.
 * @param name the name of the record
 * @param secrets fields that were given and are never shown
 */
export function changesText(
  name: string,
  before: object,
  after: object,
  secrets: readonly string[],
  style: Style,
): string {
  const [was, is] = [new Map<string, unknown>(Object.entries(before)), new Map<string, unknown>(Object.entries(after))];
  const fields = [...new Set([...was.keys(), ...is.keys()])].filter((field) => field !== "updatedAt");
  const lines = fields.flatMap((field): (readonly [string, string])[] => {
    const [from, to] = [was.get(field), is.get(field)];
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [[field, `${shown(from)} -> ${shown(to)}`]];
  });
  const unseen = secrets.filter((field) => !lines.some(([line]) => line === field));
  const all = [...lines, ...unseen.map((field) => [field, "updated"] as const)];
  if (all.length === 0) return `No change: ${escapeLine(name)} already has these values`;
  return `Changed ${style.bold(escapeLine(name))}\n${pairs(all, style, "  ")}`;
}
