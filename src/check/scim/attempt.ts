import type { LookupFunction } from "node:net";
import { Problem } from "../../client/check.ts";
import type { Profile, ScimRequest } from "../../scim/profiles.ts";
import { idIn, type Attributes } from "../../scim/resource.ts";
import { isGood, secretsOf, type ScimToken } from "../../scim/sending.ts";
import { without } from "../../text/redacted.ts";
import type { CheckRun, Verdicts } from "../frame/run.ts";
import type { Case } from "../frame/verdict.ts";
import { answered } from "./judge.ts";
import { askerOf, type Reply, type ScimApp } from "../shared/scim-server.ts";
import { each, peopleOf, type PeopleOptions } from "./people.ts";

/** What a case works with: requests to the app, and users and groups that are removed after the case. */

/** A user of the check, in the app. */
export interface Person {
  readonly id: string;
  readonly userName: string;
  /** As they were sent. */
  readonly attributes: Attributes;
}

interface Known {
  /** A user who stays for the controls, because the app does not remove users; null: it does. */
  stays: Person | null;
  /** The app has two users with one userName. */
  takesNamesTwice: boolean;
}

interface ScimRun extends CheckRun, PeopleOptions {
  readonly app: ScimApp;
  /** Of another tenant of the app; null: none was given. */
  readonly otherToken: ScimToken | null;
  /** Resolves the name of the app, and refuses addresses that may not be reached. */
  readonly lookup: LookupFunction;
}

export interface ScimCase extends Case<Attempt> {
  /** Whose requests it sends. Absent: they are the same for everybody. */
  readonly profile?: Profile;
}

export type Attempt = ReturnType<ReturnType<typeof attemptsOf>["begin"]>;

/** @throws {Problem} where the app has none */
function personOf(attributes: Attributes, reply: Reply): Person {
  const id = isGood(reply) ? idIn(reply.json) : null;
  if (id === null) throw new Problem(`the app made no user for this case: it ${answered(reply)}`);
  return { id, userName: String(attributes["userName"]), attributes };
}

export function attemptsOf(run: ScimRun) {
  const { app, otherToken } = run;
  const ask = askerOf(app, run);
  const clean = without([app.token, otherToken ?? undefined].flatMap(secretsOf));
  const people = peopleOf(ask, run, clean);
  const { newName, newAddress, attributes } = people;
  const known: Known = { stays: null, takesNamesTwice: false };

  return {
    people,
    begin(
      { profile = "standard" }: { readonly name: string; readonly profile?: Profile },
      verdicts: Verdicts,
      over: AbortSignal,
    ) {
      const inTime = <A extends readonly unknown[], R>(work: (...given: A) => R) => {
        return (...given: A): R => {
          over.throwIfAborted();
          return work(...given);
        };
      };
      return {
        ...{ profile, known, verdicts, otherToken, each, newName, newAddress, attributes },
        /** @param token in place of the right one; null: none */
        ask: inTime((request: ScimRequest, token?: ScimToken | null): Promise<Reply> => ask(request, token)),
        /** Sends a new user; it is removed after the case. */
        post: inTime(people.post),
        /** A new user. @throws {Problem} where the app has none afterwards */
        async person(more?: Attributes): Promise<Person> {
          over.throwIfAborted();
          const sent = attributes(more);
          const reply = await people.post(sent);
          return personOf(sent, reply);
        },
        /** A user with more than the usual, or without it where the app refuses that. @returns how it refused it, too; null: it did not */
        async personWith(more: Attributes): Promise<{ readonly person: Person; readonly refused: string | null }> {
          if (Object.keys(more).length === 0) return { person: await this.person(), refused: null };
          over.throwIfAborted();
          const sent = attributes(more);
          const reply = await people.post(sent);
          if (reply.status === 400) return { person: await this.person(), refused: answered(reply) };
          return { person: personOf(sent, reply), refused: null };
        },
        /** Sends a new group; it is removed after the case. */
        postGroup: inTime((name: string, members: readonly string[]) => people.postGroup(profile, name, members)),
        /** The user as the app shows it; null: it is not there. @throws {Problem} where that is not known */
        read: inTime(people.read),
        readGroup: inTime(people.readGroup),
        /** Removes a user, or deactivates it where it stays. @returns why it stays, or null */
        remove: inTime(people.remove),
      };
    },
    clean,
    async tidy(): Promise<null> {
      await people.removeAll(known.stays?.id ?? null);
      return null;
    },
  };
}
