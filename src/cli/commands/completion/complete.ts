import type { Argument, AnyCommand as Command, Option } from "../../commander.ts";
import { flawList } from "../../../core/testing/controls/faults/flaw-list.ts";
import { isNameKind, type NameKind } from "../../input/name-kinds.ts";

/**
 * What may follow at the cursor. It is derived from the commander program, so that both always agree. The name of a value in the help
 * says what kind it is: `<username>`, `<client_id>`, `<file>`.
 */

export interface Candidate {
  readonly value: string;
  readonly description: string;
}

type Completion =
  | { readonly kind: "candidates"; readonly candidates: readonly Candidate[] }
  /** `prefix`: the flag, if it is one word with its value, as in `--user=al`. */
  | { readonly kind: "names"; readonly of: NameKind; readonly prefix: string }
  /** Files and folders, which the shell completes itself. */
  | { readonly kind: "files" };

const nothing: Completion = { kind: "candidates", candidates: [] };

const visibleCommands = (command: Command): readonly Command[] => command.createHelp().visibleCommands(command);

/** The flags of a command, and the global ones. */
const flagsOf = (command: Command): readonly Option[] => [
  ...command.createHelp().visibleOptions(command),
  ...above(command).flatMap(({ options }) => options.filter(({ hidden, long }) => !hidden && long !== "--version")),
];

const above = ({ parent }: Command): readonly Command[] => (parent === null ? [] : [parent, ...above(parent)]);

/** The word in the brackets of `--user <username>` or `[path...]`. */
const valueName = (flags: string): string => /[<[]([^>\]]+?)(?:\.\.\.)?[>\]]/.exec(flags)?.[1] ?? "";

function valueOf(name: string, choices: readonly string[] | undefined, prefix: string, cursor: Cursor): Completion {
  if (choices !== undefined) {
    return { kind: "candidates", candidates: choices.map((each) => ({ value: prefix + each, description: "" })) };
  }
  if (isNameKind(name)) return { kind: "names", of: name, prefix };
  if (["file", "dir", "path"].includes(name)) return { kind: "files" };
  if (name === "flaw") return { kind: "candidates", candidates: flawsOf(cursor.args[0], prefix) };
  return name === "command" ? { kind: "candidates", candidates: commandsOf(cursor.program) } : nothing;
}

/** The flaws of an endpoint; all of them without an endpoint. */
const flawsOf = (endpoint: string | undefined, prefix: string): readonly Candidate[] =>
  flawList
    .filter((flaw) => endpoint === undefined || flaw.endpoint === endpoint)
    .map(({ name, wrong }) => ({ value: prefix + name, description: wrong }));

const ofFlag = (flag: Option, prefix: string, cursor: Cursor): Completion =>
  valueOf(valueName(flag.flags), flag.argChoices, prefix, cursor);

/** Suggests no existing name for a new record. */
const ofArgument = (argument: Argument, cursor: Cursor): Completion =>
  cursor.command.name() === "add" && isNameKind(argument.name())
    ? nothing
    : valueOf(argument.name(), argument.argChoices, "", cursor);

const commandsOf = (command: Command): readonly Candidate[] =>
  visibleCommands(command).map((each) => ({ value: each.name(), description: each.description() }));

const isFlag = (option: Option, word: string): boolean => option.long === word || option.short === word;

/** What the words before the cursor say. */
interface Cursor {
  readonly program: Command;
  readonly command: Command;
  /** The arguments of the command so far. */
  readonly args: readonly string[];
  /** The flag whose value comes next. */
  readonly pending: Option | null;
  /** Whether the cursor is after `--`. */
  readonly foreign: boolean;
  /** The values of flags so far, by their long names without dashes. */
  readonly values: ReadonlyMap<string, string>;
}

/** Where the words lead to. */
export function cursorAfter(program: Command, words: readonly string[]): Cursor {
  let command = program;
  const args: string[] = [];
  let foreign = false;
  let pending: Option | null = null;
  const values = new Map<string, string>();
  for (const word of words) {
    if (foreign) continue;
    if (pending !== null) {
      values.set(pending.name(), word);
      pending = null;
    } else if (word === "--") foreign = true;
    else if (word.startsWith("-")) {
      const [name = "", value] = word.split(/=(.*)/s);
      const flag = flagsOf(command).find((option) => isFlag(option, name));
      if (flag !== undefined && value !== undefined) values.set(flag.name(), value);
      else if (flag?.required === true) pending = flag;
    } else {
      const next: Command | undefined = visibleCommands(command).find((each) => each.name() === word);
      if (next === undefined || args.length > 0) args.push(word);
      else command = next;
    }
  }
  return { program, command, args, pending, foreign, values };
}

/** @param current the word at the cursor, up to the cursor */
export function complete(cursor: Cursor, current: string): Completion {
  const { command, args, pending, foreign } = cursor;
  if (foreign) return { kind: "files" };
  if (pending !== null) return ofFlag(pending, "", cursor);
  if (current.startsWith("-")) {
    const [name = "", value] = current.split(/=(.*)/s);
    const flags = flagsOf(command);
    if (value !== undefined) {
      const flag = flags.find((option) => isFlag(option, name));
      return flag === undefined ? nothing : ofFlag(flag, `${name}=`, cursor);
    }
    const candidates = flags.flatMap(({ long, description }) => (long == null ? [] : [{ value: long, description }]));
    return { kind: "candidates", candidates };
  }
  const commands = args.length === 0 ? commandsOf(command) : [];
  if (commands.length > 0) return { kind: "candidates", candidates: commands };
  const argument =
    command.registeredArguments[args.length] ?? command.registeredArguments.find(({ variadic }) => variadic);
  return argument === undefined ? nothing : ofArgument(argument, cursor);
}
