import { isGood, type ScimResponse } from "../../scim/sending.ts";
import {
  createGroup,
  createsWithMembers,
  lookUpGroup,
  patchMembers,
  putGroup,
  putsGroups,
  readGroup,
  type ScimRequest,
} from "../../scim/profiles.ts";
import { idIn, membersIn, resourcesIn, valueAt, type Resource } from "../../scim/resource.ts";
import { errorOf, type PushAction, type PushUser } from "./push-user.ts";

/** Brings one group of an app to the members that it should have, by the requests of its profile. */

/** The group as the app is known to have it. */
interface KnownGroup {
  readonly remoteId: string;
  /** The ids of the members there. */
  readonly members: readonly string[];
}

export interface PushedGroup {
  readonly action: PushAction;
  readonly status: number | null;
  readonly known: KnownGroup | null;
  readonly error: string | null;
}

interface Moves {
  readonly joining: readonly string[];
  readonly leaving: readonly string[];
}

/** Which members join and which leave. */
const changeOf = (before: readonly string[], after: readonly string[]): Moves => ({
  joining: after.filter((id) => !before.includes(id)),
  leaving: before.filter((id) => !after.includes(id)),
});

/** @param members the ids there of the users who should be in the group */
export async function pushGroup(
  { sender, profile, full }: PushUser,
  name: string,
  members: readonly string[],
  before: KnownGroup | null,
): Promise<PushedGroup> {
  let status: number | null = null;
  let known = before;

  const ask = async (request: ScimRequest): Promise<ScimResponse> => {
    const answer = await sender.ask({ request, user: null });
    status = answer.status || null;
    return answer;
  };
  /** @returns null: the app does not have the group. @throws {Refusal} */
  const askFor = async (request: ScimRequest): Promise<ScimResponse | null> => {
    const answer = await ask(request);
    if (answer.status === 404) return null;
    if (!isGood(answer)) throw new Refusal(errorOf(answer, request));
    return answer;
  };
  const lookUp = async (): Promise<Resource | null> => {
    const found = resourcesIn((await askFor(lookUpGroup(profile, name)))?.json ?? null);
    return found.find((one) => valueAt(one, "displayName") === name && idIn(one) !== null) ?? null;
  };
  /** The members that the app shows. @returns null: it does not have the group */
  const membersAt = async (id: string): Promise<readonly string[] | null> => {
    const read = await askFor(readGroup(id));
    return read === null ? null : (membersIn(read.json ?? {}) ?? []);
  };
  /**
   * Sends the changes by PATCH. A request whose response was lost may have been carried out, so only what is missing is sent again.
   * @returns whether the app has this id
   */
  const patch = async (id: string, first: Moves): Promise<boolean> => {
    let change: Moves = first;
    for (let left = 2; change.joining.length + change.leaving.length > 0; left--) {
      const request = patchMembers(profile, id, change);
      const answer = await ask(request);
      if (answer.status === 404) return false;
      if (isGood(answer)) return true;
      if (answer.status !== 0 || left === 0 || sender.stopped !== null) throw new Refusal(errorOf(answer, request));
      const now = await membersAt(id);
      if (now === null) return false;
      change = changeOf(now, members);
    }
    return true;
  };
  /** @returns whether the app has this id */
  const bring = async (id: string, there: readonly string[]): Promise<boolean> => {
    const change = { ...changeOf(there, members), ...(full && { joining: members }) };
    if (change.joining.length + change.leaving.length === 0) return true;
    if (putsGroups(profile)) {
      const read = await askFor(readGroup(id));
      if (read === null || (await askFor(putGroup(id, name, members, read.json ?? {}))) === null) return false;
    } else if (!(await patch(id, change))) return false;
    known = { remoteId: id, members };
    return true;
  };
  const match = async (found: Resource): Promise<PushAction> => {
    const id = idIn(found) ?? "";
    // Who looks a group up without its members has to read them.
    const there = membersIn(found) ?? (createsWithMembers(profile) ? [] : ((await membersAt(id)) ?? []));
    known = { remoteId: id, members: there };
    if (!(await bring(id, there))) throw new Refusal(`the app lists the id ${id}, and answers 404 to it`);
    known = { remoteId: id, members };
    return "matched";
  };
  const findOrCreate = async (): Promise<PushAction> => {
    const found = await lookUp();
    if (found !== null) return match(found);
    const request = createGroup(profile, name, members);
    for (let left = 2; ; left--) {
      const answer = await ask(request);
      const made = isGood(answer) && idIn(answer.json) !== null ? answer.json : null;
      if (made === null) {
        if (answer.status !== 0 && answer.status !== 409 && !isGood(answer))
          throw new Refusal(errorOf(answer, request));
        if (answer.status === 0 && sender.stopped !== null) throw new Refusal(errorOf(answer, request));
        const there = await lookUp();
        if (there !== null && answer.status === 409) return match(there);
        if (there !== null) {
          await match(there);
          return "created";
        }
        if (left === 0 || answer.status !== 0) throw new Refusal(errorOf(answer, request));
        continue;
      }
      const id = idIn(made) ?? "";
      known = { remoteId: id, members: createsWithMembers(profile) ? members : [] };
      if (!createsWithMembers(profile)) await bring(id, []);
      return "created";
    }
  };
  const run = async (): Promise<PushAction> => {
    if (known === null) return findOrCreate();
    const { joining, leaving } = changeOf(known.members, members);
    if (!full && joining.length + leaving.length === 0) return "unchanged";
    const { remoteId } = known;
    // Somebody else may have changed the group.
    const there = full && !putsGroups(profile) ? await membersAt(remoteId) : known.members;
    return there !== null && (await bring(remoteId, there)) ? "updated" : findOrCreate();
  };
  try {
    const action = await run();
    return { action, status, known, error: null };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { action: "failed", status, known, error: error.message };
  }
}

class Refusal extends Error {}
