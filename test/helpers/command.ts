import { PassThrough, Readable } from "node:stream";
import type { Command } from "commander";
import type { Terminal } from "../../src/cli/invocation.ts";
import { buildProgram } from "../../src/cli/program.ts";
import { run } from "../../src/cli/run.ts";
import type { Ended } from "./cli.ts";

/** The command line in this process, from the sources: a tenth of the time that a child process takes. Nothing is a terminal. */

interface Pipes {
  readonly terminal: Terminal;
  readonly said: () => Pick<Ended, "stdout" | "stderr">;
}

/** Streams as pipes have them. */
function pipes(input: string): Pipes {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const texts = { stdout: "", stderr: "" };
  stdout.setEncoding("utf8").on("data", (text: string) => (texts.stdout += text));
  stderr.setEncoding("utf8").on("data", (text: string) => (texts.stderr += text));
  const stdin = Readable.from(input === "" ? [] : [Buffer.from(input)]);
  return { terminal: { stdin, stdout, stderr, env: {} } as unknown as Terminal, said: () => ({ ...texts }) };
}

/** Runs a command to its end, off a terminal. Files are named by whole paths: the working folder is the test runner's. */
export async function idpHere(words: readonly string[], input = ""): Promise<Ended> {
  const { terminal, said } = pipes(input);
  const code = await run(words, terminal, { now: Date.now, takeSignals: () => undefined });
  return { code, ...said() };
}

/** Every command that there is, by its words: "", "users", "users list", … Taken from the program, so that none is forgotten. */
export function commandTree(): ReadonlyMap<string, Command> {
  const { terminal } = pipes("");
  const program = buildProgram({
    terminal,
    words: [],
    clock: { now: Date.now, takeSignals: () => undefined },
    errorHelp: () => undefined,
    finish: () => undefined,
  });
  const below = (command: Command, path: string): [string, Command][] => [
    [path, command],
    ...command.commands.flatMap((each) => below(each, `${path} ${each.name()}`.trim())),
  ];
  return new Map(below(program, ""));
}

/** Commands that do something themselves, and not by one of theirs. */
export const leaves = (): readonly string[] =>
  [...commandTree()].flatMap(([path, { commands }]) => (commands.length === 0 ? [path] : []));
