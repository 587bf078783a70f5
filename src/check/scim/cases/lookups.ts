import { isGood } from "../../../scim/sending.ts";
import { listUsers, lookUpUser, type Profile } from "../../../scim/profiles.ts";
import { idIn, resourcesIn, valueAt, type Resource } from "../../../scim/resource.ts";
import { cutBetween } from "../../../text/redacted.ts";
import { noticed, notReached, notRequired, unnoticed, works, type Finding } from "../../frame/verdict.ts";
import type { Reply } from "../../shared/scim-server.ts";
import type { Attempt, ScimCase } from "../attempt.ts";
import { answered, failure, notDone } from "../judge.ts";
import { isDeactivated } from "./changes.ts";

/** How a client finds a user. An app that does not read the filter answers with everybody, so others are there, too. */

const answerList = "answer a filter with a ListResponse: totalResults and Resources";

const readFilter = {
  mustNot: "a lookup answers with users who do not match",
  fix: "read the parameter filter: a client takes whoever it finds for the user it looks for",
};

/** Who was found; or why that is not known. */
type Found = readonly Resource[] | Finding;

/** Looks users up by an attribute. */
async function lookUp(attempt: Attempt, value: string, attribute?: string): Promise<Found> {
  const reply = await attempt.ask(lookUpUser(attempt.profile, value, attribute));
  if (reply.status === 404) return [];
  return isGood(reply) ? resourcesIn(reply.json) : (notDone(reply, answerList) ?? notReached(answered(reply)));
}

/** The ids of the users who have a name. */
export async function idsNamed(attempt: Attempt, userName: string): Promise<readonly string[] | Finding> {
  const found = await lookUp(attempt, userName);
  if ("verdict" in found) return found;
  const same = (one: unknown): boolean => String(one).toLowerCase() === userName.toLowerCase();
  return found.filter((one) => same(valueAt(one, "userName"))).map((one) => idIn(one) ?? "");
}

/** A finding where a lookup found others as well; null: it did not. */
function othersIn(found: readonly Resource[], id: string): Finding | null {
  const others = found.filter((one) => idIn(one) !== id).length;
  return others === 0 ? null : unnoticed(`found ${found.length} users, and ${others} of them do not match`, readFilter);
}

const twoOthers = async (attempt: Attempt): Promise<void> => {
  await attempt.person();
  await attempt.person();
};

const lookupNone = (profile: Profile): ScimCase => ({
  ...{ profile, name: `${profile}.lookup-none` },
  mustNot: "a lookup finds somebody where nobody has the name",
  should: "answer 200 with totalResults 0",
  paragraph: "RFC 7644 3.4.2",
  fix: answerList,
  async run(attempt) {
    await twoOthers(attempt);
    const reply = await attempt.ask(lookUpUser(profile, attempt.newAddress()));
    if (reply.status === 404) return notRequired("answered 404", "RFC 7644 3.4.2.1: 200 is usual");
    if (!isGood(reply)) return notDone(reply, answerList) ?? notReached(answered(reply));
    const total = reply.json?.["totalResults"];
    if (total === 0 && resourcesIn(reply.json).length === 0) return works("answered 200 with totalResults 0");
    const shown = total === undefined ? "no totalResults" : `totalResults ${cutBetween(JSON.stringify(total), 100)}`;
    return unnoticed(`answered 200 with ${shown}`, readFilter);
  },
});

const lookupCase = (profile: Profile): ScimCase => ({
  ...{ profile, name: `${profile}.lookup-case` },
  mustNot: "a user is not found by a userName in another case",
  should: "find the user alone: userName is not case-exact",
  paragraph: "RFC 7643 4.1.1",
  fix: "compare userName without its case, as with lower(user_name) = lower($1)",
  async run(attempt) {
    await twoOthers(attempt);
    const { id, userName } = await attempt.person();
    const found = await lookUp(attempt, userName.toUpperCase());
    if ("verdict" in found) return found;
    const others = othersIn(found, id);
    if (others !== null) return others;
    if (found.length > 0) return works("found the user by a name in another case");
    const exact = await lookUp(attempt, userName);
    if ("verdict" in exact) return exact;
    return exact.some((one) => idIn(one) === id)
      ? unnoticed("found the user only by a name in the same case")
      : unnoticed("did not find the user by its userName at all", { fix: answerList });
  },
});

const lookupQuote = (profile: Profile): ScimCase => ({
  ...{ profile, name: `${profile}.lookup-quote` },
  mustNot: "a quotation mark in a name ends the value of a filter",
  should: 'find the user: \\" is a quotation mark in a value',
  paragraph: "RFC 7644 3.4.2.2",
  fix: "read the value of a filter as JSON, and hand it to the database as a parameter",
  async run(attempt) {
    await twoOthers(attempt);
    // To an app that ends the value there, the rest matches everybody.
    const name = `${attempt.newName()}" or userName pr or userName eq "x`;
    const made = await attempt.post(attempt.attributes({ userName: name }));
    const failed = failure(made);
    if (failed !== null) return failed;
    const id = isGood(made) ? idIn(made.json) : null;
    const there = id === null ? null : await attempt.read(id);
    const isKept = there !== null && String(valueAt(there, "userName")).toLowerCase() === name.toLowerCase();
    const reply = await attempt.ask(lookUpUser(profile, name));
    const crashed = failure(reply);
    if (crashed !== null) return crashed;
    const found = isGood(reply) ? resourcesIn(reply.json) : [];
    const others = found.filter((one) => idIn(one) !== id).length;
    if (others > 0) return unnoticed(`found ${others} users who do not have the name`, readFilter);
    if (!isKept) return notReached(`the app takes no userName with a quotation mark: it ${answered(made)}`);
    return found.length === 1 ? works("found the user") : unnoticed(`did not find the user: it ${answered(reply)}`);
  },
});

