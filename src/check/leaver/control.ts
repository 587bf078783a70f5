import { randomUUID } from "node:crypto";
import type { LookupFunction } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { send } from "../../client/http.ts";
import { RemoteError } from "../../core/base/errors.ts";
import type { ScimStatus } from "../../core/scim/status.ts";
import { deleteUser, patchActive, putsActive, putUser, readUser } from "../../scim/profiles.ts";
import { isGood, reasonOf, secretsOf, type ScimResponse } from "../../scim/sending.ts";
import { longEnough } from "../../text/redacted.ts";
import { randomText } from "../../serve/random.ts";
import { callServer, type Server } from "../../serve/remote.ts";
import type { Client } from "../../store/store.ts";
import { signedBy } from "../shared/tokens.ts";
import { idpAt } from "../frame/idp.ts";
import type { Opened } from "../frame/opened.ts";
import type { Left } from "../shared/left.ts";
import { askerOf } from "../shared/scim-server.ts";
import { groupControl } from "./groups.ts";
import type { Signal } from "./signals.ts";

/** What the cases may do at the issuer: users of its own, one signal at a time, and what undoes all of it. */

interface LeaverPlace {
  readonly server: Server;
  readonly issuer: string;
  readonly client: Client;
  /** Nobody else uses this issuer. */
  readonly isOwn: boolean;
  /** Of `--user`; null: each signal has a user of its own. */
  readonly user: string | null;
}

const missing: Readonly<Partial<Record<Signal, readonly [field: keyof Client, what: string]>>> = {
  scim: ["scim", "scim"],
  "backchannel-logout": ["backchannel_logout_uri", "backchannel_logout_uri"],
  revocation: ["global_token_revocation", "global_token_revocation"],
};

/** A user of the check. */
interface Entered {
  /** The id in the app before the check; null: it had none. */
  readonly idBefore: string | null;
  /** Sessions that are not the check's. */
  readonly sessions: ReadonlySet<string>;
}

export type LeaverControl = Awaited<ReturnType<typeof leaverControl>>;

