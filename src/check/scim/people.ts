import { isGood, type ScimToken } from "../../scim/sending.ts";
import {
  createGroup,
  createUser,
  deleteGroup,
  deleteUser,
  lookUpGroup,
  lookUpUser,
  patchActive,
  putUser,
  readGroup,
  readUser,
  type Profile,
  type ScimRequest,
} from "../../scim/profiles.ts";
import { workEmail } from "../../scim/paths.ts";
import { idIn, resourcesIn, valueAt, type Attributes, type Resource } from "../../scim/resource.ts";
import { Problem } from "../../client/check.ts";
import type { Left } from "../shared/left.ts";
import type { Ask, Reply } from "../shared/scim-server.ts";
import { answered } from "./judge.ts";

/** The users and groups of a check, which are removed from the app: after each case, and at the end. */

/** How many requests at a time, where many are sent. */
const atATime = 8;

export async function each<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const queue = [...all];
  const next = async (): Promise<void> => {
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: atATime }, next));
}

const sameName = (one: unknown, other: string): boolean => String(one).toLowerCase() === other.toLowerCase();

/** A case may have changed the name. */
function shownName(there: Resource, path: "userName" | "displayName"): string | null {
  const shown = valueAt(there, path);
  return typeof shown === "string" ? shown : null;
}

export interface PeopleOptions {
  readonly random: (bytes: number) => string;
  /** The users and groups of the check stay in the app. */
  readonly keeps: boolean;
  /** Where the addresses of the check's users are. */
  readonly emailDomain: string;
}

