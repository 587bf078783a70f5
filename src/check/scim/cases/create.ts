import { isGood } from "../../../scim/sending.ts";
import { lookUpUser, type Profile } from "../../../scim/profiles.ts";
import { attributesIn, idIn, resourcesIn, valueAt } from "../../../scim/resource.ts";
import { noticed, notReached, notRequired, unnoticed, works, type Finding } from "../../frame/verdict.ts";
import { answered, failure, notDone, type Attempt } from "../attempt.ts";
import type { ScimCase } from "../run.ts";

/** How a client finds a user, and creates one. */

const answerList = "answer a filter with a ListResponse: totalResults and Resources";

/** The ids of the users who have a name, by a lookup; or why that is not known. */
async function lookUp(attempt: Attempt, userName: string): Promise<readonly string[] | Finding> {
  const reply = await attempt.ask(lookUpUser(attempt.profile, userName));
  if (reply.status === 404) return [];
  if (!isGood(reply)) return notDone(reply, answerList) ?? notReached(answered(reply));
  const same = (one: unknown): boolean => String(one).toLowerCase() === userName.toLowerCase();
  return resourcesIn(reply.json)
    .filter((one) => same(valueAt(one, "userName")))
    .map((one) => idIn(one) ?? "");
}

const isFinding = (found: readonly string[] | Finding): found is Finding => "verdict" in found;

const lookupNone = (profile: Profile): ScimCase => ({
  ...{ profile, name: `${profile}.lookup-none` },
  mustNot: "a lookup finds somebody where nobody has the name",
  should: "answer 200 with totalResults 0",
  paragraph: "RFC 7644 3.4.2",
  fix: answerList,
  async run(attempt) {
    const reply = await attempt.ask(lookUpUser(profile, attempt.newAddress()));
    if (reply.status === 404) return notRequired("answered 404", "RFC 7644 3.4.2.1: 200 is usual");
    if (!isGood(reply)) return notDone(reply, answerList) ?? notReached(answered(reply));
    const total = reply.json?.["totalResults"];
    if (total === 0 && resourcesIn(reply.json).length === 0) return works("answered 200 with totalResults 0");
    const shown = total === undefined ? "no totalResults" : `totalResults ${JSON.stringify(total).slice(0, 100)}`;
    return unnoticed(`answered 200 with ${shown}`, {
      fix: "read the parameter filter: a client takes whoever it finds for the user it looks for",
    });
  },
});

const lookupCase = (profile: Profile): ScimCase => ({
  ...{ profile, name: `${profile}.lookup-case` },
  mustNot: "a user is not found by a userName in another case",
  should: "find the user: userName is not case-exact",
  paragraph: "RFC 7643 4.1.1",
  fix: "compare userName without its case, as with lower(user_name) = lower($1)",
  async run(attempt) {
    const { id, userName } = await attempt.person();
    const found = await lookUp(attempt, userName.toUpperCase());
    if (isFinding(found)) return found;
    if (found.includes(id)) return works("found the user by a name in another case");
    const exact = await lookUp(attempt, userName);
    if (isFinding(exact)) return exact;
    return exact.includes(id)
      ? unnoticed("found the user only by a name in the same case")
      : unnoticed("did not find the user by its userName at all", { fix: answerList });
  },
});

/** The attributes that an app may leave out; the others it has to have. */
const optional = (path: string): boolean => path !== "userName" && path !== "active";

