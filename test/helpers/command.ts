import { PassThrough, Readable } from "node:stream";
import type { AnyCommand as Command } from "../../src/cli/commander.ts";
import { expect } from "vitest";
import type { Terminal } from "../../src/cli/invocation.ts";
import { buildProgram } from "../../src/cli/program.ts";
import { run } from "../../src/cli/run.ts";
import { atEnd } from "./at-end.ts";
import { environment, type Ended, type Place, type RunningIdp } from "./cli.ts";
import { repository } from "./readme.ts";

/** The command line in this process, from the sources: a tenth of the time that a child process takes. Nothing is a terminal. */

interface Pipes {
  readonly terminal: Terminal;
  /** What was printed so far. */
  readonly output: Pick<Ended, "stdout" | "stderr">;
  /** Is called after each write. */
  readonly onWrite: (look: () => void) => void;
}

/** Streams as pipes have them. */
function pipes(input: string, env: NodeJS.ProcessEnv = {}): Pipes {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const output = { stdout: "", stderr: "" };
  stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const stdin = Readable.from(input === "" ? [] : [Buffer.from(input)]);
  return {
    terminal: { stdin, stdout, stderr, env } as unknown as Terminal,
    output,
    onWrite: (look) => {
      stdout.on("data", look);
      stderr.on("data", look);
    },
  };
}

/** A command under way. */
export interface Begun {
  /** The match in stderr; an error if the command ends without it. */
  readonly told: (pattern: RegExp) => Promise<RegExpExecArray>;
  readonly ended: Promise<Ended>;
}

/** Begins a command, off a terminal. */
export function beginHere(words: readonly string[], input = "", env: NodeJS.ProcessEnv = {}): Begun {
  const { terminal, output, onWrite } = pipes(input, env);
  const ended = run(words, terminal, { now: Date.now, takeSignals: () => undefined }).then((code) => ({
    code,
    ...output,
  }));
  return {
    ended,
    told: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(output.stderr);
          if (match !== null) resolve(match);
        };
        onWrite(look);
        look();
        void ended.then(({ stdout, stderr }) => {
          reject(new Error(`it ended without telling ${String(pattern)}: ${stdout}${stderr}`));
        }, reject);
      }),
  };
}

/** Runs a command to its end. */
export const idpHere = (words: readonly string[], input = "", env: NodeJS.ProcessEnv = {}): Promise<Ended> =>
  beginHere(words, input, env).ended;

function workIn(cwd: string): void {
  if (process.cwd() === cwd) return;
  process.chdir(cwd);
  atEnd(() => {
    process.chdir(repository);
  });
}

/**
 * Runs a command to its end in this folder. Until the test ends, this process works there: two folders cannot be used at once.
 * @param env what commands read; those that stand for flags are variables of this process meanwhile
 */
export function idpIn(cwd: string, words: readonly string[], input = "", env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  workIn(cwd);
  const takeBack = withVariables(env);
  return idpHere(words, input, env).finally(takeBack);
}

/** commander reads the variables that stand for flags from the process itself. @returns what takes them back */
function withVariables(env: NodeJS.ProcessEnv): () => void {
  const given = Object.entries(env).filter(([name]) => name.startsWith("IDP_"));
  const before = given.map(([name]) => [name, process.env[name]] as const);
  Object.assign(process.env, Object.fromEntries(given));
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  };
}

/** A server of `idp start` in this process. */
export interface Started extends Pick<RunningIdp, "issuer" | "output" | "printed"> {
  /** Ends it as a signal does. */
  readonly stop: () => Promise<number>;
}

/** `startIdp` in this process: for everything but signals, the lock of another process, and standard input. It is stopped at the end. */
export async function startHere(args: readonly string[], { cwd, env = {} }: Place): Promise<Started> {
  workIn(cwd);
  const takeBack = withVariables(env);
  const { terminal, output, onWrite } = pipes("", environment(env));
  let interrupt = (): void => undefined;
  const takeSignals = (handle: (signal: NodeJS.Signals) => void): void => {
    interrupt = () => {
      handle("SIGTERM");
    };
  };
  const ended = run(["start", "--port", "auto", ...args], terminal, { now: Date.now, takeSignals });
  const stop = (): Promise<number> => {
    interrupt();
    return ended;
  };
  atEnd(stop);
  const printed = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (output.stdout.includes(text)) resolve();
      };
      onWrite(look);
      look();
      void ended.then(() => {
        reject(new Error(`idp ended before it printed "${text}": ${output.stdout}${output.stderr}`));
      }, reject);
    });
  const isJson = args.includes("--json");
  await printed(isJson ? '"event":"ready"' : "idp ready ").finally(takeBack);
  const issuer = (isJson ? /"issuer":"([^"]+)"/ : /idp ready (\S+) pid/).exec(output.stdout)?.[1] ?? "";
  return { issuer, output, printed, stop };
}

/** The single JSON document of a stream. */
export function documentOf(stream: string): unknown {
  expect(stream.endsWith("\n")).toBe(true);
  return JSON.parse(stream);
}

/** Every command by its words: "", "users", "users list", … Taken from the program, so that none is forgotten. */
export async function commandTree(): Promise<ReadonlyMap<string, Command>> {
  const { terminal } = pipes("");
  const { command: program, loadAll } = buildProgram({
    terminal,
    words: [],
    clock: { now: Date.now, takeSignals: () => undefined },
    errorHelp: () => undefined,
    finish: () => undefined,
  });
  await loadAll();
  const below = (command: Command, path: string): [string, Command][] => [
    [path, command],
    ...command.commands.flatMap((each) => below(each, `${path} ${each.name()}`.trim())),
  ];
  return new Map(below(program, ""));
}

/** Commands that do something themselves, not only through subcommands. */
export const leaves = async (): Promise<readonly string[]> =>
  [...(await commandTree())].flatMap(([path, { commands }]) => (commands.length === 0 ? [path] : []));
