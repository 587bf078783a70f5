/*
 * check/scim: `idp check scim`. It asks whether an app does what it answers: after every change it reads back.
 *
 * run.ts runs the cases. A case is a row of a file in cases/; those that depend on what a vendor sends exist once for each profile. The requests are
 * those of src/scim, which `idp scim push` sends, too. app.ts sends them; people.ts makes users and groups for the cases, and removes them.
 *
 * attempt.ts is what a case works with.
 */
import type { Profile, ScimRequest } from "../../scim/profiles.ts";
import { detailOf, isGood, reasonOf, type ScimToken } from "../../scim/sending.ts";
import type { Attributes, Resource } from "../../scim/resource.ts";
import { notReached, unnoticed, type Finding } from "../frame/verdict.ts";
import type { Verdicts } from "../frame/run.ts";
import type { Reply } from "./app.ts";

/** A user of the check, in the app. */
export interface Person {
  readonly id: string;
  readonly userName: string;
  /** As they were sent. */
  readonly attributes: Attributes;
}

export interface Attempt {
  readonly profile: Profile;
  /** What the controls have found out. */
  readonly known: Known;
  /** Of the cases before this one. */
  readonly verdicts: Verdicts;
  /** Of another tenant of the app; null: none was given. */
  readonly otherToken: ScimToken | null;
  /** @param token in place of the right one; null: none */
  ask(request: ScimRequest, token?: ScimToken | null): Promise<Reply>;
  /** A name that nobody has: `idp-check-<random>`. */
  newName(): string;
  /** A new name as an e-mail address. */
  newAddress(): string;
  /** A new user as a client sends it. */
  attributes(more?: Attributes): Attributes;
  /** Sends a new user; it is removed after the case. */
  post(attributes: Attributes): Promise<Reply>;
  /** A new user. @throws {Problem} where the app has none afterwards */
  person(more?: Attributes): Promise<Person>;
  /** Sends a new group; it is removed after the case. */
  postGroup(name: string, members: readonly string[]): Promise<Reply>;
  /** The user as the app shows it; null: it is not there. @throws {Problem} where that is not known */
  read(id: string): Promise<Resource | null>;
  readGroup(id: string): Promise<Resource | null>;
  /** Removes a user, or deactivates it where it stays. @returns why it stays, or null */
  remove(id: string): Promise<string | null>;
  /** Works on several at a time. */
  each<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void>;
}

export interface Known {
  /** A user who stays for the controls, because the app does not remove users; null: it does. */
  stays: Person | null;
  /** The app has two users with one userName. */
  takesNamesTwice: boolean;
}

/** "answered 400 invalidValue: 'active' must be a boolean"; why there was no answer, where there was none. */
export function answered(reply: Reply): string {
  const detail = detailOf(reply);
  return reply.status === 0 || detail === null ? reasonOf(reply) : `answered ${reply.status} ${detail}`;
}

const failing = { fix: "find the error in the log of the app: no request may end in a 5xx" };

/** An answer that is neither a yes nor a no; null: it is one of these. */
export function failure(reply: Reply): Finding | null {
  if (reply.status === 429) return notReached(`the app takes no more requests for now: it ${answered(reply)}`);
  if (reply.status === 0) return unnoticed(`sent no answer: ${answered(reply)}`, failing);
  return reply.status >= 500 ? unnoticed(`failed: ${answered(reply)}`, failing) : null;
}

/** Why the app did not say that it did something; null: it did. @param fix where it refuses */
export function notDone(reply: Reply, fix: string): Finding | null {
  if (isGood(reply)) return null;
  return failure(reply) ?? unnoticed(`refused it: ${answered(reply)}`, { fix });
}
