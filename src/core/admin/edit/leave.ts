import type { Client, Tx, User } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { deliver, type Delivered, type Message } from "../../base/deliver.ts";
import { sign, signerOf, tokenTypes } from "../../records/keys/signer.ts";
import { tellsApps } from "../../scim/live-changes.ts";
import { isLive, provisioned, recordOf, wantedNow } from "../../scim/wanted.ts";
import { emailOf } from "../../records/scopes/claims.ts";
import { pushUserWithGroups } from "../../scim/push-one.ts";
import { tellClients, type EndedSessions } from "../../sign-in/sessions/backchannel.ts";
import { endSessionsOf } from "../../sign-in/sessions/sessions.ts";
import { redacted } from "../../../text/redacted.ts";
import { seconds } from "../../../text/time.ts";
import { requireUser } from "../../records/users/users.ts";
import { restore, suspend, type StatusChange } from "./users.ts";

/** What an identity provider does when somebody leaves: it suspends the user and tells every app, in each way that the app has. */

/** How an app is told. */
type LeaveSignal = "backchannel-logout" | "scim" | "global-token-revocation";

interface SentSignal {
  /** The client_id. */
  readonly client: string;
  readonly signal: LeaveSignal;
  /** Null: nobody answered. */
  readonly status: number | null;
  /** Milliseconds. */
  readonly ms: number;
  /** Why it failed; null: it did not. */
  readonly error: string | null;
}

/** Who left, and whom that concerns. */
interface Leaver {
  readonly user: User;
  readonly ended: EndedSessions;
  readonly apps: readonly Client[];
}

/**
 * Suspends a user, ends the sessions and tokens, and sends each app back-channel logout, SCIM `active: false` and Global Token Revocation, in
 * this order. No app waits for another. The user stays suspended, and the other signals are sent, when one fails.
 * @param progress called with how many apps were told, and of how many
 * @throws {OperationError} not_found; conflict for a banned user
 */
export async function leaveUser(
  ctx: Context,
  input: { readonly username: string },
  progress: (done: number, total: number) => void = () => undefined,
) {
  const leaver = await ctx.store.transaction((tx): Leaver => {
    const { username } = suspend(tx, ctx, input.username);
    const user = requireUser(tx, username);
    tellsApps(tx, user.id);
    endTokensOf(tx, ctx, user.id);
    const ended = endSessionsOf(tx, user.id);
    const notified = new Set(ended.flatMap(({ clients }) => clients.map(({ client_id: id }) => id)));
    const apps = [...tx.all("clients")].filter(
      ({ client_id: id, scim, global_token_revocation: revocation }) =>
        notified.has(id) || scim !== undefined || revocation !== undefined,
    );
    return { user, ended, apps };
  });
  let done = 0;
  const signals = await Promise.all(
    leaver.apps.map((app) => tellApp(ctx, leaver, app).finally(() => progress(++done, leaver.apps.length))),
  );
  return { user: leaver.user.username, signals: kinds.flatMap((kind) => signals.flat().filter(isOfKind(kind))) };
}

const kinds: readonly LeaveSignal[] = ["backchannel-logout", "scim", "global-token-revocation"];

const isOfKind =
  (kind: LeaveSignal) =>
  ({ signal }: SentSignal): boolean =>
    signal === kind;

/** A new epoch ends every token and unused code, also for the time after a restore. The consent stays. */
function endTokensOf(tx: Tx, ctx: Context, userId: string): void {
  for (const grant of tx.findAll("grants", "user", userId)) {
    if (grant.status === "active") tx.put("grants", { ...grant, epoch: ctx.random(9) });
  }
}

async function tellApp(ctx: Context, { user, ended }: Leaver, app: Client): Promise<readonly SentSignal[]> {
  const ofApp = ended.map((one) => ({ ...one, clients: one.clients.filter((it) => it.client_id === app.client_id) }));
  const notices = await tellClients(ctx, ofApp);
  const signals: SentSignal[] = notices.map(({ client, ok, status, ms, detail }) => ({
    ...{ client, signal: "backchannel-logout" as const, status: status || null, ms, error: ok ? null : detail },
  }));
  if (app.scim !== undefined) signals.push(...(await pushTo(ctx, app, user.id)));
  if (app.global_token_revocation !== undefined) signals.push(await revokeGlobally(ctx, app, user));
  return signals;
}

