import type { AnyCommand as Command } from "./commander.ts";

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
