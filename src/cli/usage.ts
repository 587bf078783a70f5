import type { Argument, AnyCommand as Command, CommanderError, Option } from "./commander.ts";
import { nearest } from "../core/nearest.ts";
import type { Hint } from "../core/hint.ts";
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
function unknownCommand({ code, message }: CommanderError, program: Command, { words, command, path }: Typed) {
  if (code === "commander.unknownCommand") return /'(.+)'/.exec(message)?.[1] ?? null;
  if (code !== "commander.excessArguments" || command.commands.length === 0) return null;
  return program.parseOptions([...words]).operands[path.length - 1] ?? null;
}

/** The words that a refused flag or argument takes, and the word that was given. */
function refusedChoice({ code, message }: CommanderError, program: Command, { command }: Typed) {
  if (code !== "commander.invalidArgument") return null;
  const [, flags, value] = /^error: option '(.+?)' argument '(.*?)' is invalid\./s.exec(message) ?? [];
  const [, word, argument] =
    /^error: command-argument value '(.*?)' is invalid for argument '(.+?)'/s.exec(message) ?? [];
  const all: readonly (Option | Argument)[] =
    flags === undefined
      ? command.registeredArguments.filter((one) => one.name() === argument)
      : [...command.options, ...program.options].filter((one) => one.flags === flags);
  return { argument, given: value ?? word ?? "", choices: all.flatMap(({ argChoices }) => argChoices ?? []) };
}

/** commander's own suggestion, for a flag: `(Did you mean --json?)`. */
const suggestion = (line: string | undefined): string | undefined => line?.replace(/^\((.*)\)$/, "$1");

/** `--set note=x` in place of `--note x`, where a user or a client has that field. Secrets are not set so. */
async function fieldMeant({ message }: CommanderError, program: Command, typed: Typed): Promise<Hint | undefined> {
  const { words, command, path } = typed;
  const [, flag = ""] = /^error: unknown option '--([\w-]+)/.exec(message) ?? [];
  if (flag === "" || !command.options.some(({ long }) => long === "--set")) return undefined;
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
  const [message = "", similar] = error.message.replace(/^error: /, "").split("\n");
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
  const word = unknownCommand(error, program, typed);
  if (word !== null) {
    const suggested = commandsMeant(program, typed, word);
    const all = command === program ? undefined : `${path.join(" ")} has ${namesOf(command).join(", ")}.`;
    return refusal(`unknown command '${word}'`, suggested.length > 0 ? `Did you mean ${suggested.join(" or ")}?` : all);
  }
  const refused = refusedChoice(error, program, typed);
  if (refused !== null) {
    const closest = nearest(refused.given, refused.choices);
    const { argument, choices, given } = refused;
    const isWord = argument !== undefined && choices.length > 0;
    return refusal(
      isWord ? `${argument} must be one of ${choices.join(", ")}, not '${given}'` : message,
      closest === undefined ? undefined : `Did you mean ${closest}?`,
    );
  }
  const field = similar === undefined ? await fieldMeant(error, program, typed) : undefined;
  return field === undefined ? refusal(message, suggestion(similar)) : { ...refusal(message, undefined), hint: field };
}

/** What is said of an argument, a required flag or the value of a flag that is missing: in the words of the command's help. */
interface Missing {
  readonly message: string;
  /** A command that has what is missing; null where the help has none. */
  readonly example: Hint | null;
}

/** The commands below "Examples:" in the help, but for those that are more than one command of ours. */
function examplesOf(command: Command, path: readonly string[]): readonly (readonly string[])[] {
  let help = "";
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  const lines = [...help.matchAll(/^ {2}\$ (.+)$/gm)].map(([, line = ""]) => line);
  return lines
    .filter((line) => line.startsWith(`${path.join(" ")} `) && !/[<>|$]/.test(line))
    .map((line) => (line.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^(['"])(.*)\1$/, "$2")));
}

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

const valuesOf = ({ argChoices, description }: Argument | Option): string =>
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
  const words = examplesOf(command, path)[0] ?? (choice === undefined ? undefined : [...path, choice]);
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

/** What is missing; null for another error. */
async function missingIn(
  { code, message }: CommanderError,
  program: Command,
  typed: Typed,
  cli: Invocation,
): Promise<Missing | null> {
  const { command, path } = typed;
  const name = /'(.+)'/.exec(message)?.[1];
  if (code === "commander.missingArgument") {
    const argument = command.registeredArguments.find((one) => one.name() === name);
    if (argument === undefined) return null;
    return {
      message: `${path.join(" ")} needs ${named(argument)}: ${valuesOf(argument)}`,
      example: await exampleOf(argument, typed, cli),
    };
  }
  if (code !== "commander.optionMissingArgument" && code !== "commander.missingMandatoryOptionValue") return null;
  const flag = [...command.options, ...program.options].find(({ flags }) => flags === name);
  if (flag === undefined) return null;
  const long = flag.long ?? flag.flags;
  const started = long === "--start" ? startAt(typed) : null;
  if (started !== null) return started;
  const example = examplesOf(command, path).find((words) => words.includes(long));
  return {
    message:
      code === "commander.optionMissingArgument"
        ? `${long} needs a value: ${valuesOf(flag)}`
        : `${path.join(" ")} needs ${long}: ${valuesOf(flag)}`,
    example:
      example === undefined
        ? null
        : { text: "For example", command: await withNames(cli, withPlaceholders(typed, example)) },
  };
}
