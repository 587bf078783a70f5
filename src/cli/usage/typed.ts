import type { AnyCommand as Command, Option } from "../commander.ts";
import { beforeNames } from "../../core/base/hint.ts";

/** What was typed: the command that the words name, and the flags that it takes. */

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

/** The flags that a command takes, its own first. */
export const flagsOf = (program: Command, { command }: Typed): readonly Option[] => [
  ...command.options,
  ...program.options,
];

/** The words before `--`, after which none is a flag of ours. */
export const ownOf = ({ words }: Typed): readonly string[] => beforeNames(words);
