import type { LookupFunction } from "node:net";
import type { Browser, Visit } from "../../client/app/visit.ts";
import type { AccountPlace } from "../frame/account/account-place.ts";
import { probeOf } from "../frame/account/probe.ts";
import type { Fault } from "../frame/idp.ts";
import { isAtLoopback, openListeners } from "../frame/listener.ts";
import type { CheckRun, Verdicts } from "../frame/run.ts";
import { visitsOf } from "../frame/visits.ts";
import { shownBy, type Shown } from "../frame/who.ts";
import type { SpControl } from "./control.ts";
import type { Asked, Person, Way } from "./messages.ts";
import type { Second } from "./second.ts";

/** What a case works with: browsers, the app's addresses, faults, and the requests that idp received since it began. */

/** The app under test. */
export interface App {
  readonly start: string;
  readonly signedIn: string;
  /** Null: a status of 2xx says that somebody is signed in. */
  readonly signedInText: string | null;
  /** A page that shows who is signed in. */
  readonly who: string;
  /** The app must refuse a response that answers no request. */
  readonly noUnsolicited: boolean;
  /** Resolves its names, and refuses addresses that may not be reached. */
  readonly lookup: LookupFunction;
}

/** What the controls have shown: how this app behaves if all is well. */
interface Known {
  /** `--signed-in` as a browser sees it that never signed in. */
  stranger: Visit | null;
  /** How responses are made between the cases: the first way that the app takes. */
  way: Way;
  /** What `--who` shows does not tell the user and the attacker apart: why; null: it does. */
  whoUnknown: string | null;
  /** Whether the app takes a response that answers no request; null: nobody tried. */
  unsolicited: boolean | null;
  /** The address that the app asked for, although it was not registered; null: all were. */
  strangeAcs: string | null;
  /** Some requests of the app, to compare. */
  readonly samples: Asked[];
}

/** Who uses a browser. */
export interface Somebody {
  /** Absent: the user. */
  readonly person?: Pick<Person, "username">;
  /** The browser signs in at the app's other connection. */
  readonly at?: "second";
  /** Cancels at idp in place of signing in. */
  readonly cancels?: boolean;
}

interface SpRun extends CheckRun {
  readonly app: App;
  readonly control: SpControl;
  readonly newBrowser: (somebody: Somebody) => Promise<Browser>;
  /** How an account of the app is known; null: nobody said. */
  readonly account: AccountPlace | null;
  /** Null: the app has one connection. */
  readonly second: Second | null;
  /** Milliseconds that a browser may take to close. */
  readonly closeLimit: number;
}

export type Attempt = Awaited<ReturnType<ReturnType<typeof attemptsOf>["begin"]>>;

export function attemptsOf(run: SpRun) {
  const { app, control, second, account, random, leaves, wait } = run;
  const issuers = [control.issuer, ...(second === null ? [] : [second.issuer])];
  /** Null: it is not known what the app shows to one account alone. */
  const probe = account === null ? null : probeOf(account, { issuers, signedIn: app.signedIn, random, leaves });
  const known: Known = {
    ...{ stranger: null, way: control.way, whoUnknown: null },
    ...{ unsolicited: null, strangeAcs: null, samples: [] },
  };
  const visits = visitsOf<Somebody>(run, known);
  const listeners = openListeners();
  /** The case has changed how responses are made. */
  let isChanged = false;

  return {
    async begin(_one: unknown, verdicts: Verdicts, over: AbortSignal) {
      return {
        ...(await visits.begin(over)),
        ...{ app, control, known, verdicts, wait, probe, second, leaves },
        /** Whether the app can reach the listeners of a case. */
        isAtLoopback: await isAtLoopback(app.start),
        /** An address of this machine, until the case ends. */
        listen: (bytes: (url: string) => string, type: string) => listeners.listen(over, bytes, type),
        /** Who is signed in: asks `--who`. */
        who: async (browser: Browser): Promise<Shown> =>
          shownBy(await browser.look(app.who), control.user, control.attacker),
        /** @returns the id */
        async arm(fault: Fault): Promise<string> {
          over.throwIfAborted();
          return control.addFault(fault);
        },
        /** Changes how responses are made, until the case ends. */
        async setWay(way: Way): Promise<void> {
          over.throwIfAborted();
          isChanged = true;
          await control.setWay(way);
        },
      };
    },
    async tidy(): Promise<null> {
      await listeners.closeAll();
      await visits.closeAll();
      await control.removeFaults();
      await control.restoreKeys();
      if (isChanged) await control.setWay(known.way);
      isChanged = false;
      return null;
    },
  };
}
