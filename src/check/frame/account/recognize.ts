import type { Browser, Visit } from "../../../client/app/visit.ts";
import { refusal, whyNotSignedIn, type SignsIn } from "../app.ts";
import { noticed, notReached, unnoticed, type Finding } from "../verdict.ts";
import type { Probe, Recognized } from "./probe.ts";

/** Whether the account of a user can be recognized, and whether somebody else is at it. */

export interface AccountCheck extends SignsIn {
  /** Null: it is not known what the app shows to one account alone. */
  readonly probe: Probe | null;
  /** Notes what stays in the app. @param key what it replaces */
  readonly leaves: (key: string, what: string, inReport?: string) => void;
}

/** The other user of the control. */
interface Other {
  readonly username: string;
  readonly browser: Browser;
  /** The check has added this user. */
  readonly isNew: boolean;
}

/** How the account of a user is recognized, as the controls have shown it. */
export interface Recognition extends Probe {
  /** Why a refusal says little: the app refused the other user of the control, too. Null: it let that user in. */
  readonly remark: string | null;
}

/**
 * The controls: the user sees the account again in a second browser, and another user does not.
 * @param user username
 * @param claims what the app got of the user, none of which is an id that the app gave
 * @returns a text where they fail: why
 */
export async function recognizes(
  attempt: AccountCheck,
  user: string,
  claims: (visit: Visit) => Promise<readonly unknown[]>,
  newOther: () => Promise<Other>,
): Promise<Recognition | string> {
  const { probe } = attempt;
  if (probe === null) {
    return "it is not known what the app shows to one account alone: add --mark URL, a page with a form that keeps a text of the user, or --account URL with --account-id";
  }
  const first = await attempt.newBrowser();
  const visit = await attempt.signIn(first);
  const whyNot = whyNotSignedIn(visit, await attempt.standing(first));
  if (whyNot !== null) return whyNot;
  const seen = await claims(visit);
  const account = await probe.take(first, user);
  if (typeof account === "string") return account;
  if (seen.includes(account.value))
    return "--account: the id is a claim of the user, not one that the app gave: name another one, or use --mark";
  const second = await attempt.newBrowser();
  await attempt.signIn(second);
  if (!(await probe.isSame(second, account))) {
    return `a second browser of ${user} is not shown ${account.what}, so it is not kept with the account`;
  }
  const other = await newOther();
  const otherVisit = await attempt.signIn(other.browser);
  const isIn = (await attempt.standing(other.browser)) === "in";
  if (other.isNew && isIn) leave(attempt, other.username);
  if (await probe.isSame(other.browser, account)) {
    return `another user, ${other.username}, is shown ${account.what}, too: name an address that shows it to one user alone`;
  }
  if (isIn) return { ...probe, remark: null };
  const hint = other.isNew ? ": name one whom it admits with --attacker" : "";
  return { ...probe, remark: `the app refuses ${other.username}, too (${refusal(otherVisit)})${hint}` };
}

/** Says that the app keeps the account of somebody whom the check added. */
export const leave = ({ leaves }: Pick<AccountCheck, "leaves">, username: string): void => {
  leaves(username, `the account of ${username}`);
};

/** Recognizes the user's account as it is now. @returns a finding where that is not possible */
export async function accountOf(attempt: AccountCheck, probe: Probe, user: string): Promise<Recognized | Finding> {
  const browser = await attempt.newBrowser();
  const why = whyNotSignedIn(await attempt.signIn(browser), await attempt.standing(browser));
  if (why !== null) return notReached(why);
  const found = await probe.take(browser, user);
  return typeof found === "string" ? notReached(found) : found;
}

/** Somebody who must not be at the account. */
interface Intruder {
  readonly username: string;
  /** In words that follow "showed". */
  readonly who: string;
}

/** What the app did with somebody else, who must not be at this account. */
export async function judgeIntruder(
  attempt: AccountCheck,
  probe: Recognition,
  wanted: Recognized,
  { browser, visit }: { readonly browser: Browser; readonly visit: Visit },
  { username, who }: Intruder,
): Promise<Finding> {
  const standing = await attempt.standing(browser);
  if (await probe.isSame(browser, wanted)) return unnoticed(`showed ${who} ${wanted.what}`);
  if (standing === "in") {
    leave(attempt, username);
    return noticed("signed in to another account");
  }
  const remark = probe.remark === null ? "" : `; ${probe.remark}`;
  return noticed(`${refusal(visit)}: refused ${who}${remark}`);
}
