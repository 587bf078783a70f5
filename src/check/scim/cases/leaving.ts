import { isGood } from "../../../scim/sending.ts";
import { deleteUser, lookUpUser, readUser, type Profile } from "../../../scim/profiles.ts";
import { idIn, resourcesIn, valueAt } from "../../../scim/resource.ts";
import { noticed, notReached, notRequired, unnoticed, works, type Finding } from "../../frame/verdict.ts";
import type { Reply } from "../../shared/scim-server.ts";
import type { Attempt, Person, ScimCase } from "../attempt.ts";
import { answered, failure, notDone } from "../judge.ts";
import { isDeactivated, sendActive } from "./changes.ts";

/** How a client removes a user, and how somebody comes back. */

/** Whether the app does not let users be removed (RFC 7644 3.6). */
const refusesDelete = ({ status }: Reply): boolean => [403, 405, 501].includes(status);

/** Removes a user. @returns a finding where the app does not say that it did */
async function removed(attempt: Attempt, id: string): Promise<Finding | null> {
  const reply = await attempt.ask(deleteUser(id));
  if (refusesDelete(reply)) {
    return notRequired(`does not remove users: it ${answered(reply)}`, "RFC 7644 3.6, RFC 7643 4.1.1: active");
  }
  return notDone(reply, "answer 204 to DELETE of a user");
}

export const leavingCases: readonly ScimCase[] = [
  {
    name: "delete",
    mustNot: "a user who was removed is still there",
    should: "answer 404 to the id after DELETE, and leave the user out of lists",
    paragraph: "RFC 7644 3.6",
    fix: "remove the user before you answer 204, or hide it from every request from then on",
    async run(attempt) {
      const { id, userName } = await attempt.person();
      const refused = await removed(attempt, id);
      if (refused !== null) return refused;
      const gone = await attempt.ask(readUser(id));
      if (isGood(gone) && idIn(gone.json) !== null) {
        return unnoticed("answered that it removed the user, and still shows it");
      }
      const failedAfter = failure(gone);
      if (failedAfter !== null)
        return { ...failedAfter, mustNot: "the id of a user who was removed makes the app fail" };
      if (gone.status !== 404) {
        return unnoticed(`removed the user, and ${answered(gone)} to its id, which must be 404`, {
          mustNot: "the id of a user who was removed is answered as if there were one",
          fix: "answer 404 where no user has the id",
        });
      }
      const list = await attempt.ask(lookUpUser("standard", userName));
      const failed = failure(list);
      if (failed !== null) return failed;
      return resourcesIn(list.json).some((one) => idIn(one) === id)
        ? unnoticed("removed the user, and still has it in lists")
        : noticed("removed the user, in lists too");
    },
  },
  {
    name: "delete-twice",
    mustNot: "a second DELETE is answered as if somebody had been there",
    should: "answer 404 again",
    paragraph: "RFC 7644 3.6",
    fix: "answer 404 where no user has the id, to DELETE too",
    async run(attempt) {
      const { id } = await attempt.person();
      const refused = await removed(attempt, id);
      if (refused !== null) return refused;
      const there = await attempt.ask(readUser(id));
      if (isGood(there) && idIn(there.json) !== null) return notReached("the app removes nobody (see delete)");
      const again = await attempt.ask(deleteUser(id));
      const failed = failure(again);
      if (failed !== null) return failed;
      return again.status === 404 ? noticed("answered 404") : unnoticed(`${answered(again)}, and must answer 404`);
    },
  },
];

/** What the app makes of a POST of somebody whom it has, inactive. */
async function sentAgain(attempt: Attempt, person: Person): Promise<Finding> {
  const { id, userName, attributes } = person;
  const isActive = async (): Promise<boolean> => {
    const there = await attempt.read(id);
    return there !== null && valueAt(there, "active") === true;
  };
  const reply = await attempt.post(attributes);
  if (isGood(reply)) {
    if (idIn(reply.json) !== id) return unnoticed(`${answered(reply)} with another id: the person is there twice`);
    return (await isActive())
      ? works(`${answered(reply)} with the same user, active`)
      : unnoticed(`${answered(reply)} with the same user, and it stays inactive`);
  }
  if (reply.status !== 409) return notDone(reply, "answer 409, or reactivate the user") ?? notReached(answered(reply));
  const list = await attempt.ask(lookUpUser(attempt.profile, userName));
  const failed = failure(list);
  if (failed !== null) return failed;
  if (!resourcesIn(list.json).some((one) => idIn(one) === id)) {
    return unnoticed("answered 409, and a lookup does not find the user who has the name");
  }
  const [update] = await sendActive(true, true)(attempt, person, {});
  return (await isActive())
    ? works("answered 409, and reactivated the user whom the lookup finds")
    : attempt.verdicts.get(`${attempt.profile}.reactivate`) === "unnoticed"
      ? notReached("the app answered 409, and reactivates nobody (see reactivate)")
      : unnoticed(`answered 409, and the user stays inactive after an update: it ${answered(update)}`);
}

export const rehire = (profile: Profile): ScimCase => ({
  ...{ profile, name: `${profile}.rehire` },
  mustNot: "somebody who comes back stays locked out, or is there twice",
  should: "answer 2xx with the same id and activate the user, or 409 and let the lookup find the user",
  paragraph: "RFC 7644 3.3, RFC 7643 4.1.1",
  fix: "keep a deactivated user with its id, let lookups find it, and set its state from active",
  reads: ["create-twice", "deactivate", "reactivate"].map((name) => `${profile}.${name}`),
  async run(attempt) {
    if (attempt.known.takesNamesTwice) {
      return notReached("the app takes a second user of the same name at any time (see create-twice)");
    }
    const person = await attempt.person();
    if (!(await isDeactivated(attempt, person))) {
      return notReached("the app did not deactivate the user (see deactivate)");
    }
    return sentAgain(attempt, person);
  },
});