const create = (profile: Profile): ScimCase => ({
  ...{ profile, name: `${profile}.create` },
  mustNot: "a new user is not there, or is another one than was sent",
  should: "answer 201 with id and Location, and have the user",
  paragraph: "RFC 7644 3.3",
  fix: "answer 201 with the new resource, its id, and its address in Location and meta.location",
  async run(attempt) {
    const attributes = attempt.attributes();
    const reply = await attempt.post(attributes);
    const refused = notDone(reply, "answer 201 with the new resource");
    if (refused !== null) return refused;
    const id = idIn(reply.json);
    if (reply.status !== 201) return unnoticed(`answered ${reply.status}, and must answer 201`);
    if (id === null) return unnoticed("answered 201 without an id");
    const inBody = valueAt(reply.json ?? {}, "meta.location");
    if (reply.location === null && typeof inBody !== "string") {
      return unnoticed("answered 201 with neither Location nor meta.location");
    }
    const there = await attempt.read(id);
    if (there === null) return unnoticed("answered 201, and there is no such user");
    const shown = attributesIn(there, Object.keys(attributes));
    const other = Object.keys(attributes).filter(
      (path) => String(shown[path]).toLowerCase() !== String(attributes[path]).toLowerCase(),
    );
    const wrong = other.filter((path) => !optional(path));
    if (wrong.length > 0) return unnoticed(`answered 201, and the user has another ${wrong.join(" and ")}`);
    const remarks = [
      ...(reply.location === null ? ["without the header Location (RFC 7644 3.3)"] : []),
      ...(other.length === 0 ? [] : [`it does not keep ${other.join(", ")}`]),
    ];
    return works(["created the user", ...remarks].join("; "));
  },
});

const createTwice = (profile: Profile): ScimCase => ({
  ...{ profile, name: `${profile}.create-twice` },
  mustNot: "a second user gets the same userName",
  should: "answer 409 with scimType uniqueness",
  paragraph: "RFC 7644 3.3, RFC 7643 4.1.1",
  fix: "give userName a unique index, and turn its error into 409 uniqueness",
  async run(attempt) {
    const { id, attributes } = await attempt.person();
    const reply = await attempt.post(attributes);
    if (isGood(reply)) {
      return idIn(reply.json) === id
        ? unnoticed(`${answered(reply)} with the first user, and must answer 409`)
        : unnoticed(`created a second user: it ${answered(reply)}`);
    }
    const failed = failure(reply);
    if (failed !== null) return failed;
    if (reply.status !== 409) return unnoticed(`${answered(reply)}, and must answer 409`);
    return reply.json?.["scimType"] === "uniqueness"
      ? noticed("answered 409 uniqueness")
      : unnoticed("answered 409 without scimType uniqueness");
  },
});

const createRepeated = (profile: Profile): ScimCase => ({
  ...{ profile, name: `${profile}.create-repeated` },
  mustNot: "a user is there twice after an answer was lost",
  should: "have one user where the same is sent again while the first request is still under way",
  paragraph: "RFC 7644 3.3, RFC 7643 4.1.1",
  fix: "let a unique index of the database decide: what is looked up before it is inserted may be inserted twice",
  async run(attempt) {
    if (attempt.verdicts.get(`${profile}.create-twice`) === "unnoticed") {
      return notReached("the app takes a second user of the same name at any time (see create-twice)");
    }
    const attributes = attempt.attributes();
    // A client that lost the answer does not know whether the app is still at work.
    const replies = await Promise.all([attempt.post(attributes), attempt.post(attributes)]);
    const refused = replies.every((reply) => !isGood(reply)) ? notDone(replies[0], "answer 201 to one of them") : null;
    if (refused !== null) return refused;
    const found = await lookUp(attempt, String(attributes["userName"]));
    if (isFinding(found)) return found;
    const ids = new Set([...found, ...replies.flatMap((reply) => (isGood(reply) ? (idIn(reply.json) ?? []) : []))]);
    if (ids.size === 1 && found.length === 1) return noticed("has the user once");
    return unnoticed(
      found.length === 0 ? "does not find the user by its userName" : `has ${ids.size} users of this name`,
    );
  },
});

export const createCases = (profile: Profile): readonly ScimCase[] => [
  lookupNone(profile),
  lookupCase(profile),
  create(profile),
  createTwice(profile),
  createRepeated(profile),
];
