import { CommanderError, type AnyCommand as Command } from "./commander.ts";
import { OperationError, problemText, type Problem } from "../core/base/errors.ts";
import { typedTarget } from "./output/command-line.ts";
import { execFailure, failureOf, type Failure } from "./failure.ts";
import { printableJson } from "./output/escape.ts";
import { helpDocument } from "./output/help.ts";
import { ownWords } from "./input/foreign-command.ts";
import { invocationOf, type Invocation, type Terminal } from "./invocation.ts";
import { globalFlags } from "./flags/global.ts";
import { print, printFailure } from "./output/print.ts";
import { buildProgram } from "./program.ts";
import { durationOf } from "../text/time.ts";
import { typedCommand, type Typed } from "./usage/typed.ts";
import { isObject } from "../text/json.ts";

/** `-5m` is a length of time, and not a flag: in seconds, as commander reads numbers below zero. */
function withLengths(words: readonly string[]): string[] {
  const own = ownWords(words);
  const inSeconds = own.map((word) =>
    /^-\d/.test(word) && Number.isFinite(durationOf(word)) ? String(durationOf(word)) : word,
  );
  return [...inSeconds, ...words.slice(own.length)];
}

/** The words that are neither flags nor values of global flags, which may stand before the command. */
function namesIn(program: Command, words: readonly string[]): readonly string[] {
  let isValue = false;
  return ownWords(words).filter((word) => {
    const wasValue = isValue;
    const flag = wasValue ? undefined : program.options.find(({ long, short }) => word === long || word === short);
    isValue = flag?.required === true;
    return !wasValue && !word.startsWith("-");
  });
}

/**
 * `idp help users list`. commander would print the help of `users`, and for an unknown command the general help.
 * @returns whether this was typed; if so, the help is already printed
 */
async function printHelp(program: Command, words: readonly string[], stdout: NodeJS.WriteStream): Promise<boolean> {
  if (asksForDocument(words)) {
    showHelp(typedCommand(program, ownWords(words)), stdout, true);
    return true;
  }
  const [help, ...names] = program.parseOptions([...words]).operands;
  if (help !== "help") return false;
  let command = program;
  const path = [program.name()];
  for (const name of names) {
    const next = command.commands.find((candidate) => candidate.name() === name);
    if (next === undefined) {
      const { didYouMean } = await import("../core/base/nearest.ts");
      const known = command.commands.map((candidate) => candidate.name());
      throw new OperationError("usage", `unknown command '${name}'`, {
        hint: didYouMean(name, known, { text: "See", command: [...path, "--help"] }),
      });
    }
    command = next;
    path.push(name);
  }
  showHelp({ command, path }, stdout, ownWords(words).includes("--json"));
  return true;
}

/** The help of a command: for a person, or as a document. */
function showHelp(
  { command, path }: Pick<Typed, "command" | "path">,
  stdout: NodeJS.WriteStream,
  asJson: boolean,
): void {
  if (asJson) stdout.write(`${printableJson(helpDocument(command, path), stdout.isTTY ? 2 : 0)}\n`);
  else command.outputHelp();
}

