import { OAuthError, OperationError, RemoteError, type OperationErrorCode, type Problem } from "../core/base/errors.ts";
import { hintOf, type Hint } from "../core/base/hint.ts";
import { codeOf } from "../files/durable-file.ts";
import { ClockError, DataFileError, LockedError, StorageError, UnreachableError } from "../store/store.ts";
import { since } from "./output/words.ts";

/** How a command fails: what is printed, and its exit code. */
export interface Failure {
  /** A stable word: an {@link OperationErrorCode}, or an OAuth error code. */
  readonly code: string;
  readonly message: string;
  /** The next step. */
  readonly hint: Hint | null;
  /** A command that does what was meant, above the next step. */
  readonly example?: Hint | null;
  readonly problems: readonly Problem[];
  readonly exit: number;
}

/** The exit code of each error. */
const exits: Readonly<Record<OperationErrorCode | StorageError["code"] | "interrupted", number>> = {
  usage: 2,
  not_found: 3,
  conflict: 4,
  no_server: 5,
  // The data cannot be read or written now: a database is away, a disk is full.
  temporarily_unavailable: 5,
  refused: 6,
  forbidden: 6,
  invalid: 7,
  interrupted: 130,
};

/** The exit code of an error code; 1 for one that no operation uses. */
const exitOf = (code: string): number => (Object.hasOwn(exits, code) ? exits[code as keyof typeof exits] : 1);

/** The exit code if `idp exec` itself fails before its command runs, as with `env` and `timeout`: wrong flags too. */
export const execFailure = 125;

const failure = (
  code: string,
  message: string,
  hint: string | Hint | null,
  problems: readonly Problem[] = [],
): Failure => ({
  code,
  message,
  hint: hint === null ? null : hintOf(hint),
  problems,
  exit: exitOf(code),
});

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "");

/** Who holds the data, with the address if it is a running server, and what to do. */
function lockFailure({ code, holder, message, isRemote: elsewhere }: LockedError): Failure {
  const { url, pid, startedAt } = holder;
  const ago = Date.now() - Date.parse(startedAt);
  const started = ago >= 0 ? `started ${since(startedAt, Date.now())}` : `since ${startedAt}`;
  return url === null || elsewhere
    ? failure(code, message, null)
    : failure(code, `idp already runs on this data: ${url} (pid ${pid}, ${started})`, {
        text: "Start another one beside it with --data DIR --port auto. To stop this one",
        command: ["idp", "stop"],
      });
}

/** The hint for a file that could not be written; the message says what is wrong (`files/durable-file.ts`). */
export const fixAndRetry = "Fix that, then try again.";

/** The codes for a folder that this user may not write to, or nobody. */
const mayNotWrite: readonly string[] = ["EACCES", "EPERM", "EROFS"];

/** The hint for such a folder, as in a container without a volume. */
const inMemory = {
  text: "Nothing was changed. Allow it, or name another folder with --data DIR. For a server that keeps its data in memory",
  command: ["idp", "start", "--memory"],
};

/** The hint for a shared store that cannot be opened. */
const reachable = {
  text: "Check the address, and the password in IDP_STORE, PGPASSWORD or ~/.pgpass. For details",
  command: ["idp", "doctor"],
};

/** What an error means to the person at the terminal, without a stack trace. */
export function failureOf(error: unknown): Failure {
  if (error instanceof OperationError) return failure(error.code, error.summary, error.hint, error.problems);
  if (error instanceof RemoteError) {
    return failure(error.code, error.message, error.hint, error.problems);
  }
  if (error instanceof OAuthError) {
    return { ...failure(error.code, error.message, error.fix), exit: exits.refused };
  }
  if (error instanceof LockedError) return lockFailure(error);
  if (error instanceof DataFileError) return failure(error.code, error.message, error.hint);
  if (error instanceof UnreachableError) return failure(error.code, error.message, reachable);
  if (error instanceof ClockError) return failure(error.code, error.message, "Set the clock of this machine.");
  if (error instanceof StorageError) {
    if (error.away) return failure(error.code, error.message, "It may work again soon.");
    if (mayNotWrite.includes(codeOf(error.cause))) return failure(error.code, error.message, inMemory);
    return failure(error.code, error.message, error.partly ? fixAndRetry : `Nothing was changed. ${fixAndRetry}`);
  }
  // Ctrl+C in a prompt of inquirer, which is not loaded here.
  if (nameOf(error) === "ExitPromptError") return failure("interrupted", "interrupted", null);
  // The working folder is gone, and a relative path needs it.
  if (error instanceof Error && "syscall" in error && error.syscall === "uv_cwd") {
    return failure(
      "not_found",
      "the folder you are in was deleted",
      "Change to an existing folder (cd), then try again.",
    );
  }
  // A file of another user; the message names it.
  if (error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM"))
    return failure("invalid", error.message, fixAndRetry);
  const message = error instanceof Error ? error.message : String(error);
  return failure("unexpected", message, "This is a bug in idp. Add --verbose for details.");
}
