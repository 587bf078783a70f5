import { setTimeout as delay } from "node:timers/promises";
import { control as controlCase } from "./cases/control.ts";
import { type App, appStanding } from "../frame/app.ts";
import type { AccountPlace } from "../frame/account/account-place.ts";
import { probeOf } from "../frame/account/probe.ts";
import type { Attempt, Known, Second, Somebody } from "./attempt.ts";
import type { Browser, Visit } from "../../client/app/visit.ts";
import type { Control } from "./control.ts";
import type { Case, Finding } from "../frame/verdict.ts";
import { runCases, type CheckRun, type RunResult, type Verdicts } from "../frame/run.ts";

/** Runs the cases of `idp check client`: each with its own browsers, and with the faults that it adds. */

interface AppRun extends CheckRun {
  readonly app: App;
  readonly control: Control;
  readonly newBrowser: (somebody: Somebody) => Promise<Browser>;
  /** How an account of the app is known; null: nobody said. */
  readonly account: AccountPlace | null;
  /** The other user whom the app admits; null: one is added. */
  readonly otherUser: string | null;
  readonly second: Second | null;
  /** Milliseconds that a browser may take to close. */
  readonly closeLimit: number;
}

/** Pages of an app that are looked at for secrets. */
const maxTexts = 200;

export async function checkApp(run: AppRun, cases: readonly Case<Attempt>[]): Promise<RunResult> {
  const { control, restart, second, account, random, leaves } = run;
  const issuers = [control.issuer, ...(second === null ? [] : [second.control.issuer])];
  const probe = account === null ? null : probeOf(account, { issuers, signedIn: run.app.signedIn, random, leaves });
  const known: Known = {
    ...{ last: undefined, stranger: null, shown: "" },
    ...{ signIns: [], samples: [], addresses: [], texts: new Set<string>() },
  };
  const browsers = browsersOf(run.closeLimit);
  return runCases(run, {
    ...{ control: controlCase, last: controlCase, cases },
    broken: "the app does not sign in any more",
    didLast: "signed in at the end too",
    attempt: (one, verdicts, over) => attemptCase({ ...run, probe }, known, one, verdicts, over, browsers),
    async tidy(one) {
      await browsers.closeAll();
      await control.removeFaults();
      await second?.control.removeFaults();
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
  run: AppRun & Pick<Attempt, "probe">,
  known: Known,
  one: Case<Attempt>,
  verdicts: Verdicts,
  over: AbortSignal,
  browsers: Browsers,
): Promise<Finding> {
  const { app, control, second } = run;
  // The app is started again once the case has added its fault.
  const again = one.restarts === true ? run.restart : null;
  const begun = await markOf(control, known);
  let startFailure: string | null = null;
  const seen = (visit: Visit): Visit => {
    for (const { url, isApp } of visit.steps) if (isApp) known.addresses.push(url);
    if (visit.end.kind === "page" && known.texts.size < maxTexts) known.texts.add(visit.end.text);
    return visit;
  };
  return one.run({
    ...{ app, control, known, verdicts, now: run.now, wait: run.wait, random: run.random },
    ...{ second, probe: run.probe, otherUser: run.otherUser, leaves: run.leaves },
    canRestart: run.restart !== null,
    get startFailure() {
      return startFailure;
    },
    async newBrowser(somebody = {}) {
      over.throwIfAborted();
      return browsers.add(await run.newBrowser(somebody));
    },
    signIn: async (browser, hold) => seen(await browser.signIn(app.start, hold)),
    standing: async (browser) => appStanding(seen(await browser.look(app.signedIn)), app, known.stranger),
    async shown(browser) {
      const { end } = seen(await browser.look(app.signedIn));
      return end.kind === "page" ? end.text : "";
    },
    async arm(fault, at) {
      over.throwIfAborted();
      const id = await (at === "second" && second !== null ? second.control : control).addFault(fault);
      if (again !== null) startFailure = await again();
      return id;
    },
    requests: (mark, at) =>
      at === "second" && second !== null ? second.control.requests() : control.requests(mark ?? begun),
    mark: () => markOf(control, known),
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
