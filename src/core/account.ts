import type { Client, Grant, User } from "../store/store.ts";
import { clientName } from "./clients.ts";
import type { Context } from "./context.ts";
import { revokeGrant } from "./grants.ts";
import { InteractionError, sameSecret, type Browser } from "./interactions.ts";
import { namedScopes, type NamedScope } from "./scope-display.ts";
import { hashOf, liveSession, type LiveSession } from "./sessions.ts";

/** The user's own page: connected apps, and taking their access away. */

interface ConnectedApp {
  readonly client: Client | null;
  readonly clientId: string;
  readonly name: string;
  readonly grant: Grant;
  readonly scopes: readonly NamedScope[];
}

export interface AccountPage {
  readonly user: User;
  readonly csrf: string;
  readonly apps: readonly ConnectedApp[];
}

/** A form of the account pages is bound to its session: it needs no record of its own. */
export const csrfOf = (live: LiveSession): string => hashOf(`account ${live.session.id}`);

/** @returns null where nobody is signed in */
export const showAccount = (ctx: Context, browser: Browser): Promise<AccountPage | null> =>
  ctx.store.read((tx) => {
    const live = liveSession(tx, browser.session);
    if (live === null) return null;
    const apps = tx
      .findAll("grants", "user", live.user.id)
      .filter((grant) => grant.status === "active")
      .map((grant) => {
        const client = tx.get("clients", grant.clientId) ?? null;
        return {
          client,
          clientId: grant.clientId,
          name: client === null ? grant.clientId : clientName(client),
          grant,
          scopes: namedScopes(tx, grant.scopes),
        };
      });
    return { user: live.user, csrf: csrfOf(live), apps };
  });

/**
 * Takes away the access of one app.
 * @returns the name of the app, and whether there was anything to take away; null where nobody is signed in
 * @throws {InteractionError} csrf
 */
export const removeApp = (
  ctx: Context,
  browser: Browser,
  form: { readonly csrf: string; readonly clientId: string },
): Promise<{ readonly name: string; readonly removed: boolean; readonly username: string } | null> =>
  ctx.store.transaction((tx) => {
    const live = liveSession(tx, browser.session);
    if (live === null) return null;
    if (!sameSecret(form.csrf, csrfOf(live))) throw new InteractionError("csrf");
    const client = tx.get("clients", form.clientId);
    const grant = tx.find("grants", "userAndClient", `${live.user.id} ${form.clientId}`);
    const removed = grant?.status === "active";
    if (removed) revokeGrant(tx, ctx, grant);
    return { name: client === undefined ? form.clientId : clientName(client), removed, username: live.user.username };
  });

/** Ends this browser's session. @throws {InteractionError} csrf */
export const signOut = (ctx: Context, browser: Browser, csrf: string): Promise<void> =>
  ctx.store.transaction((tx) => {
    const live = liveSession(tx, browser.session);
    if (live === null) return;
    if (!sameSecret(csrf, csrfOf(live))) throw new InteractionError("csrf");
    tx.remove("sessions", live.session.id);
  });
