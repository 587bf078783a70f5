import type { Client, ReadTx } from "../../store/store.ts";
import type { Profile } from "../../scim/profiles.ts";
import { requireClient } from "../records/clients/admin.ts";
import type { Context } from "../context.ts";
import { requireUser } from "../records/users/users.ts";
import { pushUser, pushGroup, type Push, type PushedGroupView, type PushedUser } from "./push-one.ts";
import type { PushAction } from "./push-resource.ts";
import { drySender, type PlannedRequest } from "./dry-sender.ts";
import { createSender } from "./sender.ts";
import { everyWanted, provisioned, recordOf, recordsOf, wantedNow, type Provisioned, type Wanted } from "./wanted.ts";
import { managerPath, pathOf } from "../../scim/paths.ts";

/** Sends an app what differs from what it was last sent. Each result is written down at once, so that a restart forgets nothing. */

interface PushedUserView {
  readonly username: string;
  readonly action: PushAction;
  /** The status of the last answer; null: nothing was sent, or nobody answered. */
  readonly status: number | null;
  /** The id in the app; null: it has none. */
  readonly id: string | null;
  readonly error: string | null;
}

/** What a push did with one app. */
export interface PushReport {
  readonly client: string;
  readonly url: string;
  readonly profile: Profile;
  readonly users: readonly PushedUserView[];
  readonly groups: readonly PushedGroupView[];
  /** Whether the app has everything now. */
  readonly inSync: boolean;
  /** The requests that would be sent; only with `dry_run`. */
  readonly requests?: readonly PlannedRequest[];
}

interface PushInput {
  /** Absent: every client that has `scim`. */
  readonly client?: string | undefined;
  /** Only these users, and no groups. */
  readonly user?: string | readonly string[] | undefined;
  readonly profile?: Profile | undefined;
  readonly dry_run?: boolean | undefined;
  readonly full?: boolean | undefined;
  /** How many users at a time. */
  readonly parallel?: number | undefined;
}

/**
 * Pushes users and groups.
 * @returns the report of the client; a list where none is named
 * @throws {OperationError} not_found for an unknown client or user, and a client without `scim`
 */
export async function pushScim(
  ctx: Context,
  input: PushInput,
  progress: PushProgress = () => undefined,
): Promise<PushReport | readonly PushReport[]> {
  const names = input.user === undefined ? null : [input.user].flat();
  const clients = await ctx.store.read((tx) => {
    for (const name of names ?? []) requireKnown(tx, name);
    return input.client === undefined
      ? [...tx.all("clients")].filter(({ scim }) => scim !== undefined)
      : [provisioned(requireClient(tx, input.client)).client];
  });
  const step = stepsOf(progress);
  const reports = await Promise.all(clients.map((client) => pushClient(ctx, client, names, input, step)));
  const [first] = reports;
  return input.client !== undefined && first !== undefined ? first : reports;
}

/** Called with how many users are done, and of how many. */
type PushProgress = (done: number, total: number) => void;

/** Counts the users of all apps. */
interface Steps {
  readonly more: (users: number) => void;
  readonly done: () => void;
}

function stepsOf(progress: PushProgress): Steps {
  let [done, total] = [0, 0];
  return {
    more: (users) => void (total += users),
    done: () => progress(++done, total),
  };
}

/** Finds a user, also one that was removed here and is still in an app. @throws {OperationError} not_found */
function requireKnown(tx: ReadTx, name: string): void {
  for (const { kind, name: known } of tx.all("scim")) if (kind === "user" && known === name) return;
  requireUser(tx, name);
}

