/*
 * cli/usage: what a person is told whose words are no command line. It is loaded then. typed.ts says which command the words name, usage.ts
 * what is unknown, and missing.ts what was left out.
 */
import type { AnyCommand as Command, CommanderError, Option } from "../commander.ts";
import { nearest } from "../../core/base/nearest.ts";
import type { Hint } from "../../core/base/hint.ts";
import type { Failure } from "../failure.ts";
import type { Invocation } from "../invocation.ts";
import { missingIn } from "./missing.ts";
import { flagsOf, ownOf, type Typed } from "./typed.ts";

/** What a person is told who typed a command, a flag or a value that there is not. */

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
      ? (await import("../../core/records/users/schema.ts")).userSchema
      : (await import("../../core/protocol/client-metadata/schema.ts")).clientSchema;
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
