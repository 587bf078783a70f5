import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";
import { wordsWithoutPassword } from "../store/postgres/address.ts";
import { escapeLine } from "./output/escape.ts";
import type { Invocation, Terminal } from "./invocation.ts";
import { printFailure } from "./output/print.ts";
import { ownWords } from "./input/foreign-command.ts";
import { run } from "./run.ts";
import { styleOf } from "./output/style.ts";

/** The command line as a process: its streams, its signals and its exit. */

// An empty variable counts as not set.
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

const words = process.argv.slice(2);
const shown = wordsWithoutPassword(words);
// Other users of this machine can list the arguments of a process.
if (shown.some((word, at) => word !== words[at])) process.title = ["idp", ...shown].join(" ");

// A reader may stop reading (`| head`). That is not an error: the rest is dropped, and the command goes on.
let isOutputClosed = false;
let fault: Error | null = null;
stdout.on("error", (error: NodeJS.ErrnoException) => {
  // The stream is closed after the first error, which causes others.
  if (isOutputClosed) return;
  isOutputClosed = true;
  if (error.code === "EPIPE") return;
  fault = error;
  // A server goes on without its log, and says so.
  if (onSignal !== null) void reportFault(error);
});
// An error of stderr cannot be reported.
stderr.on("error", () => undefined);

async function reportFault(error: Error): Promise<void> {
  const { describeFault } = await import("../files/durable-file.ts");
  const message = `standard output cannot be written: ${describeFault(error)}`;
  const cli = {
    json: ownWords(words).includes("--json"),
    stderr,
    err: styleOf(stderr, "auto", env),
    target: [],
    env,
  };
  printFailure(cli, { code: "unexpected", message, hint: null, problems: [], exit: 1 }, null);
}

/** How long to wait for a reader that does not read, after a command that runs until a signal, in milliseconds. */
const timeoutMs = 1000;

const flush = (stream: NodeJS.WriteStream): Promise<unknown> =>
  new Promise((resolve) => {
    stream.write("", resolve);
  });

/** Ends the process once both streams have been written. */
async function leave(given: number): Promise<never> {
  const flushed = Promise.all([stdout, stderr].map(flush));
  const endsBySignal = onSignal !== null;
  if (endsBySignal) {
    onSignal = () => process.exit(given);
    await Promise.race([flushed, delay(timeoutMs)]);
  } else {
    await flushed;
  }
  // An error of the last write is reported one turn later.
  await turn();
  // A command that failed has said why, and keeps its exit code.
  if (fault !== null && given === 0 && !endsBySignal) {
    await reportFault(fault);
    await flush(stderr);
  }
  process.exit(fault !== null && given === 0 ? 1 : given);
}

for (const [signal, exit] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const) {
  process.on(signal, () => (onSignal === null ? process.exit(exit) : onSignal(signal)));
}
// Nothing is left to wait for, but the command has not ended: Ctrl+D closed the input of a question.
process.on("beforeExit", () => process.exit(130));
process.on("uncaughtException", (error) => {
  stderr.write(`Error: ${escapeLine(error.message)}\n`);
  process.exit(1);
});

void run(words, terminal, clock).then(leave);
