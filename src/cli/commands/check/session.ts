import { constants } from "node:os";
import { OperationError } from "../../../core/errors.ts";
import { foreignCommand, ownWords, type TypedCommand } from "../../input/foreign-command.ts";
import type { Invocation } from "../../invocation.ts";
import type { Outcome } from "../../output/print.ts";
import { endWithShellOfNpm } from "../start/npm-shell.ts";
import { appProcess, waitForAnswer, type AppProcess, type Start, type StartCommand } from "./app-process.ts";
import { Opened } from "./opened.ts";
import { lastWords } from "./result.ts";
import type { Subject } from "./subject.ts";

/** A run of `idp check`: the command after `--`, its process, and the end of all that was opened. */

/** The command after `--`; null without one. @throws {OperationError} usage */
export function commandOf(typed: TypedCommand, { it }: Subject): StartCommand | null {
  const { command, stray } = foreignCommand(typed);
  const [program = "", ...args] = command;
  if (stray.length > 0 || (typed.words.includes("--") && program === "")) {
    const flags = ownWords(typed.words).filter((word) => !stray.includes(word));
    const meant = [program === "" ? stray : command, ["npm", "start"]].find((one) => one.length > 0) ?? [];
    throw new OperationError("usage", `the command that starts ${it} must follow --`, {
      hint: { text: "Put -- before it", command: ["idp", ...flags, "--", ...meant] },
    });
  }
  return program === "" ? null : [program, ...args];
}

/** Runs a check to its end, or to a signal. What it opened is closed either way. */
export async function runUntilSignal(
  cli: Invocation,
  check: (opened: Opened) => Promise<Outcome>,
): Promise<Outcome | number> {
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
    return await Promise.race([interrupted, check(opened)]);
  } finally {
    await opened.close();
  }
}

/**
 * Starts the app or API, and waits until it answers.
 * @param command null: it runs already
 * @throws {OperationError} no_server if it never answers
 */
export async function startOrWait(
  subject: Subject,
  command: StartCommand | null,
  env: NodeJS.ProcessEnv,
  start: Start,
  opened: Opened,
): Promise<AppProcess | null> {
  const app = command === null ? null : appProcess(subject, command, env, start);
  if (app !== null) await opened.add(() => app.stop());
  const failure = await (app === null ? waitForAnswer(subject, start, () => null) : app.start());
  if (failure === null) return app;
  const hint = lastWords(subject, app?.output() ?? []);
  if (hint !== null) throw new OperationError("no_server", failure, { hint });
  if ((app?.ended() ?? null) !== null) throw new OperationError("no_server", failure);
  throw new OperationError("no_server", failure, {
    hint: `Is this the address and port of ${subject.it}? To wait longer, add --timeout SECONDS`,
  });
}

/** Starts it again, unless the run has ended. @returns why it does not answer, or null; null where it was not started here */
export const restartOf = (app: AppProcess | null, opened: Opened): (() => Promise<string | null>) | null =>
  app === null
    ? null
    : async () => {
        await app.stop();
        return opened.isClosed ? "the check has ended" : app.start();
      };