/** @param clean takes the token out of a text of the app */
export function peopleOf(ask: Ask, { random, keeps, emailDomain }: PeopleOptions, clean: (text: string) => string) {
  /** Ids there, with the names. */
  const users = new Map<string, string>();
  const groups = new Map<string, string>();
  /** Names that were sent, and whose ids no answer said. */
  const lostUsers = new Set<string>();
  const lostGroups = new Set<string>();
  const left = new Map<string, Left["state"]>();
  const leftGroups = new Set<string>();
  const sent = new Set<Promise<unknown>>();
  let isClosed = false;
  let failsWhereNobodyIs = false;

  async function create(
    request: ScimRequest,
    name: string,
    ids: Map<string, string>,
    lost: Set<string>,
    token?: ScimToken | null,
  ) {
    if (isClosed) throw new Error("the check has ended");
    lost.add(name);
    const asked = ask(request, token).then((reply) => {
      const id = isGood(reply) ? idIn(reply.json) : null;
      if (id !== null) ids.set(id, name);
      // One that was refused is not there, unless it is the second of this name.
      if (id !== null || (reply.status >= 400 && reply.status < 500)) lost.delete(name);
      return reply;
    });
    sent.add(asked);
    return asked.finally(() => sent.delete(asked));
  }

  async function readAt(request: ScimRequest): Promise<Resource | null> {
    const reply = await ask(request);
    if (reply.status === 404 || reply.status === 410) return null;
    if (!isGood(reply)) throw new Problem(`${request.path} cannot be read back: the app ${answered(reply)}`);
    return idIn(reply.json) === null ? null : reply.json;
  }

  /** Removes it. @returns the answer, and what is there afterwards */
  async function afterDelete(request: ScimRequest, read: ScimRequest) {
    const reply = await ask(request);
    // An app that fails where nobody has the id is believed, and not asked again.
    if (isGood(reply) && failsWhereNobodyIs) return { reply, there: null };
    const there = await readAt(read).catch((error: unknown) => {
      if (!(error instanceof Problem) || !(isGood(reply) || failsWhereNobodyIs)) throw error;
      failsWhereNobodyIs = true;
      return null;
    });
    return { reply, there };
  }

  /** @returns why the user is still there, or null */
  async function remove(id: string): Promise<string | null> {
    const { reply, there } = await afterDelete(deleteUser(id), readUser(id));
    if (there === null) {
      users.delete(id);
      return null;
    }
    const name = shownName(there, "userName") ?? users.get(id) ?? id;
    const isInactive = await deactivate(id);
    if (isInactive) users.delete(id);
    left.set(clean(name), isInactive ? "deactivated" : "active");
    return isGood(reply)
      ? "the app answered that it removed the user, and still shows it"
      : `the app ${answered(reply)}`;
  }

  /** @returns whether it is inactive now */
  async function deactivate(id: string): Promise<boolean> {
    const isInactive = async (): Promise<boolean> => (await readAt(readUser(id)))?.["active"] === false;
    await ask(patchActive("standard", id, false));
    if (await isInactive()) return true;
    const there = await readAt(readUser(id));
    if (there === null) return true;
    await ask(putUser(id, { active: false }, there));
    return isInactive();
  }

  /** The ids that have a name, by what the app answers to a lookup; it may ignore the filter. */
  async function findLost(names: Set<string>, request: (name: string) => ScimRequest, ids: Map<string, string>) {
    for (const name of names) {
      for (const one of resourcesIn((await ask(request(name))).json)) {
        const id = idIn(one);
        const shown = valueAt(one, "userName") ?? valueAt(one, "displayName");
        if (id !== null && sameName(shown, name)) ids.set(id, name);
      }
    }
    names.clear();
  }

  /** Removes everybody but one. @param stays the id of a user; null: nobody stays */
  async function removeAll(stays: string | null): Promise<void> {
    if (keeps) return;
    await findLost(lostGroups, (name) => lookUpGroup("standard", name), groups);
    await findLost(lostUsers, (name) => lookUpUser("standard", name), users);
    await each([...groups], async ([id, name]) => {
      groups.delete(id);
      const { there } = await afterDelete(deleteGroup(id), readGroup(id)).catch(() => ({ there: {} }));
      if (there !== null) leftGroups.add(clean(shownName(there, "displayName") ?? name));
    });
    const all = [...users.keys()].filter((id) => id !== stays);
    await each(all, (id) => remove(id).catch((error: unknown) => error));
  }

  /** A name that nobody has: `idp-check-<random>`. */
  const newName = (): string => `idp-check-${random(9)}`;
  /** A new name as an address of `emailDomain`. */
  const newAddress = (): string => `${newName().toLowerCase()}@${emailDomain}`;
  return {
    ...{ newName, newAddress, remove, removeAll },
    /** The users and groups that stay in the app, once nobody is created any more. */
    left(): readonly Left[] {
      if (!isClosed) return [];
      const kept = keeps ? [...users.values()].filter((name) => !left.has(name)) : [];
      return [
        ...[...left].map(([name, state]): Left => ({ kind: "user", name, state })),
        ...kept.map((name): Left => ({ kind: "user", name, state: "kept" })),
        ...[...leftGroups].map((name): Left => ({ kind: "group", name, state: "active" })),
        ...(keeps ? [...groups.values()] : []).map((name): Left => ({ kind: "group", name, state: "kept" })),
      ];
    },
    /** A new user as a client sends it. */
    attributes: (more: Attributes = {}): Attributes => {
      const userName = newAddress();
      return {
        ...{ userName, externalId: random(12), active: true, displayName: "Idp Check" },
        ...{ "name.givenName": "Idp", "name.familyName": "Check", [workEmail]: userName },
        ...more,
      };
    },
    /** @param token in place of the right one; null: none */
    post: (attributes: Attributes, token?: ScimToken | null): Promise<Reply> =>
      create(createUser(attributes), String(attributes["userName"]), users, lostUsers, token),
    postGroup: (profile: Profile, name: string, members: readonly string[]): Promise<Reply> =>
      create(createGroup(profile, name, members), name, groups, lostGroups),
    read: (id: string): Promise<Resource | null> => readAt(readUser(id)),
    readGroup: (id: string): Promise<Resource | null> => readAt(readGroup(id)),
    /** Creates nobody any more, and removes everybody. */
    close: async (): Promise<void> => {
      isClosed = true;
      await Promise.allSettled(sent);
      await removeAll(null);
    },
  };
}
