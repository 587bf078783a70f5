import type { Attempt } from "../attempt.ts";
import { noticed, unnoticed, type Case } from "../../verdicts/case.ts";
import { standingUnknown } from "../standing.ts";
import { askAgain } from "./ask-again.ts";

export const accessRevoked: Case<Attempt> = {
  name: "access-revoked",
  mustNot: "a user whose access was revoked looks signed in",
  should: "treat a 401 or 403 of idp as signed out",
  paragraph: "RFC 6750 3.1, RFC 7009 2.1",
  fix: "end the session where UserInfo answers 401 or 403, or introspection says active: false",
  async run(attempt) {
    const found = await askAgain(attempt, {
      end: () => attempt.control.revoke(),
      isMeant: ({ endpoint }) => ["userinfo", "introspect", "token"].includes(endpoint),
    });
    if ("verdict" in found) return found;
    if (found.standing === "broken") return standingUnknown;
    if (found.standing === "in") return unnoticed("kept the user signed in");
    return noticed("treated the user as signed out");
  },
};
