import type { Argument, AnyCommand as Command, CommanderError, Option } from "./commander.ts";
import type { Hint } from "../core/hint.ts";
import { isNameKind } from "./commands/completion/complete.ts";
import { withNames } from "./input/example.ts";
import type { Invocation } from "./invocation.ts";
import type { Typed } from "./typed.ts";

/** What a person is told who left out an argument, a required flag or the value of a flag: in the words of the command's help. */

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

/** What is missing; null for another error. */
export async function missingIn(
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
