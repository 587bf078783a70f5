import { adviceFor, isGood, reasonOf, sentIn, type ScimResponse } from "../../scim/sending.ts";
import {
  createUser,
  deleteUser,
  lookUpUser,
  onRemoval,
  patchActive,
  patchUser,
  putUser,
  putsActive,
  putsUsers,
  readUser,
  type Profile,
  type ScimRequest,
} from "../../scim/profiles.ts";
import {
  attributesIn,
  differenceOf,
  idIn,
  isSame,
  resourcesIn,
  valueAt,
  type Attributes,
  type Difference,
  type Resource,
} from "../../scim/resource.ts";
import type { Sender } from "./sender.ts";
import type { Wanted } from "./wanted.ts";

/** Brings one user of an app to what it should be, by the requests of its profile. */

export type PushAction =
  "created" | "matched" | "updated" | "deactivated" | "reactivated" | "removed" | "unchanged" | "failed";

/** The user as the app is known to have it. */
interface Known {
  /** Null: the app does not have it. */
  readonly remoteId: string | null;
  /** The attributes that were last sent and accepted; null: none were. */
  readonly sent: Attributes | null;
}

/** What happened to a user or a group. */
export interface Pushed {
  readonly action: PushAction;
  /** The status of the last answer; null: nothing was sent, or nobody answered. */
  readonly status: number | null;
  /** What the app has now; null: it does not have it any more. */
  readonly known: Known | null;
  readonly error: string | null;
}

export interface PushUser {
  readonly sender: Sender;
  readonly profile: Profile;
  /** Sends everything, also what did not change. */
  readonly full: boolean;
}

/** A refusal, which ends the work on this user. */
class Refused extends Error {
  readonly answer: ScimResponse;
  readonly request: ScimRequest;
  constructor(answer: ScimResponse, request: ScimRequest) {
    super(reasonOf(answer));
    this.answer = answer;
    this.request = request;
  }
}

/** The reason, and below it what was sent and what the app should accept. */
export function errorOf(answer: ScimResponse, request: ScimRequest): string {
  const reason = reasonOf(answer);
  if (answer.status === 0 || answer.status === 401 || answer.status === 429 || answer.status >= 500) return reason;
  return `${reason}\nsent ${sentIn(request)}; ${adviceFor(request)}`;
}

/** Works on one user. `at` keeps how far it came, also where a later request is refused. */
export async function pushUser(push: PushUser, wanted: Wanted, before: Known | null): Promise<Pushed> {
  const work = new UserPush(push, wanted, before);
  try {
    const action = await work.run();
    return { action, status: work.status, known: work.known, error: null };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { answer, request } = error;
    const known = work.known ?? before ?? { remoteId: null, sent: null };
    return { action: "failed", status: answer.status || null, known, error: errorOf(answer, request) };
  }
}

const lostAgain = (id: string): string => `the app lists the id ${id}, and answers 404 to it`;

class UserPush {
  readonly #push: PushUser;
  readonly #wanted: Wanted;
  known: Known | null;
  status: number | null = null;

  constructor(push: PushUser, wanted: Wanted, before: Known | null) {
    this.#push = push;
    this.#wanted = wanted;
    this.known = before;
  }

  async run(): Promise<PushAction> {
    const { attributes } = this.#wanted;
    if (attributes === null) return this.#remove();
    const { remoteId = null, sent = null } = this.known ?? {};
    const isKnown = this.known !== null && sent !== null;
    if (isKnown && !this.#push.full && isSame(differenceOf(sent, attributes))) return "unchanged";
    if (remoteId !== null) {
      const done = await this.#update(remoteId, sent ?? {}, attributes);
      if (done !== null) return done;
    }
    return this.#findOrCreate(attributes);
  }

  async #ask(request: ScimRequest): Promise<ScimResponse> {
    const answer = await this.#push.sender.ask({ request, user: this.#wanted.username });
    this.status = answer.status || null;
    return answer;
  }

