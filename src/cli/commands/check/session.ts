import type { LookupFunction } from "node:net";
import { constants } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import type { CheckRun, RunResult } from "../../../check/frame/run.ts";
import { OperationError } from "../../../core/errors.ts";
import { randomText } from "../../../serve/random.ts";
import { isWebUrl } from "../../flags/flag-values.ts";
import { foreignCommand, ownWords, type TypedCommand } from "../../input/foreign-command.ts";
import type { Invocation } from "../../invocation.ts";
import { say, type Outcome } from "../../output/print.ts";
import { endWithShellOfNpm } from "../start/parent-process.ts";
import { acceptedOf } from "./accepted.ts";
import { appProcess, waitForAnswer, type AppProcess, type Start, type StartCommand } from "./app-process.ts";
import { checkAddresses, checkReport, nearLookup, type CommonFlags } from "./flags.ts";
import { Opened } from "./opened.ts";
import { writeReport } from "./report.ts";
import { caseLine, isFailedControl, lastWords, outcomeOf, type AddedToOutcome } from "./result.ts";
import type { Subject } from "./subject.ts";

/** The frame of every check: the command after `--`, its process, the run, its outcome, and the end of all that was opened. */

/** The command after `--`; null without one. @throws {OperationError} usage */
export function commandOf(typed: TypedCommand, { it, takesUrl }: Subject): StartCommand | null {
  const { command, stray } = foreignCommand(typed);
  const [program = "", ...args] = command;
  if (stray.length > 0 || (typed.words.includes("--") && program === "")) {
    const own = ownWords(typed.words);
    const flags = own.filter((word) => !stray.includes(word));
    const hasUrl = own.some((word) => word === "--url" || word.startsWith("--url="));
    const url = takesUrl === true && !hasUrl ? stray.find(isWebUrl) : undefined;
    if (url !== undefined) {
      const rest = program === "" ? stray.filter((word) => word !== url) : command;
      const more = rest.length === 0 ? [] : ["--", ...rest];
      throw new OperationError("usage", `${url} is an address: name it with --url`, {
        hint: { text: "Type", command: ["idp", ...flags, "--url", url, ...more] },
      });
    }
    const example = [program === "" ? stray : command, ["npm", "start"]].find((one) => one.length > 0) ?? [];
    throw new OperationError("usage", `the command that starts ${it} must follow --`, {
      hint: { text: "Put -- before it", command: ["idp", ...flags, "--", ...example] },
    });
  }
  return program === "" ? null : [program, ...args];
}

/** A check that was typed, once it is valid. */
interface Typed {
  readonly subject: Subject;
  /** The command that starts the app or API; null: it runs already. */
  readonly command: StartCommand | null;
  readonly flags: CommonFlags;
  /** The addresses that are checked, by the flags that name them. */
  readonly addresses: Readonly<Record<string, string | undefined>>;
  /** How many cells the longest name of a case takes. Absent: as many as usual. */
  readonly maxName?: number;
}

/** What a command of `idp check` works with while its check runs. */
export interface Session {
  readonly opened: Opened;
  readonly command: StartCommand | null;
  /** Resolves names, and refuses addresses that may not be reached. */
  readonly lookup: LookupFunction;
  /**
   * Starts the app or API with this environment, or waits for the one that runs.
   * @param what is said of the check: "as client demo-app of http://localhost:9000", or nothing
   * @throws {OperationError} no_server if it never answers
   */
  readonly start: (env: NodeJS.ProcessEnv, address: string, what: string) => Promise<CheckRun>;
}

/** Milliseconds that a case may take, beside what it has to wait for. */
const caseLimit = 60_000;

/**
 * The frame of every check: what was typed, its run, the report and the outcome.
 * @param check runs the cases, and may add to the outcome
 * @throws {OperationError} usage, invalid
 */
export async function runCheck(
  cli: Invocation,
  { subject, command, flags, addresses, maxName }: Typed,
  check: (session: Session) => Promise<{ readonly result: RunResult } & AddedToOutcome>,
): Promise<Outcome | number> {
  checkReport(flags);
  await checkAddresses(addresses, flags.allowRemote);
  const accepted = await acceptedOf(flags.accept ?? [], subject.name);
  const lookup = nearLookup(flags.allowRemote);
  const until = cli.now() + flags.totalTimeout * 1000;
  return runUntilSignal(cli, async (opened) => {
    const running: { app: AppProcess | null } = { app: null };
    const { result, ...added } = await check({
      ...{ opened, command, lookup },
      async start(env, address, what) {
        const timeout = Math.min(flags.timeout, flags.totalTimeout);
        const app = await startOrWait(subject, command, env, { address, timeout, lookup }, opened);
        running.app = app;
        let hasHeading = false;
        if (!cli.json) say(cli, `Checking ${address} ${what}`.trimEnd());
        return {
          ...{ accepted, wait, now: cli.now, random: randomText, caseLimit, until },
          ...{ restart: restartOf(app, opened), startLimit: flags.timeout * 1000 },
          leaves: (key, what) => {
            opened.leaves(key, what);
          },
          onResult: (one) => {
            if (cli.json || opened.isClosed) return;
            const isOfAccount = one.name.startsWith("account.");
            if (isOfAccount && !hasHeading) cli.stdout.write("Is it the right account?\n");
            hasHeading ||= isOfAccount;
            const indent = isOfAccount ? "  " : "";
            const line = caseLine(one, cli.out, { width: cli.width - indent.length, maxName });
            cli.stdout.write(`${line.replaceAll(/^/gm, indent)}\n`);
          },
        };
      },
    });
    const { app } = running;
    if (result.cases.some(isFailedControl)) await app?.settle();
    if (flags.report !== undefined) await writeReport(flags.report, subject, result);
    const left = opened.left();
    return outcomeOf(cli, subject, result, app, {
      ...added,
      notes: [...(added.notes ?? []), ...(left === null ? [] : [left])],
    });
  });
}

/** Runs a check to its end, or to a signal. What it opened is closed either way. */
async function runUntilSignal(cli: Invocation, check: (opened: Opened) => Promise<Outcome>): Promise<Outcome | number> {
  let interrupt: (exit: number) => void = () => undefined;
  const interrupted = new Promise<number>((resolve) => {
    interrupt = resolve;
  });
  cli.takeSignals((signal) => {
    interrupt(128 + constants.signals[signal]);
  });
  endWithShellOfNpm(cli, () => {
    interrupt(128 + constants.signals.SIGTERM);
  });
  const opened = new Opened();
  try {
    const ended = await Promise.race([interrupted, check(opened)]);
    const left = typeof ended === "number" ? opened.left() : null;
    if (left !== null) say(cli, left);
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
  subject: Subject,
  command: StartCommand | null,
  env: NodeJS.ProcessEnv,
  start: Start,
  opened: Opened,
): Promise<AppProcess | null> {
  const app = command === null ? null : appProcess(subject, command, env, start);
  if (app !== null) await opened.add(() => app.stop());
  const failure = await (app === null ? waitForAnswer(subject, start, () => null, false) : app.start());
  if (failure === null) return app;
  const hint = lastWords(subject, app?.output() ?? []);
  if (hint !== null) throw new OperationError("no_server", failure, { hint });
  if ((app?.ended() ?? null) !== null) throw new OperationError("no_server", failure);
  throw new OperationError("no_server", failure, {
    hint: `Is this the address and port of ${subject.it}? To wait longer, add --timeout SECONDS`,
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
