import type { Passkey, ReadTx, User } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { requireUserForm, csrfOf } from "../sign-in/user-form.ts";
import { liveSession, type LiveSession } from "../sessions/sessions.ts";
import type { Browser } from "../sign-in/interactions.ts";
import { factorsOf } from "../step-up/acr.ts";
import { enoughFor } from "../sign-in/needs.ts";
import { challengeOf, creationOptions, parseAnswer, readNewPasskey } from "./passkey.ts";
import { worksAt } from "../step-up/relying-party.ts";

/** The passkeys of a user on their own page. Who has a factor has to prove one before changing them. */

/** What the account page shows of factors. */
export interface OwnFactors {
  readonly factors: readonly ("otp" | "passkey")[];
  readonly passkeys: readonly Pick<Passkey, "id" | "createdAt">[];
  /** The user has to prove a factor in this session first. */
  readonly locked: boolean;
  /** What the browser's script asks for; null: locked, or passkeys do not work at this address. */
  readonly options: object | null;
  readonly insecure: boolean;
}

/** Passkeys of a user; more than anybody has. */
const maxPasskeys = 20;

/** It changes with every change of the passkeys, so that an answer registers one passkey once. */
const challengeFor = (csrf: string, { passkeys = [] }: User): string =>
  challengeOf("new", csrf, ...passkeys.map(({ id }) => id));

const isLocked = (ctx: Context, live: LiveSession): boolean => enoughFor(ctx, "factor", live) !== "enough";

/** @returns null if nobody is signed in */
export async function showOwnFactors(ctx: Context, browser: Browser): Promise<OwnFactors | null> {
  const found = await ctx.store.read((tx) => {
    const live = liveSession(tx, browser.session);
    return live && { live, csrf: csrfOf(browser, live), locked: isLocked(ctx, live) };
  });
  if (found === null) return null;
  const { live, csrf, locked } = found;
  const { user } = live;
  const works = worksAt(ctx.address);
  return {
    factors: factorsOf(user),
    passkeys: (user.passkeys ?? []).map(({ id, createdAt }) => ({ id, createdAt })),
    locked,
    options: locked || !works ? null : await creationOptions(ctx, user, challengeFor(csrf, user)),
    insecure: !works,
  };
}

/** `factor`: another factor has to be proved first. Null: nobody is signed in. */
export type PasskeyChange = "done" | "refused" | "factor" | null;

/** @throws {InteractionError | OtherUserError} */
function deciding(tx: ReadTx, browser: Browser, csrf: string): LiveSession | null {
  const live = liveSession(tx, browser.session);
  if (live !== null) requireUserForm(csrf, csrfOf(browser, live), live.user.username);
  return live;
}

/**
 * Adds the passkey that the browser made.
 * @throws {InteractionError | OtherUserError}
 */
export async function addPasskey(
  ctx: Context,
  browser: Browser,
  form: { readonly csrf: string; readonly passkey: string },
): Promise<PasskeyChange> {
  const before = await ctx.store.read((tx) => deciding(tx, browser, form.csrf));
  if (before === null) return null;
  const challenge = challengeFor(form.csrf, before.user);
  const passkey = await readNewPasskey(ctx, parseAnswer(form.passkey), challenge);
  return ctx.store.transaction((tx): PasskeyChange => {
    const live = deciding(tx, browser, form.csrf);
    if (live === null) return null;
    if (isLocked(ctx, live)) return "factor";
    const { user } = live;
    const { passkeys = [] } = user;
    if (passkey === null || challengeFor(form.csrf, user) !== challenge) return "refused";
    if (passkeys.length >= maxPasskeys || passkeys.some(({ id }) => id === passkey.id)) return "refused";
    tx.put("users", { ...user, passkeys: [...passkeys, passkey], updatedAt: passkey.createdAt });
    return "done";
  });
}

/**
 * Removes a passkey. One that is gone already counts as removed.
 * @throws {InteractionError | OtherUserError}
 */
export const removePasskey = (
  ctx: Context,
  browser: Browser,
  form: { readonly csrf: string; readonly id: string },
): Promise<PasskeyChange> =>
  ctx.store.transaction((tx): PasskeyChange => {
    const live = deciding(tx, browser, form.csrf);
    if (live === null) return null;
    if (isLocked(ctx, live)) return "factor";
    const { passkeys = [], ...user } = live.user;
    const left = passkeys.filter(({ id }) => id !== form.id);
    if (left.length === passkeys.length) return "done";
    const updatedAt = new Date(ctx.now()).toISOString();
    tx.put("users", { ...user, ...(left.length > 0 && { passkeys: left }), updatedAt });
    return "done";
  });
