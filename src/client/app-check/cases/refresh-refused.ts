import type { Attempt } from "../attempt.ts";
import { noticed, notReached, unnoticed, type Case } from "../../verdicts/case.ts";
import { standingUnknown } from "../standing.ts";
import { askAgain } from "./ask-again.ts";

export const refreshRefused: Case<Attempt> = {
  name: "refresh-refused",
  mustNot: "a user stays signed in after the refresh token was refused",
  should: "sign out, or ask to sign in again",
  paragraph: "RFC 6749 5.2, 6",
  fix: "end the session where a refresh fails with invalid_grant",
  async run(attempt) {
    const found = await askAgain(attempt, {
      end: () => attempt.control.expire("all"),
      without: () => attempt.control.expire("access"),
      isMeant: ({ endpoint, grant_type: grant }) => endpoint === "token" && grant === "refresh_token",
    });
    if ("verdict" in found) return found;
    if (found.refused.length === 0) return notReached("the app did not refresh");
    if (found.standing === "broken") return standingUnknown;
    return found.standing === "in" ? unnoticed("kept the user signed in") : noticed("treated the user as signed out");
  },
};
