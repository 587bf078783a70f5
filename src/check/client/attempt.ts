import type { Browser, Visit } from "../../client/app/visit.ts";
import type { AccountPlace } from "../frame/account/account-place.ts";
import { probeOf } from "../frame/account/probe.ts";
import type { Recognition } from "../frame/account/recognize.ts";
import type { App } from "../frame/app.ts";
import type { Fault, Recorded } from "../frame/idp.ts";
import type { CheckRun, Verdicts } from "../frame/run.ts";
import { notReached, type Case, type Finding } from "../frame/verdict.ts";
import { visitsOf } from "../frame/visits.ts";
import type { Control } from "./control.ts";

/** What a case works with: browsers, the app's addresses, the faults, and the requests that idp received since it began. */

/** A parameter as it was sent, or the fingerprint of a pushed one. */
export interface Value {
  readonly text: string;
  readonly isFingerprint: boolean;
}

/** The parameters of an authorization request. */
export type Asked = ReadonlyMap<string, Value>;

/** What the controls have shown: how this app behaves if all is well. */
interface Known {
  /** `--signed-in` as a browser sees it that never signed in. */
  stranger: Visit | null;
  /** Complete sign-ins. */
  readonly signIns: Visit[];
  /** What `--signed-in` showed to the user at first. */
  shown: string;
  /** Some authorization requests, to compare. */
  readonly samples: Asked[];
  /** Every address of the app that a browser opened. */
  readonly addresses: URL[];
  /** Absent: nobody tried. A text: why no account can be recognized. */
  recognizing?: Recognizing | string;
  /** How the app refreshes: whether it reads the ID token, and the seconds that an access token has to live. A text: it does not. */
  refreshing?: { readonly reads: boolean; readonly life: number | null } | string;
  /** What its pages showed. */
  readonly texts: Set<string>;
}

export type Claims = Readonly<Record<string, unknown>>;

/** How an account is recognized, once that was seen to work. */
export interface Recognizing {
  readonly probe: Recognition;
  /** The user's claims, as the app got them in the ID token and from UserInfo. */
  readonly seen: { readonly token: Claims; readonly userinfo: Claims };
}

/** Another connection of the app, to another issuer. */
interface Second {
  readonly start: string;
  readonly control: Control;
}

/** Who uses a browser, and at which of the app's connections. */
export interface Somebody {
  /** Absent: the user. */
  readonly username?: string;
  readonly at?: "second";
}

interface ClientRun extends CheckRun {
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

export type Attempt = Awaited<ReturnType<ReturnType<typeof attemptsOf>["begin"]>>;

export function attemptsOf(run: ClientRun) {
  const { app, control, second, otherUser, account, restart, now, wait, random, leaves } = run;
  const issuers = [control.issuer, ...(second === null ? [] : [second.control.issuer])];
  /** Null: it is not known what the app shows to one account alone. */
  const probe = account === null ? null : probeOf(account, { issuers, signedIn: app.signedIn, random, leaves });
  const known: Known = {
    ...{ stranger: null, shown: "" },
    ...{ signIns: [], samples: [], addresses: [], texts: new Set<string>() },
  };
  const visits = visitsOf<Somebody>(run, known, ({ steps, end }) => {
    for (const { url, isApp } of steps) if (isApp) known.addresses.push(url);
    if (end.kind === "page" && known.texts.size < maxTexts) known.texts.add(end.text);
  });

  return {
    async begin(one: Pick<Case<never>, "restarts">, verdicts: Verdicts, over: AbortSignal) {
      const visit = await visits.begin(over);
      const at = (which?: "second"): Control => (which === "second" && second !== null ? second.control : control);
      let startFailure: string | null = null;
      return {
        ...{ ...visit, app, control, known, verdicts, now, wait, random, leaves, second, probe, otherUser },
        /** The app can be started again. */
        canRestart: restart !== null,
        /** Why the app does not answer since it was started again for this case; null: it does, or was not started again. */
        get startFailure(): string | null {
          return startFailure;
        },
        /** Adds a fault for the app's client, and starts the app again where the case needs that. @returns the id */
        async arm(fault: Fault, which?: "second"): Promise<string> {
          over.throwIfAborted();
          const id = await at(which).addFault(fault);
          if (one.restarts === true && restart !== null) startFailure = await restart();
          return id;
        },
        /** The requests that idp received since the case began, or since a mark; all of the other connection. */
        requests: (since?: string, which?: "second"): Promise<readonly Recorded[]> =>
          which === "second" && second !== null ? second.control.requests() : visit.requests(since),
      };
    },
    async tidy(one: Pick<Case<never>, "restarts">): Promise<string | null> {
      await visits.closeAll();
      await control.removeFaults();
      await second?.control.removeFaults();
      return one.restarts === true && restart !== null ? restart() : null;
    },
  };
}

/** What an issuer with the endpoints of GitHub does not have, so that no app can be asked about it. Null: this one has it. */
export const withoutOpenId = ({ control }: Pick<Attempt, "control">): Finding | null =>
  new URL(control.issuer).pathname.endsWith("/login/oauth")
    ? notReached("GitHub is OAuth 2.0 without OpenID Connect: there is no ID token, no key and no discovery")
    : null;
