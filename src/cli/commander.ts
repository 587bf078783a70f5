import * as commander from "commander";
import type * as inferred from "@commander-js/extra-typings";

/** Lines that can be pasted, below the help of a command. */
interface Examples {
  (): string;
  readonly lines: readonly string[];
}

/** For `addHelpText("after", …)`. */
export const examples = (...lines: readonly string[]): Examples =>
  Object.assign(
    () => `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}\n\nGlobal flags, such as --json: idp --help\n`,
    { lines },
  );

const linesOf = new WeakMap<object, readonly string[]>();

/** The examples of a command, as it declares them. */
export const examplesOf = (command: AnyCommand): readonly string[] => linesOf.get(command) ?? [];

/** commander's command, which keeps its examples. */
class CommandWithExamples extends commander.Command {
  override createCommand(name?: string): CommandWithExamples {
    return new CommandWithExamples(name);
  }
  override addHelpText(
    position: commander.AddHelpTextPosition,
    text: string | Examples | ((context: commander.AddHelpTextContext) => string),
  ): this {
    if (typeof text === "function" && "lines" in text) linesOf.set(this, text.lines);
    return super.addHelpText(position, text as string);
  }
}

/** commander, with the types that know a command's arguments and flags from what it declares. */
export const { Argument, Command, CommanderError, Help, InvalidArgumentError, Option } = {
  ...commander,
  Command: CommandWithExamples,
} as unknown as typeof inferred;

/** No flags yet. */
// commander writes it so, too.
// eslint-disable-next-line @typescript-eslint/no-empty-object-type, @typescript-eslint/consistent-type-definitions
export type None = {};

/** A command, by its arguments, its flags, and those of the commands above it. */
export type Command<
  A extends unknown[] = [],
  F extends inferred.OptionValues = None,
  G extends inferred.OptionValues = None,
> = inferred.Command<A, F, G>;
export type Argument = inferred.Argument;
export type CommanderError = inferred.CommanderError;
export type Option = inferred.Option;
export type Help = inferred.Help;
export type HelpConfiguration = inferred.HelpConfiguration;
/** Any command, for code that reads what was declared. */
export type AnyCommand = inferred.CommandUnknownOpts;
export type Flags = inferred.OptionValues;

/** The flags that a function adds: of `typeof withNames<[], None, None>`. */
export type FlagsOf<F extends (...given: never[]) => unknown> =
  ReturnType<F> extends inferred.Command<infer _A, infer O, infer _G> ? Readonly<O> : never;
