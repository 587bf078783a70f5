import type { OperationInput } from "../../core/admin/operations/table.ts";
import {
  createGroup,
  createsWithMembers,
  deleteGroup,
  lookUpGroup,
  patchGroupName,
  patchMembers,
  putGroup,
  putsGroups,
  readGroup,
} from "../../scim/profiles.ts";
import { idIn, membersIn, resourcesIn, valueAt } from "../../scim/resource.ts";
import { Problem } from "../../client/check.ts";
import { isGood, reasonOf } from "../../scim/sending.ts";
import type { Left } from "../shared/left.ts";
import type { Ask } from "../shared/scim-server.ts";
import type { Client } from "../../store/store.ts";
import { callServer, type Server } from "../../serve/remote.ts";
import { otherThan } from "../frame/people.ts";

/** The groups of the users of `idp check leaver`: the claim `groups` here, and the SCIM groups of the app. */

interface GroupsOf {
  readonly server: Server;
  readonly client: Client;
  /** Of `--user`; null: users are added. */
  readonly user: string | null;
  readonly ask: Ask | null;
  readonly enter: () => Promise<string>;
  readonly push: (username: string) => Promise<void>;
  readonly scimId: (username: string) => Promise<string | null>;
  readonly tracked: <T>(work: () => Promise<T>) => Promise<T>;
  readonly removeThere: (username: string, id: string) => Promise<void>;
  /** Gets a group that the app does not remove. */
  readonly left: Left[];
}

type Claims = NonNullable<OperationInput<"users.edit">["claims"]>;

const groupsIn = ({ groups }: Claims): readonly string[] =>
  [groups].flat().filter((one): one is string => typeof one === "string");

export function groupControl(given: GroupsOf) {
  const { server, client, user, ask, enter, push, scimId, tracked } = given;
  const { client_id, scim } = client;
  const profile = scim?.profile ?? "standard";
  /** The claims of users who stay, before the check. */
  const before = new Map<string, Claims>();
  /** Users of others whom the app did not have. */
  const added = new Set<string>();
  /** The group in the app, by its id, and whether the check made it; null: it is not there, or nobody looked. */
  let there: { readonly id: string; readonly name: string; readonly isOwn: boolean } | null = null;

  const isSent = (group: string): boolean => {
    const { groups = "all" } = scim ?? { groups: "none" };
    return groups === "all" || (Array.isArray(groups) && groups.includes(group));
  };

  const claimsOf = async (username: string): Promise<Claims> =>
    (await callServer(server, "users.show", { username })).claims;

  const edit = async (username: string, claims: Claims): Promise<void> => {
    await callServer(server, "users.edit", { username, claims });
  };

  async function nameFor(isAnother: boolean): Promise<string> {
    if (user === null) return enter();
    if (!isAnother) return user;
    const other = await otherThan(server, user);
    if (other === null) throw new Problem("there is no other active user, who could stay in the group");
    return other;
  }

  /** Lets a user join or leave the group in the app, by the requests of the profile. @returns whether the app was told */
  async function move(username: string, group: string, isIn: boolean): Promise<boolean> {
    const member = await scimId(username);
    if (ask === null || !isSent(group) || member === null) return false;
    if (there === null) {
      const found = resourcesIn((await ask(lookUpGroup(profile, group))).json);
      const known = idIn(found.find((one) => valueAt(one, "displayName") === group) ?? null);
      const id = known ?? idIn((await ask(createGroup(profile, group, isIn ? [member] : []))).json);
      if (id === null) return false;
      there = { id, name: group, isOwn: known === null };
      if (there.isOwn && isIn && createsWithMembers(profile)) return true;
    }
    const { id } = there;
    const moves = { joining: isIn ? [member] : [], leaving: isIn ? [] : [member] };
    if (!putsGroups(profile)) return isGood(await ask(patchMembers(profile, id, moves)));
    const shown = (await ask(readGroup(id))).json ?? {};
    const others = (membersIn(shown) ?? []).filter((one) => one !== member);
    return isGood(await ask(putGroup(id, group, [...others, ...moves.joining], shown)));
  }

  async function rename(id: string, to: string): Promise<string | null> {
    if (ask === null) return "the client has no scim";
    const shown = (await ask(readGroup(id))).json ?? {};
    const answer = await ask(
      putsGroups(profile) ? putGroup(id, to, membersIn(shown) ?? [], shown) : patchGroupName(profile, id, to),
    );
    return isGood(answer) ? null : reasonOf(answer);
  }

  return {
    /** A user who has a group in the claim `groups`, pushed to the app where it has SCIM. @param isAnother not the one of `--user` */
    enterGroup: (group: string, isAnother: boolean): Promise<string> =>
      tracked(async () => {
        const username = await nameFor(isAnother);
        const claims = await claimsOf(username);
        if (user !== null && !before.has(username)) before.set(username, claims);
        await edit(username, { ...claims, groups: [...new Set([...groupsIn(claims), group])] });
        if (user !== null && username !== user && (await scimId(username)) === null) added.add(username);
        await push(username);
        await move(username, group, true);
        return username;
      }),
    /** Takes a group from a user, here and by SCIM. @returns whether the app was told */
    leaveGroup: (username: string, group: string): Promise<boolean> =>
      tracked(async () => {
        const claims = await claimsOf(username);
        await edit(username, { ...claims, groups: groupsIn(claims).filter((one) => one !== group) });
        return move(username, group, false);
      }),
    /** Gives the group another name in the app, and in the claim of a user. @returns why not, or null */
    renameGroup: (group: string, username: string): Promise<string | null> =>
      tracked(async () => {
        if (there === null) return "the app has no such group by SCIM";
        const other = `${group}-renamed`;
        const why = await rename(there.id, other);
        if (why !== null) return why;
        const claims = await claimsOf(username);
        await edit(username, { ...claims, groups: groupsIn(claims).map((one) => (one === group ? other : one)) });
        return null;
      }),
    /** How often the app has refreshed since then. */
    refreshes: async (since: string | undefined): Promise<number> => {
      const all = await callServer(server, "requests.list", since === undefined ? {} : { since });
      const own = all.filter((one) => one.client === client_id && one.grant_type === "refresh_token");
      return own.filter(({ status }) => status === 200).length;
    },
    /** Gives everybody the own groups again, and removes the groups that were not there. */
    async undo(): Promise<void> {
      if (there !== null) await rename(there.id, there.name).catch(() => undefined);
      for (const [username, claims] of before) {
        await edit(username, claims).catch(() => undefined);
        if (there !== null)
          await move(username, there.name, groupsIn(claims).includes(there.name)).catch(() => undefined);
      }
      if (ask === null) return;
      if (there?.isOwn === true) {
        const answer = await ask(deleteGroup(there.id));
        if (!isGood(answer) && answer.status !== 404) {
          given.left.push({ kind: "group", name: there.name, state: "active" });
        }
      }
      for (const username of added) {
        const id = await scimId(username);
        if (id !== null) await given.removeThere(username, id);
      }
    },
  };
}
