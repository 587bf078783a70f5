import {
  examplesOf,
  type Argument,
  type AnyCommand as Command,
  type CommanderError,
  type Option,
} from "../commander.ts";
import type { Hint } from "../../core/base/hint.ts";
import type { Invocation } from "../invocation.ts";
import { isWebUrl } from "../../text/url.ts";
import { withNames } from "../input/example.ts";
import { isNameKind } from "../input/name-kinds.ts";
import { flagsOf, ownOf, type Typed } from "./typed.ts";

/** What a person is told who left out an argument, a flag or its value. */

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
export async function missingIn(
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
