import { isGood, type ScimResponse } from "../../scim/sending.ts";
import {
  createGroup,
  createUser,
  createsWithMembers,
  deleteUser,
  lookUpGroup,
  lookUpUser,
  onRemoval,
  patchActive,
  patchMembers,
  patchUser,
  putGroup,
  putUser,
  putsActive,
  putsGroups,
  putsUsers,
  readGroup,
  readUser,
} from "../../scim/profiles.ts";
import {
  attributesIn,
  differenceOf,
  idIn,
  isSame,
  membersIn,
  valueAt,
  type Attributes,
  type Difference,
  type Resource,
} from "../../scim/resource.ts";
import { Refused, type Kind, type PushAction, type Work } from "./push-resource.ts";

/** What is sent for users and for groups, by the requests of the profile. */

/** Changes whether a user is active. @returns whether the app has this id */
async function setActive(work: Work<Attributes>, id: string, active: boolean): Promise<boolean> {
  const { profile } = work.to;
  const answer = putsActive(profile)
    ? await put(work, id, { active })
    : await work.askFor(patchActive(profile, id, active));
  return answer !== null;
}

async function put(
  work: Work<Attributes>,
  id: string,
  attributes: Attributes,
  removed: readonly string[] = [],
): Promise<ScimResponse | null> {
  const read = await work.askFor(readUser(id));
  return read === null ? null : work.askFor(putUser(id, attributes, read.json ?? {}, removed));
}

/** A user who is to be in the app no more. */
export async function removeUser(work: Work<Attributes>): Promise<PushAction> {
  const { remoteId = null, has = null } = work.known ?? {};
  if (remoteId === null) {
    work.known = null;
    return "removed";
  }
  const { deactivates, deletes } = onRemoval(work.to.profile);
  const isThere = has?.["active"] !== false && deactivates ? await setActive(work, remoteId, false) : true;
  if (isThere && deletes) await work.askFor(deleteUser(remoteId));
  work.known = isThere && !deletes ? { remoteId, has: { ...has, active: false } } : null;
  return "removed";
}

/** @param attributes what the app should have of the user */
export function userKind(work: Work<Attributes>, attributes: Attributes): Kind<Attributes> {
  const { profile, full } = work.to;
  const userName = String(attributes["userName"]);
  const isActive = attributes["active"] === true;

  async function bring(id: string, there: Attributes): Promise<PushAction | null> {
    const wasActive = there["active"] !== false;
    let done: PushAction = "updated";
    // A PATCH of everything has it, and so has a PUT; Okta's apps take it by PATCH alone.
    const isOwn = isActive !== wasActive || (full && putsUsers(profile) && !putsActive(profile));
    if (isOwn) {
      if (!(await setActive(work, id, isActive))) return null;
      work.known = { remoteId: id, has: { ...there, active: isActive } };
      if (isActive !== wasActive) done = isActive ? "reactivated" : "deactivated";
    }
    const rest = differenceOf({ ...there, active: isActive }, attributes);
    const difference: Difference = full
      ? { ...rest, changed: Object.keys(attributes).filter((path) => path !== "active" || !isOwn) }
      : rest;
    if (!isSame(difference)) {
      const answer = putsUsers(profile)
        ? await put(work, id, attributes, difference.removed)
        : await work.askFor(patchUser(profile, id, attributes, difference));
      if (answer === null) return null;
    }
    work.known = { remoteId: id, has: attributes };
    return done;
  }

  const nameOf = (one: Resource): string => String(valueAt(one, "userName"));
  return {
    wanted: attributes,
    isSame: (has) => isSame(differenceOf(has, attributes)),
    lookUp: () => lookUpUser(profile, userName),
    // The case does not count (RFC 7643 4.1.1).
    choose: (found) =>
      found.find((one) => nameOf(one) === userName) ??
      found.find((one) => nameOf(one).toLowerCase() === userName.toLowerCase()),
    read: readUser,
    create: () => (attributes["active"] === false ? null : createUser(attributes)),
    made(resource) {
      work.known = { remoteId: idIn(resource), has: attributes };
      return Promise.resolve();
    },
    there: (found) => Promise.resolve(attributesIn(found, Object.keys(attributes))),
    bring,
    update: (id, has) => bring(id, has ?? {}),
  };
}

type Members = readonly string[];

interface Moves {
  readonly joining: Members;
  readonly leaving: Members;
}

/** Which members join and which leave. */
const changeOf = (before: Members, after: Members): Moves => ({
  joining: after.filter((id) => !before.includes(id)),
  leaving: before.filter((id) => !after.includes(id)),
});

const isNothing = ({ joining, leaving }: Moves): boolean => joining.length + leaving.length === 0;

/** @param members the ids there of the users who should be in the group */
export function groupKind(work: Work<Members>, name: string, members: Members): Kind<Members> {
  const { profile, full, sender } = work.to;

  /** The members that the app shows. @returns null: it does not have the group */
  async function membersAt(id: string): Promise<Members | null> {
    const read = await work.askFor(readGroup(id));
    return read === null ? null : (membersIn(read.json ?? {}) ?? []);
  }

  /**
   * Sends the changes by PATCH. A request whose response was lost may have been carried out, so only what is missing is sent again.
   * @returns whether the app has this id
   */
  async function patch(id: string, first: Moves): Promise<boolean> {
    let change = first;
    for (let left = 2; !isNothing(change); left--) {
      const request = patchMembers(profile, id, change);
      const answer = await work.ask(request);
      if (answer.status === 404) return false;
      if (isGood(answer)) return true;
      if (answer.status !== 0 || left === 0 || sender.stopped !== null) throw new Refused(answer, request);
      const now = await membersAt(id);
      if (now === null) return false;
      change = changeOf(now, members);
    }
    return true;
  }

  /** @returns whether the app has this id */
  async function putAll(id: string): Promise<boolean> {
    const read = await work.askFor(readGroup(id));
    return read !== null && (await work.askFor(putGroup(id, name, members, read.json ?? {}))) !== null;
  }

  async function bring(id: string, there: Members): Promise<PushAction | null> {
    const change = { ...changeOf(there, members), ...(full && { joining: members }) };
    if (isNothing(change)) return "updated";
    if (!(putsGroups(profile) ? await putAll(id) : await patch(id, change))) return null;
    work.known = { remoteId: id, has: members };
    return "updated";
  }

  const kind: Kind<Members> = {
    wanted: members,
    isSame: (has) => isNothing(changeOf(has, members)),
    lookUp: () => lookUpGroup(profile, name),
    choose: (found) => found.find((one) => valueAt(one, "displayName") === name),
    read: readGroup,
    create: () => createGroup(profile, name, members),
    async made(resource, isLost) {
      if (isLost) {
        await work.match(kind, resource);
        return;
      }
      const id = idIn(resource) ?? "";
      const isWhole = createsWithMembers(profile);
      work.known = { remoteId: id, has: isWhole ? members : [] };
      if (!isWhole) await bring(id, []);
    },
    // Who looks a group up without its members has to read them.
    there: async (found) =>
      membersIn(found) ?? (createsWithMembers(profile) ? [] : ((await membersAt(idIn(found) ?? "")) ?? [])),
    bring,
    async update(id, has) {
      const there = full && !putsGroups(profile) ? await membersAt(id) : (has ?? []);
      return there === null ? null : bring(id, there);
    },
  };
  return kind;
}