const lookupExternal = (profile: Profile): ScimCase => ({
  ...{ profile, name: `${profile}.lookup-external` },
  mustNot: "a user is not found by its externalId",
  should: "find the user alone, or answer 400 invalidFilter",
  paragraph: "RFC 7643 3.1, RFC 7644 3.4.2.2",
  fix: "let the filter externalId eq find the user whom the directory created with it",
  async run(attempt) {
    await twoOthers(attempt);
    const { id, attributes } = await attempt.person();
    const reply = await attempt.ask(lookUpUser(profile, String(attributes["externalId"]), "externalId"));
    if (reply.status === 400) {
      return notRequired(`refused the filter: it ${answered(reply)}`, "RFC 7644 3.4.2.2: invalidFilter");
    }
    if (!isGood(reply) && reply.status !== 404) return notDone(reply, answerList) ?? notReached(answered(reply));
    const found = isGood(reply) ? resourcesIn(reply.json) : [];
    const others = othersIn(found, id);
    if (others !== null) return others;
    if (found.length > 0) return works("found the user by its externalId");
    const there = await attempt.read(id);
    return there !== null && valueAt(there, "externalId") === undefined
      ? notRequired("does not keep externalId", "RFC 7643 3.1: optional")
      : unnoticed("did not find the user by its externalId");
  },
});

const lookupInactive = (profile: Profile): ScimCase => ({
  ...{ profile, name: `${profile}.lookup-inactive` },
  mustNot: "a deactivated user is not found",
  should: "find the user, with active: false",
  paragraph: "RFC 7643 4.1.1, RFC 7644 3.4.2",
  fix: "let filters find deactivated users, too: the directory reactivates them by the id it finds",
  async run(attempt) {
    await twoOthers(attempt);
    const person = await attempt.person();
    const { id, userName } = person;
    if (!(await isDeactivated(attempt, person)))
      return notReached("the app did not deactivate the user (see deactivate)");
    const found = await lookUp(attempt, userName);
    if ("verdict" in found) return found;
    const others = othersIn(found, id);
    if (others !== null) return others;
    const [one] = found;
    if (one === undefined) return unnoticed("did not find the deactivated user");
    const active = valueAt(one, "active");
    return active === false
      ? works("found the user, inactive")
      : unnoticed(`found the user with active ${cutBetween(JSON.stringify(active ?? null), 100)}`);
  },
});

const listSchema = "urn:ietf:params:scim:api:messages:2.0:ListResponse";

/** What is wrong with a list, and what is a remark. @param isPart whether a part of the list was asked for */
function faultsOf({ json }: Reply, isPart: boolean): { readonly wrong: readonly string[]; readonly remark: string } {
  const list = json ?? {};
  const total = list["totalResults"];
  const found = resourcesIn(json);
  const counts = ["startIndex", "itemsPerPage"].filter((name) => typeof list[name] !== "number");
  const isCut = isPart && typeof total === "number" && found.length < total;
  return {
    wrong: [
      ...([list["schemas"]].flat().includes(listSchema) ? [] : [`schemas does not have ${listSchema}`]),
      ...(typeof total === "number" ? [] : ["totalResults is not a number"]),
      ...(total !== 0 && !Array.isArray(list["Resources"]) ? ["Resources is missing"] : []),
      ...(isCut && counts.length > 0 ? [`of a part of the list, ${counts.join(" and ")} is missing`] : []),
    ],
    remark: [
      ...(!isCut && counts.length > 0 ? [`without ${counts.join(" and ")}`] : []),
      ...(found.some((one) => typeof valueAt(one, "id") !== "string") ? ["an id is not a string (RFC 7643 3.1)"] : []),
    ].join("; "),
  };
}

export const listEnvelope: ScimCase = {
  name: "list-envelope",
  mustNot: "a list is not the ListResponse that clients read",
  should:
    "answer with schemas, totalResults as a number, Resources and, of a part of the list, startIndex and itemsPerPage",
  paragraph: "RFC 7644 3.4.2",
  fix: `answer { "schemas": ["${listSchema}"], "totalResults": 1, "startIndex": 1, "itemsPerPage": 1, "Resources": [ … ] }`,
  async run(attempt) {
    const { userName } = await attempt.person();
    await attempt.person();
    const remarks = new Set<string>();
    let lists = 0;
    for (const [request, isPart] of [
      [lookUpUser("standard", userName), false],
      [lookUpUser("standard", attempt.newAddress()), false],
      [listUsers(1, 1), true],
    ] as const) {
      const reply = await attempt.ask(request);
      if (reply.status === 404) continue;
      if (!isGood(reply)) return notDone(reply, answerList) ?? notReached(answered(reply));
      lists += 1;
      const { wrong, remark } = faultsOf(reply, isPart);
      if (wrong.length > 0) return unnoticed(`${answered(reply)}, and ${wrong.join(", ")}`);
      if (remark !== "") remarks.add(remark);
    }
    if (lists === 0) return notReached("the app answered no list: it answered 404 to each");
    return noticed(["answered lists as ListResponse", ...remarks].join("; "));
  },
};

export const lookupCases = (profile: Profile): readonly ScimCase[] => [
  lookupNone(profile),
  lookupCase(profile),
  lookupQuote(profile),
  lookupExternal(profile),
  lookupInactive(profile),
];
