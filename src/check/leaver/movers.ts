import type { Browser } from "../../client/app/visit.ts";
import { Problem } from "../../client/check.ts";
import type { App } from "../frame/app.ts";
import { noticed, notReached, notRequired, unnoticed, works, type Finding } from "../frame/verdict.ts";
import { findingOf, type CheckRun } from "../frame/run.ts";
import { measure, sessionOf } from "./measure.ts";
import type { SignIns } from "./sign-ins.ts";
import type { LeaverControl } from "./control.ts";
import { lasting } from "./signals.ts";

/** Somebody who stays, and leaves a group: the rights of the group must go, and nothing else. */

export interface AdminPlace {
  /** Only members of the group may see it. */
  readonly url: string;
  readonly group: string;
}

interface MoverRun extends Pick<CheckRun, "now" | "wait"> {
  readonly app: App;
  readonly admin: AdminPlace | null;
  readonly control: LeaverControl;
  readonly isEnded: () => boolean;
}

/** A user of the group, who is signed in and has its rights. */
interface Member {
  readonly username: string;
  readonly browser: Browser;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

export class Movers {
  readonly #run: MoverRun;
  readonly #signIns: SignIns;
  /** Somebody who stays in the group. */
  #other: Member | null = null;

  constructor(run: MoverRun, signIns: SignIns) {
    this.#run = run;
    this.#signIns = signIns;
  }

  get #admin(): AdminPlace {
    const { admin } = this.#run;
    if (admin === null) throw new Problem("no --admin was given");
    return admin;
  }

  /** `--admin` as the app of a browser sees it. */
  #adminOf(browser: Browser) {
    const { url } = this.#admin;
    return sessionOf({ ...this.#run.app, signedIn: url, signedInText: null }, browser, null);
  }

  /** Whether `--admin` lets a browser in. */
  async #hasRights(browser: Browser): Promise<boolean> {
    return (await this.#adminOf(browser)()).standing === "in";
  }

  /** @throws {Problem} nobody got in */
  async #member(isAnother: boolean): Promise<Member> {
    const { control } = this.#run;
    const { group } = this.#admin;
    const username = await control.enterGroup(group, isAnother);
    const { browser, why } = await this.#signIns.signIn(username);
    if (why !== null) throw new Problem(`the user of the group did not sign in: ${why}`);
    if (await this.#hasRights(browser)) return { username, browser };
    throw new Problem(`--admin does not let a user in who has ${group} in the claim groups`);
  }

  async mover(): Promise<Finding> {
    try {
      return await this.#moved();
    } catch (error) {
      return findingOf(error);
    }
  }

  async #moved(): Promise<Finding> {
    const { control, app, isEnded } = this.#run;
    const { group } = this.#admin;
    this.#other = await this.#member(true).catch(() => null);
    const { username, browser } = await this.#member(false);
    const mark = await control.mark();
    // The request is sent before the time begins.
    const told = await control.leaveGroup(username, group);
    const [admin] = await measure([this.#adminOf(browser)], app.within, isEnded, this.#run);
    const { standing } = await sessionOf(app, browser, this.#signIns.stranger)();
    const refreshed = (await control.refreshes(mark)) > 0;
    if (admin?.ms != null) return this.#afterRefusal(username, admin.ms, standing === "in");
    if (admin?.isBroken === true) return notReached(`--admin is broken: it ${admin.last}`);
    const did = `still let in at --admin after ${lasting(app.within)}`;
    if (told || refreshed) return { ...unnoticed(did), lockedOutAfterMs: null };
    const next = await this.#nextSignIn(username);
    return {
      ...notRequired(`${did}: no SCIM request and no refresh told the app; ${next}`, "no standard asks for it"),
      lockedOutAfterMs: null,
    };
  }

  /** `--admin` refuses: the person must still be let in elsewhere, at once or after another sign-in. */
  async #afterRefusal(username: string, ms: number, isIn: boolean): Promise<Finding> {
    const did = `lost the rights after ${seconds(ms)}`;
    if (isIn) return { ...noticed(did), lockedOutAfterMs: ms };
    const { browser, why } = await this.#signIns.signIn(username);
    if (why !== null) {
      return {
        ...unnoticed(`${did}, and is not let in any more: ${why}`, { mustNot: "the person is locked out" }),
        lockedOutAfterMs: ms,
      };
    }
    return (await this.#hasRights(browser))
      ? {
          ...unnoticed(`signed out after ${seconds(ms)}, and has the rights again after another sign-in`),
          lockedOutAfterMs: null,
        }
      : { ...noticed(`${did}, and signed in again without them`), lockedOutAfterMs: ms };
  }

  async #nextSignIn(username: string): Promise<string> {
    const { browser, why } = await this.#signIns.signIn(username);
    if (why !== null) return `the next sign-in failed: ${why}`;
    return `after the next sign-in the rights are ${(await this.#hasRights(browser)) ? "still there" : "gone"}`;
  }

  async other(): Promise<Finding> {
    if (this.#other === null) return notReached("no other user of the group got in (see mover)");
    return (await this.#hasRights(this.#other.browser))
      ? works("kept the rights of another user of the group")
      : unnoticed("took the rights of another user of the group, too");
  }

  async renamed(): Promise<Finding> {
    try {
      const { control } = this.#run;
      const other = this.#other !== null && (await this.#hasRights(this.#other.browser)) ? this.#other : null;
      const { username, browser } = other ?? (await this.#member(true));
      const problem = await control.renameGroup(this.#admin.group, username);
      if (problem !== null) return notReached(`the group was not renamed: ${problem}`);
      if (await this.#hasRights(browser)) return works("kept the rights of the group under its new name");
      return notRequired("took the rights of the group under its new name", "no standard says how rights are given");
    } catch (error) {
      return findingOf(error);
    }
  }
}
