import { spawn, type ChildProcess } from "node:child_process";
import type { LookupFunction } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { Problem } from "../../../client/check.ts";
import { send } from "../../../client/http.ts";
import { escapeLine } from "../../../text/terminal.ts";
import type { Subject } from "../subject.ts";
import type { Host } from "../host.ts";

/** The app or API under test as a process. It runs without a shell in its own process group, which is always ended. */

/** A program and its arguments. */
export type StartCommand = readonly [program: string, ...args: string[]];

/** Where the app or API answers, and the seconds that it may take to start. */
export interface Start {
  readonly address: string;
  readonly timeout: number;
  /** Resolves names. Absent: as the system does. */
  readonly lookup?: LookupFunction;
}

export type AppProcess = ReturnType<typeof appProcess>;

/** How many milliseconds the app has to end after SIGTERM: one that ends what it started itself takes a while. */
const timeoutMs = 5000;
const pause = 25;
/** Milliseconds until the end of a process is known. */
const settling = 200;
/** How many lines of its output are kept. */
const maxLines = 20;
/** And how many characters of each: an app may write without end, and never end a line. */
const maxLine = 2000;

/** Answers of a proxy whose app is not up yet. */
const notYet = [502, 503, 504];

/** How many milliseconds a program may take to find its port taken. */
const takenMs = 3000;

const ask = ({ address, lookup }: Start): Promise<{ readonly status: number }> =>
  send({ method: "GET", url: address, headers: { accept: "text/html" }, ...(lookup !== undefined && { lookup }) });

/** Whether something answers there before the app is started. */
const isTaken = (start: Start): Promise<boolean> =>
  Promise.race([ask(start).then(({ status }) => !notYet.includes(status)), delay(takenMs, true, { ref: false })]).catch(
    () => false,
  );

/**
 * Waits until something answers.
 * @param ended says why nothing will, or null
 * @param starts a proxy that starts with the app answers 404 until it knows the app's addresses: for half of the time that is no answer yet
 * @returns why nothing did, or null
 */
export async function waitForAnswer(
  { it }: Subject,
  start: Start,
  ended: () => string | null,
  starts: boolean,
): Promise<string | null> {
  const { address, timeout } = start;
  const until = Date.now() + timeout * 1000;
  const unroutedUntil = starts ? Date.now() + timeout * 500 : 0;
  let last: string;
  do {
    const why = ended();
    if (why !== null) return why;
    try {
      const { status } = await Promise.race([
        ask(start),
        delay(Math.max(0, until - Date.now()), null, { ref: false }).then(() => {
          throw new Problem(`${address} sent no response`);
        }),
      ]);
      if (!notYet.includes(status) && !(status === 404 && Date.now() < unroutedUntil)) return null;
      last = `it answers ${status}`;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      last = error.message;
    }
    await delay(pause);
  } while (Date.now() < until);
  return `${it} did not answer at ${address} within ${timeout} s: ${last}`;
}

/** Ends a process group, if anything is left of it. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
    return true;
  } catch {
    return false;
  }
}

export function appProcess(
  { notRun }: Pick<Host, "notRun">,
  subject: Subject,
  [program, ...args]: StartCommand,
  env: NodeJS.ProcessEnv,
  start: Start,
) {
  let child: ChildProcess | null = null;
  let ended: string | null = null;
  let lines: readonly string[] = [];

  const howEnded = (): string | null => ended;

  const collect = (chunk: string): void => {
    const [unfinished = "", ...more] = chunk.split("\n");
    const all = [...lines.slice(0, -1), `${lines.at(-1) ?? ""}${unfinished}`, ...more];
    lines = all.slice(-maxLines).map((line) => line.slice(0, maxLine));
  };
  // Whatever ends this process also ends the app.
  process.on("exit", () => {
    if (child !== null) signalGroup(child, "SIGKILL");
  });

  /** Ends the app and whatever it started. */
  async function stop(): Promise<void> {
    const running = child;
    child = null;
    if (running === null) return;
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      signalGroup(running, signal);
      for (let waited = 0; waited < timeoutMs && signalGroup(running, 0); waited += pause) await delay(pause);
    }
  }

  return {
    /** Starts it, and waits until it answers. @returns why it does not, or null */
    async start(): Promise<string | null> {
      const taken = await isTaken(start);
      const started = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env, detached: true });
      child = started;
      ended = null;
      lines = [];
      started.stdout.setEncoding("utf8").on("data", collect);
      started.stderr.setEncoding("utf8").on("data", collect);
      const failed = new Promise<never>((_resolve, reject) => {
        started.on("error", (error) => {
          reject(notRun(program, error));
        });
      });
      started.on("exit", (code, signal) => {
        ended = `${subject.it} ended ${signal === null ? `with exit code ${code}` : `by ${signal}`}`;
      });
      const why = await Promise.race([failed, waitForAnswer(subject, start, howEnded, true)]);
      if (why !== null || !taken) return why;
      // What was there may be a proxy before the app; or else the app finds its port taken, and ends.
      for (let waited = 0; waited < takenMs && howEnded() === null; waited += pause) await delay(pause);
      const end = howEnded();
      return end === null ? null : `${end}, and something else answers at ${start.address}: end it first`;
    },
    stop,
    /** Waits a moment for the end of a process that no longer answers. */
    async settle(): Promise<void> {
      for (let waited = 0; waited < settling && ended === null; waited += pause) await delay(pause);
    },
    /** How it ended by itself: "the app ended with exit code 1"; null: it runs. */
    ended: howEnded,
    /** The last lines that it printed. */
    output: (): readonly string[] => lines.map(escapeLine).filter((line) => line.trim() !== ""),
  };
}

/** The last lines of the app, which may say why it failed; null: it printed nothing. */
export const lastWords = ({ it }: Subject, output: readonly string[]): string | null =>
  output.length === 0
    ? null
    : [`${it.charAt(0).toUpperCase()}${it.slice(1)} printed last:`, ...output.map((line) => `  ${line}`)].join("\n");
