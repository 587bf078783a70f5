import { adviceFor, isGood, reasonOf, sentIn, type ScimResponse } from "../../scim/sending.ts";
import type { Profile, ScimRequest } from "../../scim/profiles.ts";
import { idIn, isList, noList, resourcesIn, type Resource } from "../../scim/resource.ts";
import type { Sender } from "./sender.ts";

/**
 * Brings one user or group of an app to what it should be: finds it, or creates it, and changes it. resource-kinds.ts says what each is sent, and
 * src/scim/profiles.ts composes the requests.
 */

export type PushAction =
  "created" | "matched" | "updated" | "deactivated" | "reactivated" | "removed" | "unchanged" | "failed";

/** A user or a group as the app is known to have it. */
interface Known<Has> {
  /** Null: the app does not have it. */
  readonly remoteId: string | null;
  /** What was last sent and accepted: the attributes of a user, the ids of the members of a group; null: nothing was. */
  readonly has: Has | null;
}

/** What happened to a user or a group. */
export interface Pushed<Has> {
  readonly action: PushAction;
  /** The status of the last answer; null: nothing was sent, or nobody answered. */
  readonly status: number | null;
  /** What the app has now; null: it does not have it any more. */
  readonly known: Known<Has> | null;
  readonly error: string | null;
}

export interface PushTo {
  readonly sender: Sender;
  readonly profile: Profile;
  /** Sends everything, also what did not change. */
  readonly full: boolean;
}

/** What is sent for a user or a group that the app should have. */
export interface Kind<Has> {
  readonly wanted: Has;
  isSame(has: Has): boolean;
  lookUp(): ScimRequest;
  /** The one that was looked up: a server that ignores filters answers with all. */
  choose(found: readonly Resource[]): Resource | undefined;
  read(id: string): ScimRequest;
  /** Null: it is not created. */
  create(): ScimRequest | null;
  /** Notes what was just created, and sends what a creation does not say. @param isLost whether the answer was, and it was looked up */
  made(resource: Resource, isLost: boolean): Promise<void>;
  /** What the app has of a resource that was looked up. */
  there(found: Resource): Promise<Has>;
  /** Sends what differs from what the app has. @returns null: the app does not have this id any more */
  bring(id: string, there: Has): Promise<PushAction | null>;
  /** The same for what the app is known to have; somebody else may have changed it. */
  update(id: string, has: Has | null): Promise<PushAction | null>;
}

/** A refusal, which ends the work on this resource. */
export class Refused extends Error {
  readonly status: number;
  /** The reason, and below it what was sent and what the app should accept. */
  constructor(answer: ScimResponse, request: ScimRequest) {
    const { status } = answer;
    const isOfRequest = status !== 0 && status !== 401 && status !== 429 && status < 500;
    super(reasonOf(answer) + (isOfRequest ? `\nsent ${sentIn(request)}; ${adviceFor(request)}` : ""));
    this.status = status;
  }
}

/** The work on one resource. It knows how far it came, also where a later request is refused. */
export class Work<Has> {
  readonly to: PushTo;
  /** Username; null: it is about a group. */
  readonly #user: string | null;
  known: Known<Has> | null;
  status: number | null = null;

  constructor(to: PushTo, user: string | null, before: Known<Has> | null) {
    this.to = to;
    this.#user = user;
    this.known = before;
  }

  async ask(request: ScimRequest): Promise<ScimResponse> {
    const answer = await this.to.sender.ask({ request, user: this.#user });
    this.status = answer.status || null;
    return answer;
  }

  /** @returns null: the app does not have the resource. @throws {Refused} */
  async askFor(request: ScimRequest): Promise<ScimResponse | null> {
    const answer = await this.ask(request);
    if (answer.status === 404) return null;
    if (!isGood(answer)) throw new Refused(answer, request);
    return answer;
  }

  /** Brings the app to what it should have. */
  async run(kind: Kind<Has>): Promise<PushAction> {
    const { remoteId = null, has = null } = this.known ?? {};
    if (has !== null && !this.to.full && kind.isSame(has)) return "unchanged";
    const done = remoteId === null ? null : await kind.update(remoteId, has);
    return done ?? this.#findOrCreate(kind);
  }

  async #lookUp(kind: Kind<Has>): Promise<Resource | null> {
    const request = kind.lookUp();
    const answer = await this.askFor(request);
    // A page of the app, say, which does not say that nobody is there.
    if (answer !== null && !isList(answer.json)) throw new Refused({ ...answer, problem: noList }, request);
    return kind.choose(resourcesIn(answer?.json ?? null).filter((one) => idIn(one) !== null)) ?? null;
  }

  async #findOrCreate(kind: Kind<Has>): Promise<PushAction> {
    const found = await this.#lookUp(kind);
    if (found !== null) return this.match(kind, found);
    const request = kind.create();
    if (request === null) {
      this.known = { remoteId: null, has: kind.wanted };
      return "unchanged";
    }
    for (let left = 2; ; left--) {
      const answer = await this.ask(request);
      const { status, json } = answer;
      if (isGood(answer) && json !== null && idIn(json) !== null) {
        await kind.made(json, false);
        return "created";
      }
      // Somebody has the name, or the answer was lost, or it says no id.
      if (status !== 0 && status !== 409 && !isGood(answer)) throw new Refused(answer, request);
      if (status === 0 && this.to.sender.stopped !== null) throw new Refused(answer, request);
      const there = await this.#lookUp(kind);
      if (there !== null && status === 409) return this.match(kind, there);
      if (there !== null) {
        await kind.made(there, true);
        return "created";
      }
      if (left === 0 || status !== 0) throw new Refused(answer, request);
    }
  }

  async match(kind: Kind<Has>, found: Resource): Promise<PushAction> {
    const id = idIn(found) ?? "";
    const there = await kind.there(found);
    this.known = { remoteId: id, has: there };
    if ((await kind.bring(id, there)) === null) {
      const problem = `the app lists the id ${id}, and answers 404 to it`;
      throw new Refused({ status: 404, json: null, problem }, kind.read(id));
    }
    this.known = { remoteId: id, has: kind.wanted };
    return "matched";
  }
}

/** @param user username; null: it is about a group @param before null: nothing is known */
export async function pushResource<Has>(
  to: PushTo,
  user: string | null,
  before: Known<Has> | null,
  run: (work: Work<Has>) => Promise<PushAction>,
): Promise<Pushed<Has>> {
  const work = new Work(to, user, before);
  try {
    const action = await run(work);
    return { action, status: work.status, known: work.known, error: null };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const known = work.known ?? { remoteId: null, has: null };
    return { action: "failed", status: error.status || null, known, error: error.message };
  }
}
