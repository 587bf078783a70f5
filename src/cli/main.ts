import { CommanderError, type Command } from "commander";
import { escapeLine } from "./escape.ts";
import { failureOf, type Failure } from "./failure.ts";
import { settle, type GlobalFlags, type Invocation, type Terminal } from "./invocation.ts";
import { print, printFailure } from "./print.ts";
import { buildProgram } from "./program.ts";

/** The command line's only catch and only exit. */

// A variable that is empty is one that nobody set.
for (const [name, value] of Object.entries(process.env)) {
  if (value === "" && name.startsWith("IDP_")) Reflect.deleteProperty(process.env, name);
}

const { stdin, stdout, stderr, env } = process;
const terminal: Terminal = { stdin, stdout, stderr, env };

let onSignal: ((signal: NodeJS.Signals) => void) | null = null;
const clock: Pick<Invocation, "now" | "takeSignals"> = {
  now: Date.now,
  takeSignals: (handle) => {
    onSignal = handle;
  },
};

/** The command that was meant, for "see its help": as far as the words name one. */
function commandPath(program: Command, words: readonly string[]): string {
  let command = program;
  const path = [program.name()];
  for (const word of words) {
    const next = command.commands.find((candidate) => candidate.name() === word);
    if (next === undefined) continue;
    command = next;
    path.push(word);
  }
  return path.join(" ");
}

/** commander's message, without its prefix; its suggestion becomes the hint. */
function usageFailure(error: CommanderError, path: string): Failure {
  const [message = "", suggestion] = error.message.replace(/^error: /, "").split("\n");
  const help = `See: ${path} --help`;
  const hint = suggestion === undefined ? help : `${suggestion.replace(/^\((.*)\)$/, "$1")} ${help}`;
  return { code: "usage", message, hint, problems: [], exit: 2 };
}

/** What stands behind an error, for `--verbose`. */
function causeOf(error: unknown): string | null {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? cause.message : typeof cause === "string" ? cause : null;
}

/** The words before `--`, behind which another command's stand. */
const ownWords = (words: readonly string[]): readonly string[] =>
  words.includes("--") ? words.slice(0, words.indexOf("--")) : words;

async function run(words: readonly string[]): Promise<number> {
  let exit = 0;
  let help = "";
  const program = buildProgram({
    terminal,
    clock,
    // The help that commander prints for a command group without a command.
    errorHelp: (text) => {
      help += text;
    },
    finish: (cli, outcome) => {
      print(cli, outcome);
      exit = outcome.failure?.exit ?? 0;
    },
  });
  try {
    await program.parseAsync(words, { from: "user" });
    return exit;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const flags = program.opts<GlobalFlags>();
    // A wrong flag may stand before the others, which then were not read.
    const cli = { ...settle(flags, terminal, clock), json: ownWords(words).includes("--json") };
    if (error instanceof CommanderError) {
      const path = commandPath(program, words);
      if (error.code === "commander.help") {
        if (path === program.name()) {
          stdout.write(help);
          return 0;
        }
        if (!cli.json) stderr.write(`${help}\n`);
        error.message = `${path} needs one of its commands`;
      }
      const failure = usageFailure(error, path);
      printFailure(cli, failure, null);
      return failure.exit;
    }
    const failure = failureOf(error);
    if (failure.code === "interrupted" && !cli.json) return failure.exit;
    printFailure(cli, failure, flags.verbose === true ? causeOf(error) : null);
    return failure.exit;
  }
}

/** Ends the process once both streams have handed on what was written. */
async function leave(exit: number): Promise<never> {
  for (const stream of [stdout, stderr]) {
    await new Promise((resolve) => stream.write("", resolve));
  }
  process.exit(exit);
}

// A reader that has seen enough (`| head`) is no error.
for (const stream of [stdout, stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
}
for (const [signal, exit] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.on(signal, () => (onSignal === null ? process.exit(exit) : onSignal(signal)));
}
process.on("uncaughtException", (error) => {
  stderr.write(`Error: ${escapeLine(error.message)}\n`);
  process.exit(1);
});

await leave(await run(process.argv.slice(2)));
