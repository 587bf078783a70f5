/*
 * check/frame: what every check needs; check/shared has what two of them do. Each check is a folder beside this one, with these files where it
 * needs them: check.ts declares it and runs it, place.ts has what its cases work on, control.ts what they may do at the issuer, attempt.ts what
 * each case gets, cases/ the cases, fixes.ts what to change.
 *
 * A check declares itself with `defineCheck`. session.ts runs it: it starts the app (process/app-process.ts) and closes what was opened (opened.ts).
 * run.ts is the loop over the cases, verdict.ts says what a case and its verdict are. result.ts and report.ts say what came out. host.ts is what a check needs of the command line.
 */
import type { LookupFunction } from "node:net";
import type { Hint } from "../../core/base/hint.ts";
import type { StartCommand } from "./process/app-process.ts";
import type { FlagRow, FlagsOf, RunFlags } from "./flags.ts";
import type { Host } from "./host.ts";
import type { Opened } from "./opened.ts";
import type { CheckRun, RunResult } from "./run.ts";
import type { Subject } from "./subject.ts";

/** What one check adds to its result. */
export interface Added {
  /** What lets the control work, where that is known. */
  readonly remedy?: Hint | null;
  /** Members of the document. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** The sentence that comes first. */
  readonly lead?: string | null;
}

/** What a check works with while it runs. */
export interface Session {
  readonly check: Subject;
  readonly host: Host;
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

/** What was typed is right: what is to be done. */
interface Plan {
  /** The addresses that are checked, by the flags that name them. */
  readonly addresses: Readonly<Record<string, string | undefined>>;
  /** How many cells the longest name of a case takes. Absent: as many as usual. */
  readonly maxName?: number;
  readonly run: (session: Session) => Promise<{ readonly result: RunResult } & Added>;
}

interface Declaration<Flags> extends Subject {
  readonly summary: string;
  readonly help: string;
  readonly examples: readonly string[];
  readonly flags: readonly FlagRow[];
  /** Every case but the controls: those that may be accepted. */
  readonly cases: readonly { readonly name: string }[];
  /** @param command that starts what is checked; null: it runs already @throws {OperationError} usage */
  readonly plan: (flags: Flags, host: Host, command: StartCommand | null) => Plan;
}

export type Check = Declaration<RunFlags>;

/** A check whose flags have the types of its rows. */
export const defineCheck = <Rows extends readonly FlagRow[]>(
  check: Declaration<FlagsOf<Rows>> & { readonly flags: Rows },
): Check => check as unknown as Check;