  /** @returns null: the app does not have the resource. @throws {Refused} */
  async #askFor(request: ScimRequest): Promise<ScimResponse | null> {
    const answer = await this.#ask(request);
    if (answer.status === 404) return null;
    if (!isGood(answer)) throw new Refused(answer, request);
    return answer;
  }

  /** The user of this name; null: there is none. */
  async #lookUp(userName: string): Promise<Resource | null> {
    const answer = await this.#askFor(lookUpUser(this.#push.profile, userName));
    const names = resourcesIn(answer?.json ?? null).filter((one) => idIn(one) !== null);
    const nameOf = (one: Resource): string => String(valueAt(one, "userName"));
    // A server that ignores filters answers with everybody. The case does not count (RFC 7643 4.1.1).
    return (
      names.find((one) => nameOf(one) === userName) ??
      names.find((one) => nameOf(one).toLowerCase() === userName.toLowerCase()) ??
      null
    );
  }

  async #findOrCreate(attributes: Attributes): Promise<PushAction> {
    const userName = String(attributes["userName"]);
    const found = await this.#lookUp(userName);
    if (found !== null) return this.#match(found, attributes);
    if (attributes["active"] === false) {
      this.known = { remoteId: null, sent: attributes };
      return "unchanged";
    }
    const request = createUser(attributes);
    for (let left = 2; ; left--) {
      const answer = await this.#ask(request);
      const id = isGood(answer) ? idIn(answer.json) : null;
      if (id !== null) {
        this.known = { remoteId: id, sent: attributes };
        return "created";
      }
      // Somebody has the name, or the answer was lost, or it says no id.
      if (answer.status !== 0 && answer.status !== 409 && !isGood(answer)) throw new Refused(answer, request);
      if (answer.status === 0 && this.#push.sender.stopped !== null) throw new Refused(answer, request);
      const made = await this.#lookUp(userName);
      if (made !== null && answer.status === 409) return this.#match(made, attributes);
      if (made !== null) {
        this.known = { remoteId: idIn(made), sent: attributes };
        return "created";
      }
      if (left === 0 || answer.status !== 0) throw new Refused(answer, request);
    }
  }

  async #match(found: Resource, attributes: Attributes): Promise<PushAction> {
    const id = idIn(found) ?? "";
    const there = attributesIn(found, Object.keys(attributes));
    this.known = { remoteId: id, sent: there };
    if (this.#push.full || !isSame(differenceOf(there, attributes))) {
      const done = await this.#update(id, there, attributes);
      if (done === null) throw new Refused({ status: 404, json: null, problem: lostAgain(id) }, readUser(id));
    }
    this.known = { remoteId: id, sent: attributes };
    return "matched";
  }

  /** @returns null: the app does not have this id any more */
  async #update(id: string, before: Attributes, attributes: Attributes): Promise<PushAction | null> {
    const { profile, full } = this.#push;
    const isActive = attributes["active"] === true;
    const wasActive = before["active"] !== false;
    let done: PushAction = "updated";
    // A PATCH of everything has it, and so has a PUT; Okta's apps take it by PATCH alone.
    const isOwn = isActive !== wasActive || (full && putsUsers(profile) && !putsActive(profile));
    if (isOwn) {
      if (!(await this.#setActive(id, isActive))) return null;
      this.known = { remoteId: id, sent: { ...before, active: isActive } };
      if (isActive !== wasActive) done = isActive ? "reactivated" : "deactivated";
    }
    const rest = differenceOf({ ...before, active: isActive }, attributes);
    const difference: Difference = full
      ? { ...rest, changed: Object.keys(attributes).filter((path) => path !== "active" || !isOwn) }
      : rest;
    if (!isSame(difference)) {
      const answer = putsUsers(profile)
        ? await this.#put(id, attributes, difference.removed)
        : await this.#askFor(patchUser(profile, id, attributes, difference));
      if (answer === null) return null;
    }
    this.known = { remoteId: id, sent: attributes };
    return done;
  }

  /** @returns whether the app has this id */
  async #setActive(id: string, active: boolean): Promise<boolean> {
    const { profile } = this.#push;
    const answer = putsActive(profile)
      ? await this.#put(id, { active })
      : await this.#askFor(patchActive(profile, id, active));
    return answer !== null;
  }

  async #put(id: string, attributes: Attributes, removed: readonly string[] = []): Promise<ScimResponse | null> {
    const read = await this.#askFor(readUser(id));
    return read === null ? null : this.#askFor(putUser(id, attributes, read.json ?? {}, removed));
  }

  async #remove(): Promise<PushAction> {
    const { remoteId = null, sent = null } = this.known ?? {};
    if (remoteId === null) {
      this.known = null;
      return "removed";
    }
    const { deactivates, deletes } = onRemoval(this.#push.profile);
    const isThere = sent?.["active"] !== false && deactivates ? await this.#setActive(remoteId, false) : true;
    if (isThere && deletes) await this.#askFor(deleteUser(remoteId));
    this.known = isThere && !deletes ? { remoteId, sent: { ...sent, active: false } } : null;
    return "removed";
  }
}
