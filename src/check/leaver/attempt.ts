import { ending, whyNotBegun } from "../frame/app.ts";
import type { Browser } from "../../client/app/visit.ts";
import { without } from "../../text/redacted.ts";
import { claimsOf } from "../shared/tokens.ts";
import { Problem } from "../../client/check.ts";
import { noticed, notReached, unnoticed, works, type Finding } from "../frame/verdict.ts";
import { findingOf, type CheckRun } from "../frame/run.ts";
import { headersWith, keyFor, type CredentialPlace } from "./credential.ts";
import { apiOf, bearer, measure, sessionOf, type Measured } from "./measure.ts";
import { Movers, type AdminPlace } from "./movers.ts";
import { SignIns, type SignInRun } from "./sign-ins.ts";
import type { LeaverControl } from "./control.ts";
import type { Signal } from "./signals.ts";

/** The signals are measured all at once, beginning with the first case that asks for one; the cases then wait for theirs. */

/** What became of somebody who left by one signal. */
export interface Left {
  readonly sessions: readonly [Measured, Measured];
  /** Null: no API is checked, or it takes no token. */
  readonly api: Measured | null;
  /** Why the API says nothing; null: it takes good tokens. */
  readonly apiProblem: string | null;
  /** The key that the app gave; null: none is checked, or the API does not take it. */
  readonly credential: Measured | null;
  /** Why the key says nothing; null: the API takes it. */
  readonly credentialProblem: string | null;
  /** Whether the API asks idp about tokens. */
  readonly introspects: boolean;
  /** Whether the token has expired meanwhile. */
  readonly isExpired: boolean;
  /** Why the app did not take the signal; null: it did. */
  readonly problem: string | null;
  /** What became of another sign-in; null: none was tried. */
  readonly signIn: Finding | null;
  /** What became of the user who is back; null: nobody came back. */
  readonly restored: Finding | null;
}

export interface LeaverRun extends CheckRun, SignInRun {
  /** An address of the API; null: none is checked. */
  readonly api: string | null;
  /** How users get keys for the API; null: no keys are checked. */
  readonly credential: CredentialPlace | null;
  /** What only the members of a group may see; null: no groups are checked. */
  readonly admin: AdminPlace | null;
  /** Gets those whose keys stay in the app. */
  readonly onKey: (username: string) => void;
  readonly signals: readonly Signal[];
  /** Whether each signal has a user of its own, so that all run at the same time. */
  readonly isTogether: boolean;
  /** Whether `silence` is waited for as long as the others. */
  readonly isSilenceNamed: boolean;
  readonly control: LeaverControl;
  /** Gets the signals that still wait, now and then. */
  readonly onWait: (waiting: ReadonlySet<Signal>) => void;
  /** Whether the check was interrupted. */
  readonly isEnded: () => boolean;
}

/** Somebody who signed in twice, and is about to leave. */
interface Prepared {
  readonly username: string;
  readonly browsers: readonly [Browser, Browser];
  readonly token: string | null;
  /** What a request with the user's key has; a text says why there is none; null: no keys are checked. */
  readonly key: Readonly<Record<string, string>> | string | null;
  readonly scimId: string | null;
}

/** What a case works with. */
export class LeaverAttempt {
  readonly run: LeaverRun;
  readonly #signIns: SignIns;
  readonly #movers: Movers;
  readonly #waiting = new Set<Signal>();
  #lefts: ReadonlyMap<Signal, Promise<Left | Finding>> | null = null;
  /** Those that the app gave. */
  readonly #keys: string[] = [];
  /** Milliseconds that the signals took that are over. */
  #longest = 0;

  constructor(run: LeaverRun) {
    this.run = run;
    this.#signIns = new SignIns(run);
    this.#movers = new Movers(run, this.#signIns);
  }

  /** Milliseconds. */
  get within(): number {
    return this.run.app.within;
  }

  /** Why the app has no address for a signal; null: it has one. */
  missing(signal: Signal): string | null {
    return this.run.control.missing(signal);
  }

