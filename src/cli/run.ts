/*
 * cli: reads arguments, chooses the target, calls one operation, prints the result.
 *
 * main.ts is the process, program/ declares commands and flags, run.ts settles the global flags and catches every error, target/ finds the
 * server or the data, output/ prints. Each command is a function in the file or folder of its noun.
 */
import { CommanderError, type Command } from "commander";
import { OperationError } from "../core/errors.ts";
import { typedTarget } from "./output/command-line.ts";
import { failureOf } from "./failure.ts";
import { inFlags } from "./flag-words.ts";
import { ownWords } from "./input/foreign-command.ts";
import { invocationOf, type GlobalFlags, type Invocation, type Terminal } from "./invocation.ts";
import { print, printFailure } from "./output/print.ts";
import { buildProgram } from "./program.ts";
import { durationOf } from "../core/time.ts";
import { typedCommand } from "./typed.ts";
import { usageFailure } from "./usage.ts";

/** `-5m` is a length of time, and not a flag: in seconds, as commander reads numbers below zero. */
function withLengths(words: readonly string[]): string[] {
  const own = ownWords(words);
  const inSeconds = own.map((word) =>
    /^-\d/.test(word) && Number.isFinite(durationOf(word)) ? String(durationOf(word)) : word,
  );
  return [...inSeconds, ...words.slice(own.length)];
}

/**
 * `idp help users list`. commander would print the help of `users`, and for an unknown command the general help.
 * @returns whether this was typed; if so, the help is already printed
 */
async function printHelp(program: Command, words: readonly string[]): Promise<boolean> {
  const [help, ...names] = program.parseOptions([...words]).operands;
  if (help !== "help") return false;
  let command = program;
  const path = [program.name()];
  for (const name of names) {
    const next = command.commands.find((candidate) => candidate.name() === name);
    if (next === undefined) {
      const { didYouMean } = await import("../core/nearest.ts");
      const known = command.commands.map((candidate) => candidate.name());
      throw new OperationError("usage", `unknown command '${name}'`, {
        hint: didYouMean(name, known, { text: "See", command: [...path, "--help"] }),
      });
    }
    command = next;
    path.push(name);
  }
  command.outputHelp();
  return true;
}

/** The cause of an error, for `--verbose`. */
function causeOf(error: unknown): string | null {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? cause.message : typeof cause === "string" ? cause : null;
}

/**
 * Runs a command.
 * @param words the words after `idp`
 * @returns the exit code; errors are already printed
 */
export async function run(
  words: readonly string[],
  terminal: Terminal,
  clock: Pick<Invocation, "now" | "takeSignals">,
): Promise<number> {
  const { stdout, stderr } = terminal;
  let exit = 0;
  let help = "";
  const program = buildProgram({
    terminal,
    clock,
    words,
    // The help for a command group without a command.
    errorHelp: (text) => {
      help += text;
    },
    finish: (cli, outcome) => {
      if (typeof outcome === "number") {
        exit = outcome;
        return;
      }
      print(cli, outcome);
      exit = outcome.failure?.exit ?? 0;
    },
  });
  if (words[0] === "__complete") {
    const { completeWords } = await import("./commands/completion/complete-words.ts");
    await completeWords(program, words.slice(1), terminal, clock);
    return 0;
  }
  try {
    if (await printHelp(program, words)) return 0;
    await program.parseAsync(withLengths(words), { from: "user" });
    return exit;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const flags = program.opts<GlobalFlags>();
    // Flags after a wrong one were not read.
    const cli = {
      ...invocationOf(flags, terminal, clock, typedTarget(program)),
      json: ownWords(words).includes("--json"),
    };
    if (error instanceof CommanderError) {
      const typed = typedCommand(program, words);
      if (error.code === "commander.help") {
        if (typed.command === program) {
          stdout.write(help);
          return 0;
        }
        if (!cli.json) stderr.write(`${help}\n`);
        error.message = `${typed.path.join(" ")} needs one of its commands`;
      }
      const failure = await usageFailure(error, program, typed, cli);
      printFailure(cli, failure, null);
      return failure.exit;
    }
    const { command, path } = typedCommand(program, words);
    const failure = inFlags(failureOf(error), { command, path, json: cli.json });
    if (failure.code === "interrupted" && !cli.json) return failure.exit;
    printFailure(cli, failure, flags.verbose === true ? causeOf(error) : null);
    return failure.exit;
  }
}
