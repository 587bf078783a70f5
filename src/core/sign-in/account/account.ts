/*
 * core/sign-in/account: the user's own page, with connected apps and how to remove them, sessions, language and theme.
 */
import type { Grant, User } from "../../../store/store.ts";
import { notifyClients } from "../sessions/backchannel.ts";
import { clientName, type ClientName } from "../../records/clients/clients.ts";
import type { Context } from "../../context.ts";
import { findGrant } from "../grants/grants.ts";
import { revokeGrant } from "../grants/revoke.ts";
import type { Browser } from "../interactions.ts";
import { csrfOf, requireUserForm } from "../user-form.ts";
import { namedScopes, ownValues, type NamedScope, type ReleasedValue } from "../consent/consent.ts";
import { endSessions, liveSession, sessionOf } from "../sessions/sessions.ts";

export interface ConnectedApp {
  readonly clientId: string;
  readonly name: ClientName;
  readonly grant: Grant;
  readonly scopes: readonly NamedScope[];
  /** ISO 8601; null: the app never requested a token. */
  readonly lastUsed: string | null;
}

export interface AccountPage {
  readonly user: User;
  readonly csrf: string;
  /** Everything that apps may receive. */
  readonly values: readonly ReleasedValue[];
  readonly apps: readonly ConnectedApp[];
  /** This browser's first, then the newest. */
  readonly sessions: readonly {
    readonly sid: string;
    /** ISO 8601. */
    readonly since: string;
    readonly current: boolean;
    /** False: the user was picked. */
    readonly byPassword: boolean;
    /** "Firefox, Linux"; null: unknown. */
    readonly browser: string | null;
  }[];
}

/** @returns null if nobody is signed in */
export const showAccount = (ctx: Context, browser: Browser): Promise<AccountPage | null> =>
  ctx.store.read((tx) => {
    const live = liveSession(tx, browser.session);
    if (live === null) return null;
    const apps = tx
      .findAll("grants", "user", live.user.id)
      .filter((grant) => grant.status === "active")
      .map((grant) => {
        const client = tx.get("clients", grant.clientId);
        return {
          clientId: grant.clientId,
          name: clientName(client ?? { client_id: grant.clientId }),
          grant,
          scopes: namedScopes(tx, grant.scopes),
          lastUsed: grant.lastUsedAt ?? null,
        };
      });
    const sessions = tx
      .findAll("sessions", "user", live.user.id)
      .map(({ id, sid, authTime, amr, browser: program = null }) => ({
        sid,
        since: new Date(authTime * 1000).toISOString(),
        current: id === live.session.id,
        byPassword: amr.includes("pwd"),
        browser: program,
      }))
      .sort((one, other) => Number(other.current) - Number(one.current) || other.since.localeCompare(one.since));
    return { user: live.user, csrf: csrfOf(browser, live), values: ownValues(ctx, live.user), apps, sessions };
  });

/**
 * Removes the access of one app.
 * @returns whether the app had access, and the user; null if nobody is signed in
 * @throws {InteractionError | OtherUserError}
 */
export const removeApp = (
  ctx: Context,
  browser: Browser,
  form: { readonly csrf: string; readonly clientId: string },
): Promise<{ readonly removed: boolean; readonly username: string } | null> =>
  ctx.store.transaction((tx) => {
    const live = liveSession(tx, browser.session);
    if (live === null) return null;
    requireUserForm(form.csrf, csrfOf(browser, live), live.user.username);
    const grant = findGrant(tx, live.user.id, form.clientId);
    const removed = grant?.status === "active";
    if (removed) revokeGrant(tx, ctx, grant, "user");
    return { removed, username: live.user.username };
  });

/** Which sessions of a user: this browser's, all of them, or one by its `sid`. */
type SessionChoice = "this" | "all" | { readonly sid: string };

/**
 * Ends sessions of the user who is signed in; their clients are notified.
 * @returns how many sessions ended; null if nobody is signed in
 * @throws {InteractionError | OtherUserError}
 */
export async function signOut(
  ctx: Context,
  browser: Browser,
  form: { readonly csrf: string; readonly which: SessionChoice },
): Promise<number | null> {
  const { csrf, which } = form;
  const ended = await ctx.store.transaction((tx) => {
    // Also if the user was suspended since the page was shown: the session would be valid again after a restore.
    const current = sessionOf(tx, browser.session);
    if (current === undefined) return null;
    const user = tx.get("users", current.userId);
    requireUserForm(csrf, csrfOf(browser, { session: current }), user?.username ?? "");
    const own = which === "this" ? [current] : tx.everything("sessions", "user", current.userId);
    const sessions = typeof which === "object" ? own.filter(({ sid }) => sid === which.sid) : own;
    return endSessions(tx, sessions);
  });
  if (ended === null) return null;
  await notifyClients(ctx, ended);
  return ended.length;
}

/**
 * Stores how the user wants to see pages; apps receive it from UserInfo.
 * @returns whether anybody is signed in
 * @throws {InteractionError | OtherUserError}
 */
export const savePreferences = (
  ctx: Context,
  browser: Browser,
  form: { readonly csrf: string } & Pick<User, "language" | "theme">,
): Promise<boolean> =>
  ctx.store.transaction((tx) => {
    const live = liveSession(tx, browser.session);
    if (live === null) return false;
    requireUserForm(form.csrf, csrfOf(browser, live), live.user.username);
    const { language, theme } = form;
    const { user } = live;
    if (user.language !== language || user.theme !== theme) {
      tx.put("users", { ...user, language, theme, updatedAt: new Date(ctx.now()).toISOString() });
    }
    return true;
  });
