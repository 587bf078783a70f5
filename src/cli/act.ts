import type { AnyCommand, Command } from "./commander.ts";
import type { Invocation } from "./invocation.ts";
import type { Outcome } from "./output/print.ts";

/**
 * Makes a commander action of a command: resolves the global flags, runs the command, passes on its outcome.
 * `run` gets the command's arguments, then its flags. It returns null if it printed everything itself, or a number to also set the exit code.
 */
export type Act = <A extends unknown[]>(
  run: (cli: Invocation, ...args: A) => Promise<Outcome | number | null>,
) => (...received: [...A, ...unknown[]]) => Promise<void>;

/** What a command needs to declare itself. */
interface Declaring {
  readonly act: Act;
  /** The whole command line, which has the global flags. */
  readonly program: AnyCommand;
  /** The words after `idp`. */
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Adds the arguments, flags and commands of a noun to its command, whose name and summary are in `nouns.ts`. */
export type Declare = (command: Command, context: Declaring) => void;
