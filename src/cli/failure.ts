import { OAuthError, OperationError, type OperationErrorCode, type Problem } from "../core/errors.ts";
import { hintText } from "../core/hint.ts";
import { DataFileError, LockedError, StorageError } from "../store/store.ts";
import { quoteWord } from "../shell-word.ts";
import { defaultData } from "./invocation.ts";
import { since } from "./output/words.ts";

/** How a command ends when it does not end well: what main prints and exits with. */
export interface Failure {
  /** A stable word: an {@link OperationErrorCode}, or an OAuth error code. */
  readonly code: string;
  readonly message: string;
  /** The next step. */
  readonly hint: string | null;
  readonly problems: readonly Problem[];
  readonly exit: number;
}

/** CONTRACT 6. */
const exits: Readonly<Record<OperationErrorCode | "interrupted", number>> = {
  usage: 2,
  not_found: 3,
  conflict: 4,
  no_server: 5,
  refused: 6,
  invalid: 7,
  interrupted: 130,
};

/** The exit code of an error code; one that no operation gives on purpose is unexpected. */
const exitOf = (code: string): number => (Object.hasOwn(exits, code) ? exits[code as keyof typeof exits] : 1);

/** A refusal that a running server gave: the same that the operation gives on a folder. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  readonly code: string;
  readonly hint: string | null;
  readonly problems: readonly Problem[];
  constructor(code: string, message: string, hint: string | null, problems: readonly Problem[]) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.problems = problems;
  }
}

const failure = (code: string, message: string, hint: string | null, problems: readonly Problem[] = []): Failure => ({
  code,
  message,
  hint,
  problems,
  exit: exitOf(code),
});

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "");

/** Who has the data, and what can be done: for a running server its address. */
function lockFailure({ code, holder, message, elsewhere }: LockedError, data: string | undefined): Failure {
  const { url, pid, startedAt } = holder;
  const ago = Date.now() - Date.parse(startedAt);
  const started = ago >= 0 ? `started ${since(startedAt, Date.now())}` : `since ${startedAt}`;
  // In the words of whoever typed this: the same --data, or the same lack of it.
  const stop = data === undefined ? "idp stop" : `idp stop --data ${quoteWord(data)}`;
  const beside = `idp start --data ${quoteWord(`${data ?? defaultData}-2`)} --port auto`;
  return url === null || elsewhere
    ? failure(code, message, null)
    : failure(
        code,
        `idp already runs on this data: ${url} (pid ${pid}, ${started})`,
        `Stop it, or start another one beside it:\n${stop}\n${beside}`,
      );
}

/** Where a file could not be written: the message tells what of it can be mended, and how (`store/json/fault.ts`). */
export const putRight = "Put that right, then try again.";

/**
 * What an error means to the person at the terminal. Nothing of it is a stack trace.
 * @param data `--data` as it was given
 */
export function failureOf(error: unknown, data?: string): Failure {
  if (error instanceof OperationError)
    return failure(error.code, error.summary, error.hint && hintText(error.hint), error.problems);
  if (error instanceof RemoteError) {
    return failure(error.code, error.message, error.hint, error.problems);
  }
  if (error instanceof OAuthError) {
    return { ...failure(error.code, error.message, error.fix && hintText(error.fix)), exit: exits.refused };
  }
  if (error instanceof LockedError) return lockFailure(error, data);
  if (error instanceof DataFileError) return failure(error.code, error.message, error.hint);
  if (error instanceof StorageError) {
    return failure(error.code, error.message, error.partly ? putRight : `Nothing was changed. ${putRight}`);
  }
  // Of inquirer, which is not loaded here: Ctrl+C in a prompt.
  if (nameOf(error) === "ExitPromptError") return failure("interrupted", "interrupted", null);
  // Whatever asks for a relative path asks where it is.
  if (error instanceof Error && "syscall" in error && error.syscall === "uv_cwd") {
    return failure("not_found", "the folder you are in was deleted", "Go to one that is there (cd), then try again.");
  }
  // A file of another user's: it says which.
  if (error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM"))
    return failure("invalid", error.message, putRight);
  const message = error instanceof Error ? error.message : String(error);
  return failure("unexpected", message, "This is a defect of idp. --verbose tells more.");
}
