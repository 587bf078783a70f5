import { detailOf, isGood, reasonOf } from "../../scim/sending.ts";
import type { Reply } from "../shared/scim-server.ts";
import { notReached, unnoticed, type Finding } from "../frame/verdict.ts";

/** What an answer of the app says, in words that follow "the app". */

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
