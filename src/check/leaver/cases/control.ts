import type { Case } from "../../frame/verdict.ts";
import type { LeaverAttempt } from "../attempt.ts";

/** An ordinary sign-in of somebody who stays. */
export const control: Case<LeaverAttempt> = {
  name: "control",
  mustNot: "an ordinary sign-in fails",
  should: "sign the user in",
  paragraph: "OpenID Connect Core 3.1",
  fix: "give --start the address behind your Sign in button, and --signed-in one that only users may see",
  run: (attempt) => attempt.control(),
};