  /** The token of the app's SCIM server, the client's secret and the keys of users. */
  clean = (text: string): string => without([...this.run.control.secrets, ...this.#keys])(text);

  control(): Promise<Finding> {
    return this.#signIns.control();
  }

  async otherUser(): Promise<Finding> {
    // What the others did must be over.
    await Promise.all(this.#all().values());
    return this.#signIns.otherUser();
  }

  /** What became of the rights of somebody who left a group. */
  mover(): Promise<Finding> {
    return this.#movers.mover();
  }

  /** Whether another user of that group keeps them. */
  moverOther(): Promise<Finding> {
    return this.#movers.other();
  }

  /** Whether the group keeps them under another name. */
  moverRenamed(): Promise<Finding> {
    return this.#movers.renamed();
  }

  async close(): Promise<void> {
    await Promise.allSettled([...(this.#lefts?.values() ?? [])]);
    await this.#signIns.close();
  }

  /** Waits until a signal is over. @returns why it says nothing */
  left(signal: Signal): Promise<Left | Finding> {
    return this.#all().get(signal) ?? Promise.resolve(notReached(`--signal ${signal} was not chosen`));
  }

  #all(): ReadonlyMap<Signal, Promise<Left | Finding>> {
    if (this.#lefts !== null) return this.#lefts;
    const lefts = this.run.isTogether ? this.#together() : this.#inTurn();
    // Each is awaited by its cases, unless the run ends before them.
    for (const left of lefts.values()) left.catch(() => undefined);
    this.#lefts = lefts;
    return lefts;
  }

  #together(): ReadonlyMap<Signal, Promise<Left | Finding>> {
    const { signals } = this.run;
    const prepared = new Map(signals.map((signal) => [signal, settled(this.#prepare())]));
    // All leave at the same time, once nobody signs in any more.
    const introspects = Promise.all(prepared.values()).then((all) =>
      this.#introspects(all.flatMap((one) => ("token" in one ? (one.token ?? []) : []))[0]),
    );
    for (const signal of signals) this.#waiting.add(signal);
    return new Map(
      signals.map((signal) => [
        signal,
        settled(Promise.all([prepared.get(signal), introspects]).then(([one, how]) => this.#leave(signal, one, how))),
      ]),
    );
  }

  /** One user leaves by each signal, and comes back in between. */
  #inTurn(): ReadonlyMap<Signal, Promise<Left | Finding>> {
    const order = [...this.run.signals].sort((one, other) => Number(one === "silence") - Number(other === "silence"));
    let before: Promise<unknown> = Promise.resolve();
    const lefts = new Map<Signal, Promise<Left | Finding>>();
    for (const signal of order) {
      const left = before.then(async () => {
        const one = await settled(this.#prepare());
        const how = await this.#introspects("token" in one ? (one.token ?? undefined) : undefined);
        this.#waiting.add(signal);
        const found = await settled(this.#leave(signal, one, how));
        if ("username" in one) await this.run.control.undo(signal, one.username);
        return found;
      });
      lefts.set(signal, left);
      before = left.catch(() => undefined);
    }
    return lefts;
  }

  async #prepare(): Promise<Prepared> {
    const { control, api } = this.run;
    const username = await control.enter();
    const [first, second] = [await this.#signIns.signIn(username), await this.#signIns.signIn(username)];
    const why = first.why ?? second.why;
    if (why !== null) throw new Problem(`the user of this signal did not sign in: ${why}`);
    await control.signedIn(username);
    const token = api === null ? null : await control.token(username);
    const key = await this.#key(first.browser, username);
    return { username, token, key, browsers: [first.browser, second.browser], scimId: await control.scimId(username) };
  }

  /** Lets the app give the user a key. */
  async #key(browser: Browser, username: string): Promise<Prepared["key"]> {
    const { credential, app, api, onKey } = this.run;
    if (credential === null || api === null) return null;
    try {
      const key = await keyFor(browser, credential, app.signedIn);
      onKey(username);
      this.#keys.push(key);
      const headers = headersWith(credential, key);
      const { standing, last } = await apiOf(api, headers, app.lookup)();
      return standing === "in" ? headers : `the API does not let the key of --credential in: it ${last}`;
    } catch (error) {
      if (error instanceof Problem) return error.message;
      throw error;
    }
  }

  /** Whether the API asks idp about a token, and why it takes none. */
  async #introspects(token: string | undefined): Promise<Api> {
    const { api, app, control } = this.run;
    if (api === null || token === undefined) return { introspects: false, problem: null };
    const mark = await control.mark();
    const { standing, last } = await apiOf(api, bearer(token), app.lookup)();
    const problem = standing === "in" ? null : `the API does not let a good token in: it ${last}`;
    return { introspects: (await control.asked(mark)).length > 0, problem };
  }

  async #leave(signal: Signal, prepared: Prepared | Finding | undefined, api: Api): Promise<Left | Finding> {
    const done = <T>(found: T): T => {
      this.#waiting.delete(signal);
      return found;
    };
    if (prepared === undefined || "verdict" in prepared) return done(prepared ?? notReached("not begun"));
    const { app, control, api: url, now, onWait, isSilenceNamed, isTogether } = this.run;
    const { username, browsers, token, key } = prepared;
    const ofToken =
      url === null || token === null || api.problem !== null ? [] : [apiOf(url, bearer(token), app.lookup)];
    const ofKey = url === null || key === null || typeof key === "string" ? [] : [apiOf(url, key, app.lookup)];
    const ofSessions = browsers.map((browser) => sessionOf(app, browser, this.#signIns.stranger));
    const places = [...ofSessions, ...ofToken, ...ofKey];
    const began = now();
    const isOver = (): boolean => {
      onWait(this.#waiting);
      if (this.run.isEnded()) return true;
      if (signal !== "silence" || isSilenceNamed) return false;
      return isTogether ? [...this.#waiting].every((one) => one === "silence") : now() - began >= this.#longest;
    };
    const sent = settledText(control.send(signal, username));
    const [session, second, ...measured] = await measure(places, app.within, isOver, this.run);
    const ofApi = ofToken.length === 0 ? null : (measured[0] ?? null);
    const credential = ofKey.length === 0 ? null : (measured.at(-1) ?? null);
    this.#longest = Math.max(this.#longest, now() - began);
    done(null);
    return {
      ...{ sessions: [session, second] as [Measured, Measured], api: ofApi, apiProblem: api.problem },
      ...{ credential, credentialProblem: typeof key === "string" ? key : null },
      ...{ introspects: api.introspects, isExpired: token !== null && hasExpired(token, now()) },
      problem: await sent,
      signIn: signal === "scim" || signal === "all" ? await this.#signInAgain(signal, username) : null,
      restored: signal === "all" ? await this.#restored(prepared) : null,
    };
  }

  /** Whether somebody who left may come in again. */
  async #signInAgain(signal: Signal, username: string): Promise<Finding> {
    const { why, visit } = await this.#signIns.signIn(username);
    if (why === null) return unnoticed("signed the user in again");
    if (signal === "all" && visit.response === null) return noticed("did not get the user from idp, who is suspended");
    return whyNotBegun(visit) === null ? noticed(`refused the user: it ${ending(visit)}`) : notReached(why);
  }

  async #restored({ username, scimId }: Prepared): Promise<Finding> {
    const { control } = this.run;
    await control.undo("all", username);
    const { why } = await this.#signIns.signIn(username);
    if (why !== null) return unnoticed(`did not sign the user in who is back: ${why}`);
    const after = await control.scimId(username);
    return after === scimId
      ? works("signed the user in who is back")
      : unnoticed(`made another user of the one who is back: the SCIM id was ${scimId}, and is ${after}`);
  }
}

/** What an API does with tokens. */
interface Api {
  readonly introspects: boolean;
  /** Why it says nothing; null: it takes good tokens. */
  readonly problem: string | null;
}

const hasExpired = (token: string, now: number): boolean => Number(claimsOf(token)["exp"]) * 1000 <= now;

/** A problem becomes a finding. */
const settled = <T>(work: Promise<T>): Promise<T | Finding> => work.catch(findingOf);

const settledText = (work: Promise<string | null>): Promise<string | null> =>
  work.catch((error: unknown) => {
    if (error instanceof Problem) return error.message;
    throw error;
  });
