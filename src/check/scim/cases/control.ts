import { isGood } from "../../../scim/sending.ts";
import { idIn, valueAt } from "../../../scim/resource.ts";
import { notReached, works, type Case } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import { answered } from "../judge.ts";

/** Creates and reads one user. An app that removes nobody shows the same user from then on. */
export const control: Case<Attempt> = {
  name: "control",
  mustNot: "a user cannot be created and read",
  should: "create a user, and show it",
  paragraph: "RFC 7644 3.3, 3.4.1",
  fix: "give the address below which /Users is, and the token that the app expects",
  async run(attempt) {
    const { known } = attempt;
    if (known.stays !== null) {
      const there = await attempt.read(known.stays.id);
      return there === null ? notReached("the user of the check is gone from the app") : works("showed the user");
    }
    const attributes = attempt.attributes();
    const reply = await attempt.post(attributes);
    const id = isGood(reply) ? idIn(reply.json) : null;
    if (id === null) {
      return notReached(`creating a user: the app ${answered(reply)}${isGood(reply) ? " without an id" : ""}`);
    }
    const there = await attempt.read(id);
    if (there === null) return notReached("the app created a user, and does not show it");
    const shown = String(valueAt(there, "userName"));
    if (shown.toLowerCase() !== String(attributes["userName"]).toLowerCase()) {
      return notReached("the app shows a user with another userName than the one that was sent");
    }
    // Whether it is removed is what the case delete judges.
    const why = await attempt.remove(id);
    if (why === null) return works("created and showed a user");
    known.stays = { id, userName: shown, attributes };
    return works(`created and showed a user, who stays: ${why}`);
  },
};
