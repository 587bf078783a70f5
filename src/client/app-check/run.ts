import { setTimeout as delay } from "node:timers/promises";
import { control as controlCase } from "./cases/control.ts";
import type { App, Attempt, Known } from "./attempt.ts";
import type { Browser, Visit } from "./browser.ts";
import type { Control } from "./control.ts";
import { appStanding } from "./standing.ts";
import { Problem } from "../check.ts";
import { notReached, type Case, type CaseResult, type Finding } from "../verdicts/case.ts";
import { runCases, type RunResult, type Verdicts } from "../verdicts/run.ts";

/** Runs the cases of `idp check client`: each with its own browsers, and with the faults that it adds. */

export interface AppRun {
  readonly app: App;
  readonly control: Control;
  readonly newBrowser: () => Promise<Browser>;
  /** Starts the app again: why it does not answer, or null. Null: it was not started by this command. */
  readonly restart: (() => Promise<string | null>) | null;
  /** Why a case may go unnoticed, by its name. */
  readonly accepted: ReadonlyMap<string, string>;
  readonly onResult: (result: CaseResult) => void;
  readonly now: () => number;
  readonly wait: (milliseconds: number) => Promise<unknown>;
  readonly random: (bytes: number) => string;
  /** Milliseconds that the app may take to start. */
  readonly startLimit: number;
  /** Milliseconds that a case may take, beside what it has to wait for. */
  readonly caseLimit: number;
  /** Milliseconds that a browser may take to close. */
  readonly closeLimit: number;
}

export async function checkApp(run: AppRun, cases: readonly Case<Attempt>[]): Promise<RunResult> {
  const { control, restart } = run;
  const known: Known = {
    ...{ last: undefined, stranger: null, shown: "" },
    ...{ signIns: [], samples: [], addresses: [] },
  };
  const browsers = browsersOf(run.closeLimit);
  return runCases({
    ...{ control: controlCase, last: controlCase, cases, accepted: run.accepted, onResult: run.onResult },
    broken: "the app does not sign in any more",
    didLast: "signed in at the end too",
    limit: ({ restarts, waits = 0 }) => run.caseLimit + waits + (restarts === true ? run.startLimit : 0),
    attempt: (one, verdicts, over) => attemptCase(run, known, one, verdicts, over, browsers),
    async tidy(one) {
      await browsers.closeAll();
      await control.removeFaults();
      return one.restarts === true && restart !== null ? restart() : null;
    },
  });
}

/** The browsers of a case. */
interface Browsers {
  add(browser: Browser): Browser;
  closeAll(): Promise<void>;
}

/** @param closeLimit milliseconds that one may take to close */
export function browsersOf(closeLimit: number): Browsers {
  let open: Browser[] = [];
  return {
    add(browser) {
      open.push(browser);
      return browser;
    },
    async closeAll() {
      const left = open;
      open = [];
      for (const browser of left) {
        const late = delay(closeLimit, null, { ref: false });
        await Promise.race([browser.close().catch(() => undefined), late]);
      }
    },
  };
}

/** @param browsers gets those that the case opens */
async function attemptCase(
  run: AppRun,
  known: Known,
  one: Case<Attempt>,
  verdicts: Verdicts,
  over: AbortSignal,
  browsers: Browsers,
): Promise<Finding> {
  const { app, control } = run;
  // The app is started again once the case has added its fault.
  const again = one.restarts === true ? run.restart : null;
  const begun = await markOf(control, known);
  let startFailure: string | null = null;
  const seen = (visit: Visit): Visit => {
    for (const { url, isApp } of visit.steps) if (isApp) known.addresses.push(url);
    return visit;
  };
  const tried = one.run({
    ...{ app, control, known, verdicts, now: run.now, wait: run.wait, random: run.random },
    canRestart: run.restart !== null,
    get startFailure() {
      return startFailure;
    },
    async newBrowser() {
      over.throwIfAborted();
      return browsers.add(await run.newBrowser());
    },
    signIn: async (browser, hold) => seen(await browser.signIn(app.start, hold)),
    standing: async (browser) => appStanding(seen(await browser.look(app.signedIn)), app, known.stranger),
    async shown(browser) {
      const { end } = seen(await browser.look(app.signedIn));
      return end.kind === "page" ? end.text : "";
    },
    async arm(fault) {
      over.throwIfAborted();
      const id = await control.addFault(fault);
      if (again !== null) startFailure = await again();
      return id;
    },
    requests: (mark) => control.requests(mark ?? begun),
    mark: () => markOf(control, known),
  });
  return tried.catch((error: unknown) => {
    if (error instanceof Problem) return notReached(error.message);
    throw error;
  });
}

/** The id of the latest request to idp. The ledger may be long, so requests that were seen are not fetched again. */
export async function markOf(
  control: Pick<Control, "requests">,
  known: Pick<Known, "last">,
): Promise<string | undefined> {
  known.last = (await control.requests(known.last)).at(-1)?.id ?? known.last;
  return known.last;
}
