/*
 * cli: reads arguments, chooses the target, calls one operation, prints the result.
 *
 * main.ts is the process, program/ declares commands and flags, run.ts settles the global flags and catches every error, target/ finds the
 * server or the data, output/ prints. Each command is a function in the file or folder of its noun.
 */
import { CommanderError, type Command } from "commander";
import { OperationError } from "../core/errors.ts";
import { typedTarget } from "./output/command-line.ts";
import { failureOf, type Failure } from "./failure.ts";
import { inFlags } from "./flag-words.ts";
import { ownWords } from "./input/foreign-command.ts";
import { settle, type GlobalFlags, type Invocation, type Terminal } from "./invocation.ts";
import { print, printFailure } from "./output/print.ts";
import { buildProgram } from "./program.ts";
import type { Hint } from "../core/hint.ts";

/** The command or group that the words name, as far as they name one. */
interface Typed {
  readonly words: readonly string[];
  readonly command: Command;
  /** `["idp", "users", "list"]` */
  readonly path: readonly string[];
}

function typedCommand(program: Command, words: readonly string[]): Typed {
  let command = program;
  const path = [program.name()];
  for (const word of words) {
    const next = command.commands.find((candidate) => candidate.name() === word);
    if (next === undefined) continue;
    command = next;
    path.push(word);
  }
  return { words, command, path };
}

/** Names of other tools for our commands. */
const synonyms: Readonly<Record<string, string>> = {
  create: "add",
  delete: "remove",
  new: "add",
  rm: "remove",
  serve: "start",
  unban: "restore",
  unsuspend: "restore",
};

/** Suggests a command for an unknown one, by its meaning and in any group. commander compares letters: it suggests "ban" for "unban". */
function commandMeant({ code, message }: CommanderError, program: Command, typed: Typed): string | undefined {
  const word = code === "commander.unknownCommand" ? /'(.+)'/.exec(message)?.[1] : undefined;
  if (word === undefined) return undefined;
  const name = Object.hasOwn(synonyms, word) ? synonyms[word] : word;
  const named = ({ commands }: Command): boolean => commands.some((command) => command.name() === name);
  if (named(typed.command)) return `Did you mean ${typed.path.join(" ")} ${name ?? ""}?`;
  const groups = program.commands.filter(named).map((group) => `${program.name()} ${group.name()} ${name ?? ""}`);
  return groups.length === 0 ? undefined : `Did you mean ${groups.join(" or ")}?`;
}

/**
 * `idp clock 31m`: commander takes the word for an argument of `idp clock show`, the default.
 * @returns the word, and the commands of the group
 */
function unknownInGroup({ code }: CommanderError, program: Command, { words, command, path }: Typed) {
  if (code !== "commander.excessArguments") return null;
  const known = command.commands.map((one) => one.name());
  const word = program.parseOptions([...words]).operands[path.length - 1];
  return known.length === 0 || word === undefined ? null : { word, known };
}

/** The message of commander without its prefix; its suggestion becomes the hint. */
async function usageFailure(error: CommanderError, program: Command, typed: Typed): Promise<Failure> {
  const { words, path } = typed;
  const [message = "", similar] = error.message.replace(/^error: /, "").split("\n");
  const help: Hint =
    path.join(" ") !== "idp exec" || words.includes("--")
      ? { text: "See", command: [...path, "--help"] }
      : // The flags may be those of the command that `exec` was to run.
        { text: "Put -- before the command", command: ["idp", "exec", "--", "npm", "test"] };
  const unknown = unknownInGroup(error, program, typed);
  if (unknown !== null) {
    const { didYouMean, nearest } = await import("../core/nearest.ts");
    const { word, known } = unknown;
    const all = { ...help, text: `${path.join(" ")} has ${known.join(", ")}. ${help.text}` };
    const hint = nearest(word, known) === undefined ? all : didYouMean(word, known, help);
    return { code: "usage", message: `unknown command '${word}'`, hint, problems: [], exit: 2 };
  }
  const suggestion = commandMeant(error, program, typed) ?? similar;
  const hint =
    suggestion === undefined ? help : { ...help, text: `${suggestion.replace(/^\((.*)\)$/, "$1")} ${help.text}` };
  return { code: "usage", message, hint, problems: [], exit: 2 };
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
    const { completeWords } = await import("./completion/complete-words.ts");
    await completeWords(program, words.slice(1), terminal, clock);
    return 0;
  }
  try {
    if (await printHelp(program, words)) return 0;
    await program.parseAsync(words, { from: "user" });
    return exit;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const flags = program.opts<GlobalFlags>();
    // Flags after a wrong one were not read.
    const cli = { ...settle(flags, terminal, clock, typedTarget(program)), json: ownWords(words).includes("--json") };
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
      const failure = await usageFailure(error, program, typed);
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