/**
 * Sends one user to the SCIM server of a client, as the user is now.
 * @param where only where the app has the user
 * @returns nothing if the app has nothing of the user
 */
async function pushTo(
  ctx: Context,
  client: Client,
  userId: string,
  where?: "only known",
): Promise<readonly SentSignal[]> {
  const began = ctx.clock.real();
  const to = provisioned(client);
  const pushed = await pushUserWithGroups(ctx, to, userId, (tx) => {
    if (where === "only known" && recordOf(tx, to, "user", userId)?.remoteId == null) return null;
    return wantedNow(tx, to, { local: userId, name: tx.get("users", userId)?.username ?? userId });
  });
  if (pushed === null) return [];
  const { status, error } = pushed;
  const ms = Math.round(ctx.clock.real() - began);
  return [{ client: client.client_id, signal: "scim", status, ms, error }];
}

/**
 * Makes a suspended or banned user active again, also in every app that has the user, whatever `live` says: where it is on, in the order of the
 * changes. What a ban or a leave ended stays ended. Failures are in `scim status`.
 * @throws {OperationError} not_found
 */
export async function restoreEverywhere(ctx: Context, input: { readonly username: string }): Promise<StatusChange> {
  const { change, apps } = await ctx.store.transaction((tx) => ({
    change: restore(tx, ctx, input.username),
    apps: [...tx.all("clients")].filter((client) => client.scim !== undefined && !isLive(client)),
  }));
  const sent = await Promise.all(apps.map((app) => pushTo(ctx, app, change.id, "only known")));
  for (const { client, error } of sent.flat()) if (error !== null) ctx.log(`SCIM of client "${client}": ${error}`);
  return change;
}

/** Seconds: the token is used at once. */
const tokenTtl = 300;

/** Global Token Revocation (draft-parecki-oauth-global-token-revocation-04, as Okta's Universal Logout sends it). */
async function revokeGlobally(ctx: Context, client: Client, user: User): Promise<SentSignal> {
  const { uri, subject = "email" } = client.global_token_revocation ?? { uri: "" };
  const base = { client: client.client_id, signal: "global-token-revocation" as const };
  // As in the ID token, by which the app knows the user.
  const email = emailOf(user);
  if (subject === "email" && typeof email !== "string") {
    return { ...base, status: null, ms: 0, error: `${user.username} has no e-mail address; set subject: iss_sub` };
  }
  const sub_id =
    subject === "email" ? { format: "email", email } : { format: "iss_sub", iss: ctx.issuer, sub: user.id };
  const now = seconds(ctx);
  const claims = {
    ...{ iss: ctx.issuer, sub: client.client_id, aud: uri, iat: now, nbf: now, exp: now + tokenTtl },
    jti: ctx.random(16),
  };
  const token = await sign({
    typ: tokenTypes.globalRevocation,
    signer: await signerOf(ctx, "globalRevocation"),
    claims,
  });
  const authorization = `Bearer ${token}`;
  const message: Message = {
    endpoint: "global_token_revocation",
    client,
    user: user.username,
    method: "POST",
    url: uri,
    headers: { accept: "application/json", authorization, "content-type": "application/json" },
    json: { sub_id },
    authorization,
    clean: redacted,
    outcome: { kind: "revocation-delivered" },
  };
  const errorOf = ({ status, problem }: Delivered): string => problem ?? `answered ${status}`;
  const delivered = await deliver(ctx, message, (answer) => ({
    message: errorOf(answer),
    rule: "draft-parecki-oauth-global-token-revocation-04 3",
    fix: "answer 204 at global_token_revocation.uri of the client, where this server can reach it",
  }));
  const { ok, status, ms } = delivered;
  return { ...base, status: status || null, ms, error: ok ? null : errorOf(delivered) };
}