/** Whether the help of the command that the words name is asked for as a document: commander would print text. */
const asksForDocument = (words: readonly string[]): boolean => {
  const own = ownWords(words);
  return own.includes("--json") && own.some((word) => word === "--help" || word === "-h");
};

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
  const {
    command: program,
    load,
    loadAll,
  } = buildProgram({
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
  try {
    const completes = words[0] === "__complete";
    // Also the one after `help`.
    const [first, second] = namesIn(program, completes ? words.slice(1) : words);
    const name = first === "help" ? second : first;
    if (name !== undefined) await load(name);
    // The help of all shows the arguments of each.
    else if (!completes && !words.some((word) => word === "--version" || word === "-V")) await loadAll();
    if (completes) {
      const { completeWords } = await import("./commands/completion/complete-words.ts");
      await completeWords(program, words.slice(1), terminal, clock);
      return 0;
    }
    if (await printHelp(program, words, stdout)) return 0;
    await program.parseAsync(withLengths(words), { from: "user" });
    return exit;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const flags = globalFlags(program);
    const exitWith = ({ code, exit }: Failure): number =>
      namesIn(program, words)[0] === "exec" && code !== "interrupted" ? execFailure : exit;
    // Flags after a wrong one were not read.
    const cli = {
      ...invocationOf(flags, terminal, clock, typedTarget(program)),
      json: ownWords(words).includes("--json"),
    };
    if (error instanceof CommanderError) {
      // What was meant may be in any of them.
      await loadAll();
      const typed = typedCommand(program, words);
      if (error.code === "commander.help") {
        if (typed.command === program) {
          if (cli.json) showHelp(typed, stdout, true);
          else stdout.write(help);
          return 0;
        }
        if (!cli.json) stderr.write(`${help}\n`);
        error.message = `${typed.path.join(" ")} needs one of its commands`;
      }
      const { usageFailure } = await import("./usage/usage.ts");
      const failure = await usageFailure(error, program, typed, cli);
      printFailure(cli, failure, null);
      return exitWith(failure);
    }
    const { command, path } = typedCommand(program, words);
    const failure = inFlags(failureOf(error), { command, path, json: cli.json });
    if (failure.code === "interrupted" && !cli.json) return failure.exit;
    printFailure(cli, failure, flags.verbose === true ? causeOf(error) : null);
    return exitWith(failure);
  }
}

/** Says what is wrong with the input of an operation in the words of the command that was typed: its flags and arguments. */

const camel = (name: string): string => name.replace(/[_-](\w)/g, (_match, letter: string) => letter.toUpperCase());

/** The path below `settings`, where a flag was typed that sets it. */
function settingIn(command: Command, path: string): string {
  const [, below = "", name = ""] = /^settings\.((\w+).*)$/.exec(path) ?? [];
  return command.getOptionValue(camel(name)) === undefined ? path : below;
}

/** The flag or the argument that sets a field; null if there is none. */
function wordFor(command: Command, path: string): string | null {
  // `settings.endpoints.token` is --endpoints.
  const field = /^[^.[]*/.exec(settingIn(command, path))?.[0].replace(/^new_/, "") ?? "";
  if (field === "") return null;
  const optionsOf = (names: readonly string[]) =>
    command.options.filter((one) => names.some((name) => one.attributeName() === camel(name)));
  // `saml.acs[0]` is --saml-acs or --add-saml-acs, `scim.token` is --scim-token-stdin, `claims.roles` is --add-claim roles.
  const whole = path.replace(/\[.*/, "").replace(".", "_");
  const single = field.replace(/s$/, "");
  const typed = optionsOf([whole, `add_${whole}`, `${whole}_stdin`, `add_${single}`, `remove_${single}`]).find(
    (one) => command.getOptionValue(one.attributeName()) !== undefined,
  );
  if (typed !== undefined) {
    const [, name] = /^claims\.(.+)$/.exec(path) ?? [];
    return name === undefined ? (typed.long ?? null) : `${typed.long} ${name}`;
  }
  const { set: given } = command.opts();
  if (isObject(given) && Object.hasOwn(given, field)) return `--set ${path}`;
  // `client_name` is --name, `redirect_uris` is --redirect-uri, `password` is --password-stdin.
  const names = [field, field.replace(/^client_/, "")].flatMap((name) => [
    name,
    name.replace(/s$/, ""),
    `${name}_stdin`,
  ]);
  const [option] = optionsOf(names);
  if (option !== undefined) return option.long ?? null;
  const { registeredArguments: all } = command;
  const argument = all.find((one) => camel(one.name()) === camel(field)) ?? (all.length === 1 ? all[0] : undefined);
  const set = command.options.find(({ long }) => long === "--set");
  if (set !== undefined && argument?.name() !== field) return `--set ${path}`;
  return argument === undefined ? null : `<${argument.name()}>`;
}

function inWords(command: Command, { path, message, fields = [], ...rest }: Problem): Problem {
  const shown = fields.reduce(
    (text, field) => text.replace(new RegExp(`\\b${field}\\b`), wordFor(command, field) ?? field),
    message,
  );
  return { ...rest, path: wordFor(command, path) ?? path, message: shown };
}

/**
 * A failure with flags in place of fields.
 * @param typed `path`: the words of the command, `["idp", "faults", "add"]`; `json`: the problems stay as they are, for programs
 */
function inFlags(
  failure: Failure,
  { command, path, json }: { readonly command: Command; readonly path: readonly string[]; readonly json: boolean },
): Failure {
  const { code, problems } = failure;
  const isInput = (code === "usage" || code === "conflict") && problems.every(({ file }) => file === undefined);
  if (!isInput || problems.length === 0) return failure;
  const all = problems
    .map((problem) => inWords(command, problem))
    .map((one) => (one.path === "" ? { ...one, path: path.slice(1).join(" ") } : one));
  // The help does not list what --set takes.
  const isSet = all.some((one) => one.path.startsWith("--set "));
  const hint = isSet
    ? { text: "Every field", command: ["idp", "seed", "--fields", path[1] ?? ""] }
    : { text: "See", command: [...path, "--help"] };
  const lines = all.map(problemText);
  if (json) return { ...failure, message: lines.join("; "), hint };
  if (lines.length === 1) return { ...failure, message: lines.join(""), hint, problems: [] };
  return { ...failure, message: `${all.length} values are wrong; nothing was changed`, hint, problems: all };
}
