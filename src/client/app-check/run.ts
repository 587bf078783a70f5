import type { App, Attempt, Known } from "./attempt.ts";
import type { Browser, Visit } from "./browser.ts";
import type { Case, CaseResult, Finding } from "./case.ts";
import { notReached, works } from "./case.ts";
import type { Control } from "./control.ts";
import { standingOf } from "./standing.ts";

/** Runs the cases. A case counts only where the app signs in before and after it: an app that is down notices everything. */

export interface Run {
  readonly app: App;
  readonly control: Control;
  readonly newBrowser: () => Promise<Browser>;
  /** Starts the app again: why it does not answer, or null. Null: it was not started by this command. */
  readonly restart: (() => Promise<string | null>) | null;
  readonly onResult: (result: CaseResult) => void;
  readonly now: () => number;
  readonly wait: (milliseconds: number) => Promise<unknown>;
  readonly random: (bytes: number) => string;
}

export interface RunResult {
  readonly passed: boolean;
  readonly cases: readonly CaseResult[];
}

const known = (): Known => ({ last: undefined, stranger: null, signIns: [], shown: "", samples: [], addresses: [] });

/** @param control the case that must succeed first, between and last */
export async function runCases(run: Run, control: Case, cases: readonly Case[]): Promise<RunResult> {
  const facts = known();
  const results: CaseResult[] = [];
  const add = (one: Case, finding: Finding): void => {
    const { name, mustNot, should, paragraph, fix } = one;
    const result = { name, ...finding, mustNot, should, paragraph: finding.paragraph ?? paragraph, fix };
    results.push(result);
    run.onResult(result);
  };
  const first = await tryCase(run, facts, control, null);
  add(control, first);
  let failure = first.verdict === "works" ? null : first.did;
  for (const one of cases) {
    if (failure !== null) {
      add(one, notReached(`not run: ${failure}`));
      continue;
    }
    const { finding, after } = await between(run, facts, one, control);
    add(one, after === null ? finding : notReached(`the app does not sign in any more after this case: ${after}`));
    failure = after;
  }
  if (cases.length > 0) add(control, failure === null ? works("signed in at the end too") : notReached(failure));
  return { passed: failure === null && !results.some(({ verdict }) => verdict === "unnoticed"), cases: results };
}

/** A case and the control after it. @returns after: why the control failed, or null */
async function between(
  run: Run,
  facts: Known,
  one: Case,
  control: Case,
): Promise<{ readonly finding: Finding; readonly after: string | null }> {
  const again = one.restarts === true ? run.restart : null;
  const finding = await tryCase(run, facts, one, again);
  await run.control.removeFaults();
  const startFailure = again === null ? null : await again();
  if (startFailure !== null) return { finding, after: startFailure };
  const after = await tryCase(run, facts, control, null);
  return { finding, after: after.verdict === "works" ? null : after.did };
}

/** @param again starts the app again, once the case has armed its fault */
async function tryCase(run: Run, facts: Known, one: Case, again: Run["restart"]): Promise<Finding> {
  const { app, control } = run;
  const begun = await markOf(control, facts);
  const browsers: Browser[] = [];
  let startFailure: string | null = null;
  const seen = (visit: Visit): Visit => {
    for (const { url, isApp } of visit.steps) if (isApp) facts.addresses.push(url);
    return visit;
  };
  const attempt: Attempt = {
    ...{ app, control, known: facts, now: run.now, wait: run.wait, random: run.random },
    canRestart: run.restart !== null,
    get startFailure() {
      return startFailure;
    },
    async newBrowser() {
      const browser = await run.newBrowser();
      browsers.push(browser);
      return browser;
    },
    signIn: async (browser, hold) => seen(await browser.signIn(app.start, hold)),
    standing: async (browser) => standingOf(seen(await browser.look(app.signedIn)), app, facts.stranger),
    async shown(browser) {
      const { end } = seen(await browser.look(app.signedIn));
      return end.kind === "page" ? end.text : "";
    },
    async arm(fault) {
      const id = await control.addFault(fault);
      if (again !== null) startFailure = await again();
      return id;
    },
    requests: (mark) => control.requests(mark ?? begun),
    mark: () => markOf(control, facts),
  };
  try {
    return await one.run(attempt);
  } finally {
    for (const browser of browsers) await browser.close();
  }
}

/** The id of the latest request to idp. The ledger may be long, so requests that were seen are not fetched again. */
async function markOf(control: Control, facts: Known): Promise<string | undefined> {
  facts.last = (await control.requests(facts.last)).at(-1)?.id ?? facts.last;
  return facts.last;
}
