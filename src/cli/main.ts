import { keepCompiled } from "./compiled.ts";
import { escapeLine } from "./escape.ts";
import type { Invocation, Terminal } from "./invocation.ts";
import { run } from "./run.ts";

/** The command line as a process: its streams, its signals, and the only exit. */

// A variable that is empty is one that nobody set.
for (const [name, value] of Object.entries(process.env)) {
  if (value === "" && name.startsWith("IDP_")) Reflect.deleteProperty(process.env, name);
}

const { stdout, stderr, env } = process;
const terminal: Terminal = {
  get stdin() {
    return process.stdin;
  },
  stdout,
  stderr,
  env,
};

let onSignal: ((signal: NodeJS.Signals) => void) | null = null;
const clock: Pick<Invocation, "now" | "takeSignals"> = {
  now: Date.now,
  takeSignals: (handle) => {
    onSignal = handle;
  },
};

/** Ends the process once both streams have handed on what was written, and what was compiled for it is kept. */
async function leave(exit: number): Promise<never> {
  for (const stream of [stdout, stderr]) {
    await new Promise((resolve) => stream.write("", resolve));
  }
  await keepCompiled();
  process.exit(exit);
}

// A reader that has seen enough (`| head`) is no error.
for (const stream of [stdout, stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
}
for (const [signal, exit] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const) {
  process.on(signal, () => (onSignal === null ? process.exit(exit) : onSignal(signal)));
}
// Nothing is left to wait for, and the command has not ended: Ctrl+D closed the input of a question.
process.on("beforeExit", () => process.exit(130));
process.on("uncaughtException", (error) => {
  stderr.write(`Error: ${escapeLine(error.message)}\n`);
  process.exit(1);
});

void run(process.argv.slice(2), terminal, clock).then(leave);
