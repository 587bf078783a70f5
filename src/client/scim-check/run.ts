import type { LookupFunction } from "node:net";
import type { Profile } from "../../scim/profiles.ts";
import type { ScimToken } from "../../scim/sending.ts";
import { idIn } from "../../scim/resource.ts";
import { isGood } from "../../scim/answer.ts";
import { Problem } from "../check.ts";
import { notReached, type Case, type CaseResult, type Finding } from "../verdicts/case.ts";
import { runCases, type RunResult, type Verdicts } from "../verdicts/run.ts";
import { askerOf, withoutTokens, type ScimApp } from "./app.ts";
import { answered, type Attempt, type Known } from "./attempt.ts";
import { control } from "./cases/control.ts";
import { each, peopleOf, type People } from "./people.ts";

/** Runs the cases of `idp check scim`. */

export interface ScimCase extends Case<Attempt> {
  /** Whose requests it sends. Absent: they are the same for everybody. */
  readonly profile?: Profile;
}

export interface ScimRun {
  readonly app: ScimApp;
  /** Of another tenant of the app; null: none was given. */
  readonly otherToken: ScimToken | null;
  /** The users and groups of the check stay in the app. */
  readonly keeps: boolean;
  /** Resolves the name of the app, and refuses addresses that may not be reached. */
  readonly lookup: LookupFunction;
  readonly accepted: ReadonlyMap<string, string>;
  readonly onResult: (result: CaseResult) => void;
  readonly now: () => number;
  readonly wait: (milliseconds: number) => Promise<unknown>;
  readonly random: (bytes: number) => string;
  /** Milliseconds that a case may take, beside what it has to wait for. */
  readonly caseLimit: number;
}

/** A check that was begun: its result, and what removes the users and groups that are left of it. */
export interface ScimCheck {
  readonly run: (cases: readonly ScimCase[]) => Promise<RunResult>;
  readonly people: People;
}

export function scimCheck(run: ScimRun): ScimCheck {
  const { app, otherToken } = run;
  const ask = askerOf(app, run);
  const clean = withoutTokens([app.token, otherToken]);
  const people = peopleOf(ask, run.random, run.keeps);
  const known: Known = { stays: null };

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
      runCases<Attempt>({
        ...{ control, last: control, cases, accepted: run.accepted, onResult: run.onResult },
        broken: "the app does not create, show and remove a user any more",
        didLast: "created, showed and removed a user at the end too",
        limit: ({ waits = 0 }) => run.caseLimit + waits,
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

/** Without an answer that a case needs, it says nothing. */
function findingOf(error: unknown): Finding {
  if (error instanceof Problem) return notReached(error.message);
  throw error;
}

/** An app may repeat the token wherever it likes. */
const cleaned =
  (clean: (text: string) => string) =>
  (finding: Finding): Finding => ({ ...finding, did: clean(finding.did) });
