import { listUsers, profileNames, type Profile } from "../../../scim/profiles.ts";
import { idIn, resourcesIn } from "../../../scim/resource.ts";
import { isGood } from "../../../scim/sending.ts";
import { Problem } from "../../../client/check.ts";
import { unnoticed, works } from "../../frame/verdict.ts";
import type { Attempt, ScimCase } from "../attempt.ts";
import { answered } from "../judge.ts";
import { changeCases } from "./changes.ts";
import { createCases } from "./create.ts";
import { groupCases } from "./groups.ts";
import { leavingCases, rehire } from "./leaving.ts";
import { listEnvelope, lookupCases } from "./lookups.ts";
import { patchCases } from "./patches.ts";
import { otherTenant, protocolCases } from "./protocol.ts";
import { valueCases } from "./values.ts";

/** Every case but the control, and the case of pages. */

const pageSize = 100;
/** Two pages of 100, and one more. */
const many = 201;
/** Milliseconds for so many users, there and back. */
const waits = 240_000;
/** Other people's users may be in the list, too. */
const maxPages = 1000;

/** The ids of all users, page by page, and how many more there are by what the app says. */
async function listed(attempt: Attempt): Promise<{ readonly ids: readonly string[]; readonly more: number }> {
  const ids: string[] = [];
  let more = 0;
  for (let page = 0; page < maxPages; page += 1) {
    const reply = await attempt.ask(listUsers(ids.length + 1, pageSize));
    if (!isGood(reply)) throw new Problem(`a page of users cannot be read: the app ${answered(reply)}`);
    const found = resourcesIn(reply.json).map((one) => idIn(one) ?? "");
    ids.push(...found);
    const total = Number(reply.json?.["totalResults"]);
    if (found.length === 0) more = total - ids.length;
    if (found.length === 0 || ids.length >= total) break;
  }
  return { ids, more };
}

export const page: ScimCase = {
  name: "page",
  mustNot: "a user is on two pages, or on none",
  should: "list every user once, in an order that stays",
  paragraph: "RFC 7644 3.4.2.4",
  fix: "order the list by something that does not change, such as the id, before you cut pages out of it",
  waits,
  async run(attempt) {
    const made: string[] = [];
    const all = Array.from({ length: many }, (_, index) => index);
    await attempt.each(all, async () => made.push((await attempt.person()).id));
    const own = new Set(made);
    const lists = [await listed(attempt), await listed(attempt)] as const;
    const [first, second] = lists.map(({ ids }) => ids.filter((id) => own.has(id))) as [string[], string[]];
    const missing = made.filter((id) => !first.includes(id)).length;
    const twice = first.length - new Set(first).size;
    if (missing > 0 || twice > 0) {
      return unnoticed(`of ${many} users, ${missing} are on no page, and ${twice} are on two`);
    }
    // One who is on no page may be somebody else's.
    if (lists.every(({ more }) => more > 0)) {
      return unnoticed(`says that there are ${lists[0].more} users more than its pages have`);
    }
    return first.join("\n") === second.join("\n")
      ? works(`listed ${many} users once each`)
      : unnoticed("listed the users in another order the second time");
  },
};

const casesOf = (profile: Profile): readonly ScimCase[] => [
  ...lookupCases(profile),
  ...createCases(profile),
  ...changeCases(profile),
  ...patchCases(profile),
  rehire(profile),
  ...groupCases(profile),
];

/** In the order in which they run. */
export const allCases: readonly ScimCase[] = [
  ...protocolCases,
  listEnvelope,
  ...leavingCases,
  ...valueCases,
  ...profileNames.flatMap(casesOf),
  page,
  otherTenant,
];

/** The profiles that run where none is named. */
export const usualProfiles: readonly Profile[] = ["standard", "okta", "okta-put", "entra"];

/** A name without its profile: `deactivate` of `entra.deactivate`. */
export const plainName = (name: string): string => name.replace(/^.*\./s, "");
