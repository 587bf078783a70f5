import { PassThrough, Readable } from "node:stream";
import type { Command } from "commander";
import { expect } from "vitest";
import type { Terminal } from "../../src/cli/invocation.ts";
import { buildProgram } from "../../src/cli/program.ts";
import { run } from "../../src/cli/run.ts";
import { atEnd } from "./at-end.ts";
import type { Ended } from "./cli.ts";
import { repository } from "./readme.ts";

/** The command line in this process, from the sources: a tenth of the time that a child process takes. Nothing is a terminal. */

interface Pipes {
  readonly terminal: Terminal;
  readonly said: () => Pick<Ended, "stdout" | "stderr">;
  /** Is called after each write to stderr. */
  readonly onStderr: (look: () => void) => void;
}

/** Streams as pipes have them. */
function pipes(input: string, env: Readonly<Record<string, string>> = {}): Pipes {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const texts = { stdout: "", stderr: "" };
  stdout.setEncoding("utf8").on("data", (text: string) => (texts.stdout += text));
  stderr.setEncoding("utf8").on("data", (text: string) => (texts.stderr += text));
  const stdin = Readable.from(input === "" ? [] : [Buffer.from(input)]);
  return {
    terminal: { stdin, stdout, stderr, env } as unknown as Terminal,
    said: () => ({ ...texts }),
    onStderr: (look) => stderr.on("data", look),
  };
}

/** A command under way. */
export interface Begun {
  /** The match in stderr; an error if the command ends without it. */
  readonly told: (pattern: RegExp) => Promise<RegExpExecArray>;
  readonly ended: Promise<Ended>;
}

/** Begins a command, off a terminal. */
export function beginHere(words: readonly string[], input = "", env: Readonly<Record<string, string>> = {}): Begun {
  const { terminal, said, onStderr } = pipes(input, env);
  const ended = run(words, terminal, { now: Date.now, takeSignals: () => undefined }).then((code) => ({
    code,
    ...said(),
  }));
  return {
    ended,
    told: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(said().stderr);
          if (match !== null) resolve(match);
        };
        onStderr(look);
        look();
        void ended.then(({ stdout, stderr }) => {
          reject(new Error(`it ended without telling ${String(pattern)}: ${stdout}${stderr}`));
        }, reject);
      }),
  };
}

/** Runs a command to its end. */
export const idpHere = (
  words: readonly string[],
  input = "",
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> => beginHere(words, input, env).ended;

/**
 * Runs a command to its end in this folder. Until the test ends, this process works there: two folders cannot be used at once.
 * @param env what commands read themselves; the variables that stand for flags are those of the test runner
 */
export function idpIn(
  cwd: string,
  words: readonly string[],
  input = "",
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  if (process.cwd() !== cwd) {
    process.chdir(cwd);
    atEnd(() => {
      process.chdir(repository);
    });
  }
  return idpHere(words, input, env);
}

/** The single JSON document of a stream. */
export function documentOf(stream: string): unknown {
  expect(stream.endsWith("\n")).toBe(true);
  return JSON.parse(stream);
}

/** Every command by its words: "", "users", "users list", … Taken from the program, so that none is forgotten. */
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

/** Commands that do something themselves, not only through subcommands. */
export const leaves = (): readonly string[] =>
  [...commandTree()].flatMap(([path, { commands }]) => (commands.length === 0 ? [path] : []));