export async function leaverControl(
  { server, issuer, client, isOwn, user }: LeaverPlace,
  lookup: LookupFunction,
  opened: Opened,
) {
  const { client_id, scim, global_token_revocation: revocation } = client;
  const { call, mark, asked } = idpAt(server, opened);
  const entered = new Map<string, Entered>();
  /** Those that were sent, and are undone for a user who stays. */
  const signals = new Set<Signal>();
  const sent = new Set<Promise<unknown>>();
  const left: Left[] = [];
  let undone: Promise<void> | null = null;
  const ask = scim === undefined ? null : askerOf(scim, { wait, now: Date.now, lookup });
  const profile = scim?.profile ?? "standard";
  await stopLive(server, client, opened);
  await opened.add(undoAll);

  /** Remembers what is under way, so that it is undone once it is done. */
  async function tracked<T>(work: () => Promise<T>): Promise<T> {
    if (opened.isClosed) throw new Error("the check has ended");
    const begun = work();
    sent.add(begun);
    return begun.finally(() => sent.delete(begun));
  }

  /** The id of a user in the app; null: it has none, or no SCIM. */
  async function scimId(username: string): Promise<string | null> {
    if (scim === undefined) return null;
    const status = (await call("scim.status", { client: client_id })) as ScimStatus;
    return status.users.find((one) => one.username === username)?.id ?? null;
  }

  const push = async (username: string): Promise<void> => {
    if (scim !== undefined) await call("scim.push", { client: client_id, user: username });
  };

  async function setActive(username: string, active: boolean): Promise<string | null> {
    const id = await scimId(username);
    if (ask === null || id === null) return "the app has no such user";
    const answer: ScimResponse = putsActive(profile)
      ? await ask(putUser(id, { active }, (await ask(readUser(id))).json ?? {}))
      : await ask(patchActive(profile, id, active));
    return isGood(answer) ? null : reasonOf(answer);
  }

  async function endSessions(username: string): Promise<string | null> {
    const own = entered.get(username)?.sessions ?? new Set();
    const sessions = await call("sessions.list", { user: username });
    const problems: string[] = [];
    for (const { id } of sessions) {
      if (own.has(id)) continue;
      const { notices } = await call("sessions.end", { id });
      const told = notices.filter((notice) => notice.client === client_id);
      if (told.length === 0) problems.push("no session of idp belongs to the app");
      problems.push(...told.filter(({ ok }) => !ok).map(({ detail }) => detail));
    }
    return sessions.length === 0 ? "the user has no session" : (problems[0] ?? null);
  }

  /** As `users leave` does, without suspending anybody. */
  async function revoke(username: string): Promise<string | null> {
    const { uri, subject = "email" } = revocation ?? { uri: "" };
    const { id, email } = await call("users.show", { username });
    if (subject === "email" && email === null) return `${username} has no e-mail address; set subject: iss_sub`;
    const sub_id = subject === "email" ? { format: "email", email } : { format: "iss_sub", iss: issuer, sub: id };
    const seconds = Math.floor(Date.now() / 1000);
    const times = { iat: seconds, nbf: seconds, exp: seconds + 300 };
    const claims = { iss: issuer, sub: client_id, aud: uri, ...times, jti: randomUUID() };
    const token = await signedBy(server, "RS256", "global-token-revocation+jwt", claims);
    const { status } = await send({
      ...{ method: "POST", url: uri, lookup, json: { sub_id } },
      headers: { authorization: `Bearer ${token}` },
    });
    return status >= 200 && status < 300 ? null : `answered ${status}`;
  }

  async function leave(username: string): Promise<string | null> {
    const { signals } = await call("users.leave", { username });
    const failed = signals.find((one) => one.client === client_id && one.error !== null);
    return failed?.error?.split("\n")[0] ?? null;
  }

  const senders: Readonly<Record<Signal, (username: string) => Promise<string | null>>> = {
    scim: (username) => setActive(username, false),
    "backchannel-logout": endSessions,
    revocation: revoke,
    async silence(username) {
      await call("users.suspend", { username });
      return null;
    },
    all: leave,
  };

  async function undo(signal: Signal, username: string): Promise<void> {
    if (signal === "scim") await setActive(username, true);
    else if (signal === "silence" || signal === "all") await call("users.restore", { username });
  }

  /** Removes a user of the check, here and from the app. */
  async function remove(username: string, { idBefore }: Entered): Promise<void> {
    const id = await scimId(username);
    if (user === null) {
      await call("users.remove", { username }).catch((error: unknown) => {
        if (!(error instanceof RemoteError)) throw error;
      });
      // By the requests of the profile, so that idp forgets it, too.
      if (id !== null) await push(username);
    }
    if (id !== null && id !== idBefore) await removeThere(username, id);
  }

  /** Removes a user from the app; one that stays is deactivated, and said at the end. */
  async function removeThere(username: string, id: string): Promise<void> {
    if (ask === null) return;
    const answer = await ask(deleteUser(id));
    if (isGood(answer) || answer.status === 404) return;
    const inactive = putsActive(profile)
      ? putUser(id, { active: false }, (await ask(readUser(id))).json ?? {})
      : patchActive(profile, id, false);
    left.push({ kind: "user", name: username, state: isGood(await ask(inactive)) ? "deactivated" : "active" });
  }

  function undoAll(): Promise<void> {
    return (undone ??= undoOnce());
  }

  async function undoOnce(): Promise<void> {
    await Promise.allSettled(sent);
    await groups.undo().catch(() => undefined);
    const work = [...entered].flatMap(([username, one]) => [
      ...(user === null ? [] : [...signals].map((signal) => () => undo(signal, username))),
      () => remove(username, one),
    ]);
    // What fails keeps nothing else from being undone.
    for (const one of work) await one().catch(() => undefined);
  }

  /** A user who may sign in, pushed to the app where it has SCIM: a new one, or the one of `--user`. @returns the username */
  const enter = (): Promise<string> =>
    tracked(async () => {
      const username = user ?? `idp-check-${randomText(9).toLowerCase()}`;
      if (!entered.has(username)) {
        if (user === null) {
          const email = `${username}@example.com`;
          entered.set(username, { idBefore: null, sessions: new Set() });
          await call("users.add", { username, email, displayName: "Idp Check" });
        } else {
          const sessions = await call("sessions.list", { user: username });
          const own = new Set(sessions.map(({ id }) => id));
          entered.set(username, { idBefore: await scimId(username), sessions: own });
        }
      }
      await push(username);
      return username;
    });
  const groups = groupControl({ server, client, user, ask, enter, push, scimId, tracked, removeThere, left });

  return {
    ...{ enter, scimId, mark, undoAll, left },
    ...{ enterGroup: groups.enterGroup, leaveGroup: groups.leaveGroup, renameGroup: groups.renameGroup },
    refreshes: groups.refreshes,
    /** Why a signal reaches nobody: the client has no address for it; null: it has one. */
    missing(signal: Signal): string | null {
      const [field, what] = missing[signal] ?? [];
      return field === undefined || client[field] !== undefined ? null : `the client has no ${what}`;
    },
    /** Pushes a user again, whom some apps know only after a sign-in. */
    signedIn: (username: string): Promise<void> =>
      tracked(async () => {
        if ((await scimId(username)) === null) await push(username);
      }),
    /** What an app may repeat, and no finding may. */
    secrets: [...secretsOf(scim?.token), ...longEnough(client.client_secret)],
    /** An access token for the API. */
    token: async (username: string): Promise<string> =>
      (await call("token.issue", { user: username, client: client_id })).token,
    /** @returns why the app did not take the signal, or null */
    send(signal: Signal, username: string): Promise<string | null> {
      signals.add(signal);
      return tracked(() => senders[signal](username));
    },
    /** Makes a user active again, here and in the app. */
    undo: (signal: Signal, username: string): Promise<void> => tracked(() => undo(signal, username)),
    /** The later requests that may ask about a token. */
    asked: (since: string | undefined) => asked(isOwn ? null : client_id, since),
  };
}

/** With `live: on`, a user who is suspended would be told of, and one signal would be two. */
async function stopLive(server: Server, { client_id, scim }: Client, opened: Opened): Promise<void> {
  if (scim?.live !== "on" && scim?.live !== true) return;
  await opened.add(async () => {
    await callServer(server, "clients.edit", { client_id, scim });
  });
  await callServer(server, "clients.edit", { client_id, scim: { ...scim, live: "off" } });
}