/** One push to an app after the other. */
const pushClient = (
  ctx: Context,
  client: Client,
  names: readonly string[] | null,
  input: PushInput,
  step: Steps,
): Promise<PushReport> =>
  ctx.provisioning.inTurn(`push ${client.client_id}`, async () => {
    const to = provisioned(client, input.profile);
    const wanted = await ctx.store.read((tx) => everyWanted(tx, to, names));
    step.more(wanted.length);
    const isDry = input.dry_run === true;
    const dry = isDry ? drySender(client.scim?.url ?? "") : null;
    const sender = dry ?? createSender(ctx, client, to.scim);
    const push: Push = { ctx, to, isDry, how: { sender, profile: to.profile, full: input.full === true } };
    const found = await pushUsers(push, wanted, input.parallel ?? 1, step);
    const users = wanted.flatMap(({ userId, username }) => {
      const pushed = found.get(userId);
      return pushed === undefined ? [] : [viewOf(username, pushed)];
    });
    const groups = names === null ? await pushGroups(push, found) : [];
    const inSync = [...users, ...groups].every(({ action }) => action !== "failed");
    const { client_id } = client;
    const report = { client: client_id, url: to.scim.url, profile: to.profile, users, groups, inSync };
    return dry === null ? report : { ...report, requests: dry.requests };
  });

const viewOf = (username: string, { action, status, known, error }: PushedUser): PushedUserView => ({
  ...{ username, action, status, id: known?.remoteId ?? null, error },
});

/** Several at a time. */
async function pushUsers(
  push: Push,
  wanted: readonly Wanted[],
  parallel: number,
  step: Steps,
): Promise<ReadonlyMap<string, PushedUser>> {
  const found = new Map<string, PushedUser>();
  const queue = [...wanted];
  const work = async (): Promise<void> => {
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
      const { userId: local, username: name } = one;
      const done = await pushUser(push, local, (tx) => wantedNow(tx, push.to, { local, name }));
      if (done?.pushed != null) found.set(local, done.pushed);
      step.done();
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  if (!push.isDry && namesManagers(push.to)) await pushManagers(push, wanted, found);
  return found;
}

const namesManagers = ({ scim }: Provisioned): boolean =>
  Object.keys(scim.attributes ?? {}).some((attribute) => pathOf(attribute) === managerPath);

/** A manager who was created after somebody has an id only now. */
async function pushManagers(push: Push, wanted: readonly Wanted[], found: Map<string, PushedUser>): Promise<void> {
  const again: Push = { ...push, how: { ...push.how, full: false } };
  for (const { userId: local, username: name } of wanted) {
    const before = found.get(local);
    if (before === undefined || before.action === "failed") continue;
    const done = await pushUser(again, local, (tx) => wantedNow(tx, push.to, { local, name }));
    const now = done?.pushed ?? null;
    if (now === null || now.action === "unchanged") continue;
    const { action } = now.action === "failed" || before.action === "unchanged" ? now : before;
    found.set(local, { ...now, action });
  }
}

/** The groups of everybody, in the order in which they were first met, with the ids of their members in the app. */
async function pushGroups(push: Push, found: ReadonlyMap<string, PushedUser>): Promise<readonly PushedGroupView[]> {
  const { to } = push;
  if (to.scim.groups === "none") return [];
  // Again, because a push takes long.
  const { known, wanted } = await push.ctx.store.read((tx) => ({
    known: recordsOf(tx, to, "group"),
    wanted: everyWanted(tx, to, null).map(({ userId, groups }) => {
      const id = found.has(userId) ? found.get(userId)?.known?.remoteId : recordOf(tx, to, "user", userId)?.remoteId;
      return { id: id ?? null, groups };
    }),
  }));
  const members = new Map<string, string[]>();
  const isWanted = (name: string): boolean => !Array.isArray(to.scim.groups) || to.scim.groups.includes(name);
  for (const { local } of known) if (isWanted(local)) members.set(local, []);
  for (const { id, groups } of wanted) {
    for (const name of groups) {
      const ids = members.get(name) ?? [];
      if (id !== null) ids.push(id);
      members.set(name, ids);
    }
  }
  const views: PushedGroupView[] = [];
  for (const [name, ids] of members) {
    const view = await pushGroup(push, name, () => ids);
    if (view !== null) views.push(view);
  }
  return views;
}
