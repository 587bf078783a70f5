import type { LookupFunction } from "node:net";
import type { Profile } from "../../scim/profiles.ts";
import { isGood, type ScimToken } from "../../scim/sending.ts";
import { idIn } from "../../scim/resource.ts";
import { Problem } from "../../client/check.ts";
import type { Case, Finding } from "../frame/verdict.ts";
import { findingOf, runCases, type CheckRun, type RunResult, type Verdicts } from "../frame/run.ts";
import { askerOf, withoutTokens, type ScimApp } from "./app.ts";
import { answered, type Attempt, type Known } from "./attempt.ts";
import { control } from "./cases/control.ts";
import { each, peopleOf, type People, type PeopleOptions } from "./people.ts";

/** Runs the cases of `idp check scim`. */

export interface ScimCase extends Case<Attempt> {
  /** Whose requests it sends. Absent: they are the same for everybody. */
  readonly profile?: Profile;
}

interface ScimRun extends CheckRun, PeopleOptions {
  readonly app: ScimApp;
  /** Of another tenant of the app; null: none was given. */
  readonly otherToken: ScimToken | null;
  /** Resolves the name of the app, and refuses addresses that may not be reached. */
  readonly lookup: LookupFunction;
}

/** A check that was begun: its result, and what removes the users and groups that are left of it. */
interface ScimCheck {
  readonly run: (cases: readonly ScimCase[]) => Promise<RunResult>;
  readonly people: People;
}

export function scimCheck(run: ScimRun): ScimCheck {
  const { app, otherToken } = run;
  const ask = askerOf(app, run);
  const clean = withoutTokens([app.token, otherToken]);
  const people = peopleOf(ask, run);
  const known: Known = { stays: null, takesNamesTwice: false };

  const attemptOf = ({ profile = "standard" }: ScimCase, verdicts: Verdicts, over: AbortSignal): Attempt => {
    const inTime = <A extends readonly unknown[], R>(work: (...given: A) => R) => {
      return (...given: A): R => {
        over.throwIfAborted();
        return work(...given);
      };
    };
    return {
      ...{ profile, known, verdicts, otherToken, each },
      ask: inTime(ask),
      newName: people.newName,
      newAddress: people.newAddress,
      attributes: people.attributes,
      post: inTime(people.post),
      async person(more) {
        over.throwIfAborted();
        const attributes = people.attributes(more);
        const reply = await people.post(attributes);
        const id = isGood(reply) ? idIn(reply.json) : null;
        if (id === null) throw new Problem(`the app made no user for this case: it ${answered(reply)}`);
        return { id, userName: String(attributes["userName"]), attributes };
      },
      postGroup: inTime((name: string, members: readonly string[]) => people.postGroup(profile, name, members)),
      read: inTime(people.read),
      readGroup: inTime(people.readGroup),
      remove: inTime(people.remove),
    };
  };

  return {
    people,
    run: (cases) =>
      runCases<Attempt>(run, {
        ...{ control, last: control, cases },
        broken: "the app does not create and show a user any more",
        didLast: "created and showed a user at the end too",
        attempt: (one, verdicts, over) =>
          one
            .run(attemptOf(one, verdicts, over))
            .catch(findingOf)
            .then(cleaned(clean)),
        async tidy() {
          await people.removeAll(known.stays?.id ?? null);
          return null;
        },
      }),
  };
}

/** An app may repeat the token wherever it likes. */
const cleaned =
  (clean: (text: string) => string) =>
  (finding: Finding): Finding => ({ ...finding, did: clean(finding.did) });
