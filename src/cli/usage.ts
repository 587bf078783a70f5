import {
  examplesOf,
  type Argument,
  type AnyCommand as Command,
  type CommanderError,
  type Option,
} from "./commander.ts";
import { nearest } from "../core/nearest.ts";
import { beforeNames, type Hint } from "../core/hint.ts";
import type { Failure } from "./failure.ts";
import type { Invocation } from "./invocation.ts";
import { isNameKind } from "./commands/completion/complete.ts";
import { isWebUrl } from "./flags/flag-values.ts";
import { withNames } from "./input/example.ts";

/** What a person is told who typed a command, a flag or a value that there is not, or left one out. */

/** The command or group that the words name, as far as they name one. */
export interface Typed {
  readonly words: readonly string[];
  readonly command: Command;
  /** `["idp", "users", "list"]` */
  readonly path: readonly string[];
}

export function typedCommand(program: Command, words: readonly string[]): Typed {
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

/** Names of other tools for our commands. The first one that a group has is meant. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  create: ["add", "issue", "rotate", "save"],
  delete: ["remove", "revoke", "end", "clear"],
  generate: ["issue", "rotate"],
  logs: ["requests"],
  ls: ["list"],
  new: ["add", "issue", "rotate", "save"],
  rm: ["remove", "revoke", "end", "clear"],
  serve: ["start"],
  unban: ["restore"],
  unsuspend: ["restore"],
  update: ["edit", "set"],
};

const synonymsOf = (word: string): readonly string[] => (Object.hasOwn(synonyms, word) ? (synonyms[word] ?? []) : []);

const namesOf = ({ commands }: Command): readonly string[] => commands.map((command) => command.name());

/** The commands that an unknown word may mean, as they are typed: in the group that was named, else in any. */
function commandsMeant(program: Command, { command: group, path }: Typed, word: string): readonly string[] {
  const known = namesOf(group);
  const near = nearest(word, known);
  // Outside a group only the first one is meant: "delete" alone is not "revoke".
  const others = synonymsOf(word).slice(0, group === program ? 1 : undefined);
  const synonym = others.find((name) => known.includes(name));
  if (synonym !== undefined) return [[...path, synonym].join(" ")];
  if (group !== program) return near === undefined ? [] : [near];
  // "client" is clients, and not "check client".
  if (known.includes(`${word}s`)) return [`${word}s`];
  const name = synonymsOf(word)[0] ?? word;
  // What "unban" undoes is in the same group.
  const undone = /^un(.+)/.exec(word)?.[1] ?? name;
  const groups = program.commands.filter((one) => [name, undone].every((each) => namesOf(one).includes(each)));
  if (groups.length === 0) return near === undefined ? [] : [near];
  return groups.map((one) => `${program.name()} ${one.name()} ${name}`);
}

/** The word that is not a command: commander says so, or takes it for an argument of the default command of the group. */
function unknownCommand({ code }: CommanderError, { command }: Typed): string | null {
  if (code !== "commander.unknownCommand" && code !== "commander.excessArguments") return null;
  return command.commands.length === 0 ? null : (command.args[0] ?? null);
}

/** The flags that a command takes, its own first. */
const flagsOf = (program: Command, { command }: Typed): readonly Option[] => [...command.options, ...program.options];

/** The words before `--`, after which none is a flag of ours. */
const ownOf = ({ words }: Typed): readonly string[] => beforeNames(words);

/** The values that were typed for a flag. */
const valuesOf = (typed: Typed, { long, short }: Option): readonly string[] =>
  ownOf(typed).flatMap((word, at, all) =>
    word === long || word === short
      ? (all[at + 1] ?? [])
      : long != null && word.startsWith(`${long}=`)
        ? word.slice(long.length + 1)
        : [],
  );

/** The words that a refused flag or argument takes, and the word that was given. */
function refusedChoice({ code }: CommanderError, program: Command, typed: Typed) {
  if (code !== "commander.invalidArgument") return null;
  const isOther = (choices: readonly string[] | undefined, given: string): boolean =>
    choices !== undefined && !choices.includes(given);
  for (const one of flagsOf(program, typed)) {
    const given = valuesOf(typed, one).find((value) => isOther(one.argChoices, value));
    if (given !== undefined) return { argument: null, given, choices: one.argChoices ?? [] };
  }
  const { args } = typed.command;
  for (const [at, one] of typed.command.registeredArguments.entries()) {
    const given = (one.variadic ? args.slice(at) : args.slice(at, at + 1)).find((word) =>
      isOther(one.argChoices, word),
    );
    if (given !== undefined) return { argument: one.name(), given, choices: one.argChoices ?? [] };
  }
  return null;
}

/** The flag that no command here has; null for another error. */
const unknownFlag = ({ code }: CommanderError, program: Command, { command, words }: Typed): string | null =>
  code === "commander.unknownOption"
    ? (command.parseOptions(program.parseOptions([...words]).unknown).unknown[0] ?? null)
    : null;

/** `--set note=x` in place of `--note x`, where a user or a client has that field. Secrets are not set so. */
async function fieldMeant(unknown: string, program: Command, typed: Typed): Promise<Hint | undefined> {
  const { words, command, path } = typed;
  const flag = unknown.replace(/^--/, "").replace(/=.*$/s, "");
  if (!unknown.startsWith("--") || !command.options.some(({ long }) => long === "--set")) return undefined;
  const { shape } =
    path[1] === "users"
      ? (await import("../core/users/schema.ts")).userSchema
      : (await import("../core/client-metadata/schema.ts")).clientSchema;
  const plain = (name: string): string => name.replaceAll(/[_-]/g, "").toLowerCase();
  const field = Object.keys(shape).find((name) => plain(name) === plain(flag));
  if (field === undefined || ["password", "client_secret"].includes(field)) return undefined;
  const at = words.findIndex((word) => word === `--${flag}` || word.startsWith(`--${flag}=`));
  const [word = "", next = "-"] = words.slice(at);
  const value = word.includes("=") ? word.slice(flag.length + 3) : next.startsWith("-") ? "VALUE" : next;
  const name = program.parseOptions(words.slice(0, at)).operands[path.length - 1];
  return {
    text: "Set the field",
    command: [...path, ...(name === undefined ? [] : [name]), "--set", `${field}=${value}`],
  };
}

/** The refusal of what was typed: commander's message without its prefix, and the next step. */
export async function usageFailure(
  error: CommanderError,
  program: Command,
  typed: Typed,
  cli: Invocation,
): Promise<Failure> {
  const { words, command, path } = typed;
  const message = error.message.replace(/^error: /, "");
  const help: Hint =
    path.join(" ") !== "idp exec" || words.includes("--")
      ? { text: "See", command: [...path, "--help"] }
      : // The flags may be those of the command that `exec` was to run.
        { text: "Put -- before the command", command: ["idp", "exec", "--", "npm", "test"] };
  const refusal = (text: string, sentence: string | undefined): Failure => ({
    code: "usage",
    message: text,
    hint: sentence === undefined ? help : { ...help, text: `${sentence} ${help.text}` },
    problems: [],
    exit: 2,
  });
  const missing = await missingIn(error, program, typed, cli);
  if (missing !== null) {
    return { ...refusal(missing.message, undefined), ...missing, hint: { text: "See", command: [...path, "--help"] } };
  }
  const word = unknownCommand(error, typed);
  if (word !== null) {
    const suggested = commandsMeant(program, typed, word);
    const all = command === program ? undefined : `${path.join(" ")} has ${namesOf(command).join(", ")}.`;
    return refusal(`unknown command '${word}'`, suggested.length > 0 ? `Did you mean ${suggested.join(" or ")}?` : all);
  }
  const refused = refusedChoice(error, program, typed);
  if (refused !== null) {
    const closest = nearest(refused.given, refused.choices);
    const { argument, choices, given } = refused;
    return refusal(
      argument !== null ? `${argument} must be one of ${choices.join(", ")}, not '${given}'` : message,
      closest === undefined ? undefined : `Did you mean ${closest}?`,
    );
  }
  const flag = unknownFlag(error, program, typed);
  if (flag === null) return refusal(message, undefined);
  const similar = nearest(
    flag,
    flagsOf(program, typed).flatMap(({ long }) => long ?? []),
  );
  const field = similar === undefined ? await fieldMeant(flag, program, typed) : undefined;
  if (field !== undefined) return { ...refusal(message, undefined), hint: field };
  return refusal(message, similar === undefined ? undefined : `Did you mean ${similar}?`);
}

/** What is said of an argument, a required flag or the value of a flag that is missing: in the words of the command's help. */
interface Missing {
  readonly message: string;
  /** A command that has what is missing; null where the help has none. */
  readonly example: Hint | null;
}

/** The words of the examples of a command, but for those that are more than one command of ours. */
const commandsIn = (command: Command, path: readonly string[]): readonly (readonly string[])[] =>
  examplesOf(command)
    .filter((line) => line.startsWith(`${path.join(" ")} `) && !/[<>|$]/.test(line))
    .map((line) => (line.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^(['"])(.*)\1$/, "$2")));

/** An example with placeholders for the users and clients of the demo: `idp users edit USERNAME`, `--client CLIENT_ID`. */
function withPlaceholders({ command, path }: Typed, example: readonly string[]): readonly string[] {
  return example.map((word, at) => {
    const flag = command.options.find(({ long }) => long === example[at - 1]);
    const argument = at === path.length && command.name() !== "add" ? command.registeredArguments[0] : undefined;
    const name = /<(.+)>/.exec(flag?.flags ?? "")?.[1] ?? argument?.name() ?? "";
    return isNameKind(name) && !word.startsWith("-") ? name.toUpperCase() : word;
  });
}

/** "an endpoint", "a fault id" */
const named = (argument: Argument): string => {
  const name = argument.name().replaceAll("_", " ").replace("url", "URL");
  return `${/^[aeio]/.test(name) ? "an" : "a"} ${name}`;
};

const takenBy = ({ argChoices, description }: Argument | Option): string =>
  argChoices === undefined ? description : `one of ${argChoices.join(", ")}`;

/** For an argument that names a record: with one that there is, or where all are listed. For others: the example of the help. */
async function exampleOf(argument: Argument, { command, path }: Typed, cli: Invocation): Promise<Hint | null> {
  const name = argument.name();
  if (isNameKind(name)) {
    const placeholder = name.toUpperCase();
    const words = await withNames(cli, [...path, placeholder]);
    if (!words.includes(placeholder)) return { text: "For example", command: words };
    return { text: "To list them", command: [...path.slice(0, -1), "list"] };
  }
  const choice = argument.argChoices?.[0];
  const words = commandsIn(command, path)[0] ?? (choice === undefined ? undefined : [...path, choice]);
  return words === undefined ? null : { text: "For example", command: words };
}

/** An address of the app that stands alone, as after `check client`: it is the one to begin at. @returns null: there is none */
function startAt({ words }: Typed): Missing | null {
  const end = words.includes("--") ? words.indexOf("--") : words.length;
  const own = words.slice(0, end);
  const at = own.findIndex((word, index) => isWebUrl(word) && !(own[index - 1] ?? "").startsWith("-"));
  const url = own[at];
  if (url === undefined) return null;
  const hasPage = own.some((word) => /^--signed-in(=|$)/.test(word));
  const flags = [...own.toSpliced(at, 1), "--start", url, ...(hasPage ? [] : ["--signed-in", "URL"])];
  return {
    message: `${url} is an address: name it with --start`,
    example: { text: "Type", command: ["idp", ...flags, ...words.slice(end)] },
  };
}

/** The flag that has no value, or that is required and was not typed. */
function missingFlag({ code }: CommanderError, program: Command, typed: Typed): Option | undefined {
  const all = flagsOf(program, typed);
  const last = ownOf(typed).at(-1);
  if (code === "commander.optionMissingArgument") return all.find(({ long, short }) => last === long || last === short);
  if (code !== "commander.missingMandatoryOptionValue") return undefined;
  const { command } = typed;
  return all.find((one) => one.mandatory && command.getOptionValue(one.attributeName()) === undefined);
}

/** What is missing; null for another error. */
async function missingIn(
  error: CommanderError,
  program: Command,
  typed: Typed,
  cli: Invocation,
): Promise<Missing | null> {
  const { command, path } = typed;
  if (error.code === "commander.missingArgument") {
    const argument = command.registeredArguments.slice(command.args.length).find(({ required }) => required);
    if (argument === undefined) return null;
    return {
      message: `${path.join(" ")} needs ${named(argument)}: ${takenBy(argument)}`,
      example: await exampleOf(argument, typed, cli),
    };
  }
  const flag = missingFlag(error, program, typed);
  if (flag === undefined) return null;
  const long = flag.long ?? flag.flags;
  const started = long === "--start" ? startAt(typed) : null;
  if (started !== null) return started;
  const example = commandsIn(command, path).find((words) => words.includes(long));
  return {
    message:
      error.code === "commander.optionMissingArgument"
        ? `${long} needs a value: ${takenBy(flag)}`
        : `${path.join(" ")} needs ${long}: ${takenBy(flag)}`,
    example:
      example === undefined
        ? null
        : { text: "For example", command: await withNames(cli, withPlaceholders(typed, example)) },
  };
}
