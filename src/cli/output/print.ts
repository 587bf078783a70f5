/*
 * cli/output: everything that is printed. A command returns an outcome; print.ts alone writes it.
 */
import { redacted } from "../../repeated.ts";
import { problemText } from "../../core/errors.ts";
import { asTyped } from "./as-typed.ts";
import { escapeDeep, escapeLine, escapeText, printableJson } from "./escape.ts";
import type { Failure } from "../failure.ts";
import { widthOf, type Invocation } from "../invocation.ts";
import type { Style } from "./style.ts";
import { cells, wrap } from "./table.ts";

/** What a command has to say. A command computes it; only {@link print} writes it. */
export interface Outcome {
  /** The document of `--json`. */
  readonly document: unknown;
  /** The same for a person; empty: nothing. */
  readonly text: (style: Style) => string;
  /** Said on stderr: where a change was made, what happens next. */
  readonly notes: readonly string[];
  /** The answer was given, and it is a "no": the exit code follows it. */
  readonly failure: Failure | null;
}

/**
 * The outcome of a command.
 * @param document the answer, printed as it is under `--json`
 * @param text turns the document into lines; it is handed a copy in which no text can act upon the terminal
 */
export const answer = <D>(
  document: D,
  text: (shown: D, style: Style) => string,
  extra: { readonly notes?: readonly string[]; readonly failure?: Failure | null } = {},
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
  // The error is one object then, and stderr holds nothing else (CONTRACT 6).
  if (outcome.failure !== null && cli.json) return;
  for (const note of outcome.notes) say(cli, note);
}

const stderrWidth = ({ stderr }: Pick<Invocation, "stderr">): number => widthOf(stderr);

/** A command stays on one line, to be copied: a line break of ours in it would be copied too. It has a line of its own where it does not fit. */
function wrapWords(text: string, width: number, indent: string): string {
  const at = /^(npx )?idp /.test(text) ? 0 : text.search(/(?<=: )(idp|npx idp|printf) /);
  if (at === 0) return wrap(text, Infinity, indent);
  if (at < 0 || cells(indent + text) <= width) return wrap(text, width, indent);
  return `${wrap(text.slice(0, at - 1), width, indent)}\n${indent}${text.slice(at)}`;
}

/** One remark on stderr; not under `--quiet`. */
export function say(cli: Pick<Invocation, "quiet" | "stderr" | "err" | "target" | "env">, note: string): void {
  if (cli.quiet) return;
  const shown = asTyped(cli, escapeLine(note));
  cli.stderr.write(`${cli.err.dim(wrapWords(shown, stderrWidth(cli), ""))}\n`);
}

/** An error: message and next step; under `--json` one object. `cause`: for `--verbose`. */
export function printFailure(
  cli: Pick<Invocation, "json" | "stderr" | "err" | "target" | "env">,
  failure: Failure,
  cause: string | null,
): void {
  const { code, problems } = failure;
  // What was typed may be a secret in the wrong place: it does not have to be in the log of a pipeline, too.
  const message = redacted(failure.message);
  const hint =
    failure.hint === null
      ? null
      : redacted(failure.hint)
          .split("\n")
          .map((line) => asTyped(cli, line))
          .join("\n");
  if (cli.json) {
    const error = {
      code,
      message,
      ...(hint === null ? {} : { hint }),
      ...(problems.length === 0 ? {} : { problems }),
      ...(cause === null ? {} : { cause }),
    };
    cli.stderr.write(`${printableJson({ error }, 0)}\n`);
    return;
  }
  for (const problem of problems) cli.stderr.write(`${escapeLine(problemText(problem))}\n`);
  const [first = "", ...more] = escapeText(`Error: ${message}`).split("\n");
  const lines = [wrap(first, stderrWidth(cli), "  ").trimStart(), ...more];
  cli.stderr.write(`${cli.err.red("Error:")}${lines.join("\n").slice("Error:".length)}\n`);
  const next = [...(hint ?? "").split("\n"), cause === null ? "" : `Cause: ${cause}`].filter((line) => line !== "");
  for (const line of next) cli.stderr.write(`${wrapWords(escapeLine(line), stderrWidth(cli), "  ")}\n`);
}
