import type { Client, User } from "../../store/store.ts";
import { showClock } from "../clock.ts";
import type { Context } from "../context.ts";
import { sign, tokenTypes } from "../keys/signer.ts";
import { reachOf, send } from "../outbound.ts";
import { whileLeaving } from "../scim/live.ts";
import { isLive, provisioned, recordOf, wantedOf } from "../scim/wanted.ts";
import { emailOf } from "../scopes/claims.ts";
import { pushSingle } from "../scim/push-one.ts";
import { tellClients } from "../sessions/backchannel.ts";
import { endSessionsOf } from "../sessions/sessions.ts";
import { seconds } from "../../text/time.ts";
import { requireUser } from "../users/users.ts";
import { suspendUser } from "./users.ts";

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

export interface LeaveResult {
  /** The username. */
  readonly user: string;
  readonly signals: readonly SentSignal[];
}

/**
 * Suspends a user, ends the sessions, and sends each app back-channel logout, SCIM `active: false` and Global Token Revocation, in this order.
 * The user stays suspended, and the other signals are sent, when one fails.
 * @throws {OperationError} not_found; conflict for a banned user
 */
export async function leaveUser(ctx: Context, input: { readonly username: string }): Promise<LeaveResult> {
  const { id } = await ctx.store.read((tx) => requireUser(tx, input.username));
  return whileLeaving(ctx, id, async () => {
    const { username } = await suspendUser(ctx, input);
    const user = await ctx.store.read((tx) => requireUser(tx, username));
    return { user: username, signals: [...(await endSessionsAndTell(ctx, user)), ...(await tellApps(ctx, user))] };
  });
}

/** Ends the sessions of a user, and sends logout tokens to their clients. */
async function endSessionsAndTell(ctx: Context, user: User): Promise<readonly SentSignal[]> {
  const ended = await ctx.store.transaction((tx) => endSessionsOf(tx, user.id));
  const notices = await tellClients(ctx, ended);
  return notices.map(({ client, ok, status, ms, detail }) => ({
    ...{ client, signal: "backchannel-logout" as const, status: status || null, ms, error: ok ? null : detail },
  }));
}

async function tellApps(ctx: Context, user: User): Promise<readonly SentSignal[]> {
  const clients = await ctx.store.read((tx) => [...tx.all("clients")]);
  const signals: SentSignal[] = [];
  for (const client of clients.filter(({ scim }) => scim !== undefined)) {
    const sent = await pushTo(ctx, client, user.id, false);
    if (sent !== null) signals.push(sent);
  }
  for (const client of clients) {
    if (client.global_token_revocation !== undefined) signals.push(await revokeGlobally(ctx, client, user));
  }
  return signals;
}

/**
 * Sends one user to the SCIM server of a client, as the user is now.
 * @param isKnown only where the app has the user
 * @returns null: the app has nothing of the user
 */
async function pushTo(ctx: Context, client: Client, userId: string, isKnown: boolean): Promise<SentSignal | null> {
  const began = performance.now();
  return ctx.provisioning.inTurn(client.client_id, async () => {
    const to = provisioned(client);
    const { wanted, record } = await ctx.store.read((tx) => {
      const user = tx.get("users", userId);
      const found = recordOf(tx, to, "user", userId);
      return { wanted: wantedOf(tx, to, { local: userId, name: user?.username ?? userId }, user), record: found };
    });
    if (isKnown && record?.remoteId == null) return null;
    const pushed = await pushSingle(ctx, to, wanted);
    if (pushed === null) return null;
    const { status, error } = pushed;
    return {
      client: client.client_id,
      signal: "scim" as const,
      status,
      ms: Math.round(performance.now() - began),
      error,
    };
  });
}

/**
 * A restored user is active again in every app that has the user, whatever `live` says. Failures are in `scim status`. With a shared store, the
 * instance that sends what is live sends this too, in its order.
 */
export async function restoreInApps(ctx: Context, userId: string): Promise<void> {
  const isShared = ctx.store.catchUp !== undefined;
  const clients = await ctx.store.read((tx) => [...tx.all("clients")].filter(({ scim }) => scim !== undefined));
  for (const client of clients) {
    if (isShared && isLive(client)) continue;
    const sent = await pushTo(ctx, client, userId, true);
    if (sent?.error != null) ctx.log(`SCIM of client "${client.client_id}": ${sent.error}`);
  }
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
  const claims = { iss: ctx.issuer, aud: uri, iat: now, exp: now + tokenTtl, jti: ctx.random(16) };
  const token = await sign({ typ: tokenTypes.globalRevocation, signer: await ctx.keys.signing("RS256"), claims });
  const body = JSON.stringify({ sub_id });
  const headers = {
    ...{ accept: "application/json", authorization: `Bearer ${token}`, "content-type": "application/json" },
    "content-length": String(Buffer.byteLength(body)),
  };
  const time = ctx.now();
  const began = performance.now();
  const answer = await send(uri, { whole: { method: "POST", headers, body }, reach: reachOf(ctx, client) }).then(
    ({ status }) => ({ status, problem: null }),
    (error: unknown) => ({ status: 0, problem: (error as Error).message }),
  );
  const ms = Math.round(performance.now() - began);
  const ok = answer.status >= 200 && answer.status < 300;
  const error = ok ? null : (answer.problem ?? `answered ${answer.status}`);
  ctx.ledger.add({
    ...{ time, endpoint: "global_token_revocation", method: "POST", path: uri.replace(/[?#].*$/s, ""), url: uri },
    clock: ctx.clock.isMoved() ? showClock(ctx).offset : null,
    ...{ body: { sub_id }, authorization: `Bearer ${token}`, dpop: undefined, status: answer.status, isSent: true, ms },
    notes: {
      ...{ client: client.client_id, user: user.username, outcome: "revocation delivered" },
      ...(error !== null && {
        refusal: {
          error,
          rule: "draft-parecki-oauth-global-token-revocation-04 3",
          fix: "answer 204 at global_token_revocation.uri of the client, where this server can reach it",
        },
      }),
    },
  });
  return { ...base, status: answer.status || null, ms, error };
}
