import type { Browser } from "../../client/app/visit.ts";
import { browsersOf, markOf } from "../client/run.ts";
import type { AccountPlace } from "../frame/account/account-place.ts";
import { probeOf } from "../frame/account/probe.ts";
import { appStanding } from "../frame/app.ts";
import { isAtLoopback, listen, type Listener } from "../frame/listener.ts";
import type { Case, Finding } from "../frame/verdict.ts";
import { runCases, type CheckRun, type RunResult, type Verdicts } from "../frame/run.ts";
import type { App, Attempt, Known, Somebody } from "./attempt.ts";
import { control as controlCase, controlAttacker } from "./cases/control.ts";
import type { Second, SpControl } from "./control.ts";
import { shownBy } from "../frame/who.ts";

/** Runs the cases of `idp check sp`: each with its own browsers, and with the faults that it adds. */

interface SpRun extends CheckRun {
  readonly app: App;
  readonly control: SpControl;
  readonly newBrowser: (somebody: Somebody) => Promise<Browser>;
  /** How an account of the app is known; null: nobody said. */
  readonly account: AccountPlace | null;
  readonly second: Second | null;
  /** Milliseconds that a browser may take to close. */
  readonly closeLimit: number;
}

export async function checkSp(run: SpRun, cases: readonly Case<Attempt>[]): Promise<RunResult> {
  const { app, control, second, account, random, leaves } = run;
  const issuers = [control.issuer, ...(second === null ? [] : [second.issuer])];
  const probe = account === null ? null : probeOf(account, { issuers, signedIn: app.signedIn, random, leaves });
  const known: Known = {
    ...{ last: undefined, stranger: null, way: control.way, whoUnknown: null },
    ...{ unsolicited: null, strangeAcs: null, samples: [] },
  };
  const browsers = browsersOf(run.closeLimit);
  const listeners: Listener[] = [];
  /** The case has changed how responses are made. */
  let isChanged = false;

  async function attempt(one: Case<Attempt>, verdicts: Verdicts, over: AbortSignal): Promise<Finding> {
    const begun = await markOf(control, known);
    return one.run({
      ...{ app, control, known, verdicts, wait: run.wait, isAtLoopback: await isAtLoopback(app.start) },
      ...{ probe, second, leaves },
      async listen(bytes, type) {
        over.throwIfAborted();
        const listener = await listen(bytes, type);
        listeners.push(listener);
        return listener;
      },
      async newBrowser(somebody = {}) {
        over.throwIfAborted();
        return browsers.add(await run.newBrowser(somebody));
      },
      signIn: (browser, hold) => browser.signIn(app.start, hold),
      standing: async (browser) => appStanding(await browser.look(app.signedIn), app, known.stranger),
      who: async (browser) => shownBy(await browser.look(app.who), control.user, control.attacker),
      async arm(fault) {
        over.throwIfAborted();
        return control.addFault(fault);
      },
      async setWay(way) {
        over.throwIfAborted();
        isChanged = true;
        await control.setWay(way);
      },
      requests: (mark) => control.requests(mark ?? begun),
      mark: () => markOf(control, known),
    });
  }

  return runCases(run, {
    ...{ control: controlCase, alsoFirst: [controlAttacker], last: controlCase, cases, attempt },
    broken: "the app does not sign in any more",
    didLast: "signed in at the end too",
    async tidy() {
      await Promise.all(listeners.splice(0).map((one) => one.close()));
      await browsers.closeAll();
      await control.removeFaults();
      await control.restoreKeys();
      if (isChanged) await control.setWay(known.way);
      isChanged = false;
      return null;
    },
  });
}
