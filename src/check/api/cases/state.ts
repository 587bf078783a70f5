import { notRequired, type Case, type Finding } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import { answered, judged, letsIn, unauthorizedOrForbidden } from "../judge.ts";

/** What ended at the provider. Only an API that asks it can know. */

async function afterEnd(attempt: Attempt, end: () => Promise<void>): Promise<Finding> {
  const token = await attempt.token();
  await end();
  const mark = await attempt.control.mark();
  const reply = await attempt.send(token);
  if (letsIn(reply) && (await attempt.control.asked(mark)).length === 0) {
    return notRequired(
      `let it in (${answered(reply)}): the API verifies tokens itself and called neither introspection nor UserInfo`,
      "RFC 7009 3: a token that an API verifies by itself stays valid until it expires",
    );
  }
  return judged(reply, unauthorizedOrForbidden);
}

const base = {
  should: "answer 401 or 403, if it asks the provider",
  paragraph: "RFC 7662 2.2, RFC 9700 2.2",
};

export const revoked: Case<Attempt> = {
  ...base,
  name: "revoked",
  mustNot: "a token of a revoked grant lets a request in",
  fix: "refuse where introspection says active: false, or UserInfo answers 401 or 403",
  run: (attempt) => afterEnd(attempt, () => attempt.control.revoke()),
};

export const userSuspended: Case<Attempt> = {
  ...base,
  name: "user-suspended",
  mustNot: "a token of a suspended user lets a request in",
  fix: "refuse where introspection says active: false, or UserInfo answers 401 or 403",
  async run(attempt) {
    try {
      return await afterEnd(attempt, () => attempt.control.suspend());
    } finally {
      await attempt.control.restore();
    }
  },
};
