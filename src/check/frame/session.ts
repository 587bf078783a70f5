import { setTimeout as wait } from "node:timers/promises";
import { OperationError } from "../../core/base/errors.ts";
import { randomText } from "../../serve/random.ts";
import { acceptedOf } from "./accepted.ts";
import {
  appProcess,
  lastWords,
  waitForAnswer,
  type AppProcess,
  type Start,
  type StartCommand,
} from "./process/app-process.ts";
import type { Added, Check } from "./check.ts";
import type { RunFlags } from "./flags.ts";
import type { Host } from "./host.ts";
import { checkAddresses, nearLookup } from "./near.ts";
import { Opened } from "./opened.ts";
import { checkReport, reportOf } from "./report.ts";
import { isFailedControl, type RunResult } from "./run.ts";
import type { Subject } from "./subject.ts";

/** The frame of every check: the process that is checked, the run, its outcome, and the end of all that was opened. */

/** What a check found. */
export interface Checked extends Added {
  readonly result: RunResult;
  /** What the app or API printed last. Empty: nothing, or it was not started here. */
  readonly output: readonly string[];
  /** How it ended by itself; null: it runs, or was not started here. */
  readonly ended: string | null;
  /** What stays in the app. */
  readonly notes: readonly string[];
}

/** Milliseconds that a case may take, beside what it has to wait for. */
const caseLimit = 60_000;

/**
 * Runs a check: what was typed, its cases, and the report.
 * @param command that starts the app or API; null: it runs already
 * @param checks all of them, whose cases idp.check.yaml may accept
 * @returns the exit code where a signal ended it
 * @throws {OperationError} usage, invalid
 */
export async function runCheck(
  host: Host,
  check: Check,
  flags: RunFlags,
  command: StartCommand | null,
  checks: readonly Check[],
): Promise<Checked | number> {
  const { addresses, maxName, run } = check.plan(flags, host, command);
  checkReport(flags);
  await checkAddresses(addresses, flags.allowRemote);
  const accepted = await acceptedOf(host, flags.accept ?? [], check, checks);
  const lookup = nearLookup(flags.allowRemote);
  const until = host.now() + flags.totalTimeout * 1000;
  let shown = "";
  const progress = host.screen.progress(() => shown);
  return runUntilSignal(host, progress, async (opened) => {
    const running: { app: AppProcess | null } = { app: null };
    const { result, ...added } = await run({
      ...{ check, host, opened, command, lookup },
      async start(env, address, what) {
        const timeout = Math.min(flags.timeout, flags.totalTimeout);
        const app = await startOrWait(host, check, command, env, { address, timeout, lookup }, opened);
        running.app = app;
        host.screen.begin(`Checking ${address} ${what}`.trimEnd());
        return {
          ...{ accepted, wait, now: host.now, random: randomText, caseLimit, until },
          ...{ restart: restartOf(app, opened), startLimit: flags.timeout * 1000 },
          leaves: (key, what, inReport = what) => {
            opened.leaves(key, what, inReport);
          },
          progress: (what, done, total) => {
            shown = what;
            if (!opened.isClosed) progress.update(done, total);
          },
          onResult: (one) => {
            progress.end();
            if (!opened.isClosed) host.screen.result(one, maxName);
          },
        };
      },
    });
    const { app } = running;
    if (result.cases.some(isFailedControl)) await app?.settle();
    const { report } = flags;
    if (report !== undefined) await host.write("--report", report, reportOf(report, check, result));
    const left = opened.leftInReport();
    return {
      ...{ ...added, result, output: app?.output() ?? [], ended: app?.ended() ?? null },
      ...{ notes: opened.left(), fields: { ...(left.length > 0 && { left }), ...added.fields } },
    };
  });
}

/** Runs a check to its end, or to a signal. What it opened is closed either way. */
async function runUntilSignal<T>(
  host: Host,
  progress: { readonly end: () => void },
  check: (opened: Opened) => Promise<T>,
): Promise<T | number> {
  const interrupted = new Promise<number>((resolve) => {
    host.onSignal(resolve);
  });
  const opened = new Opened();
  try {
    const ended = await Promise.race([interrupted, check(opened)]);
    // Ctrl+C leaves no half of a bar on the terminal.
    progress.end();
    if (typeof ended === "number") {
      const known = opened.left();
      for (const one of known) host.screen.say(one);
      await opened.close();
      for (const one of opened.left().filter((line) => !known.includes(line))) host.screen.say(one);
    }
    return ended;
  } finally {
    await opened.close();
  }
}

/**
 * Starts the app or API, and waits until it answers.
 * @param command null: it runs already
 * @throws {OperationError} no_server if it never answers
 */
async function startOrWait(
  host: Host,
  subject: Subject,
  command: StartCommand | null,
  env: NodeJS.ProcessEnv,
  start: Start,
  opened: Opened,
): Promise<AppProcess | null> {
  const app = command === null ? null : appProcess(host, subject, command, env, start);
  if (app !== null) await opened.add(() => app.stop());
  const failure = await (app === null ? waitForAnswer(subject, start, () => null, false) : app.start());
  if (failure === null) return app;
  const hint = lastWords(subject, app?.output() ?? []);
  if (hint !== null) throw new OperationError("no_server", failure, { hint });
  const hasEnded = (app?.ended() ?? null) !== null;
  throw new OperationError("no_server", failure, {
    hint: hasEnded
      ? "The command after -- has to run until the check stops it"
      : `Is this the address and port of ${subject.it}? To wait longer, add --timeout SECONDS`,
  });
}

/** Starts it again, unless the run has ended. @returns why it does not answer, or null; null where it was not started here */
const restartOf = (app: AppProcess | null, opened: Opened): (() => Promise<string | null>) | null =>
  app === null
    ? null
    : async () => {
        await app.stop();
        return opened.isClosed ? "the check has ended" : app.start();
      };
