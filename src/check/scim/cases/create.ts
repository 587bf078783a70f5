import { isGood } from "../../../scim/sending.ts";
import { deleteUser, type Profile } from "../../../scim/profiles.ts";
import { attributesIn, idIn, valueAt } from "../../../scim/resource.ts";
import { cutBetween } from "../../../text/redacted.ts";
import { noticed, notReached, notRequired, unnoticed, works, type Finding } from "../../frame/verdict.ts";
import type { Attempt, ScimCase } from "../attempt.ts";
import { answered, failure, notDone } from "../judge.ts";
import { idsNamed } from "./lookups.ts";

/** How a client creates a user. */

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
  should: "answer 409, with scimType uniqueness",
  paragraph: "RFC 7644 3.3, RFC 7643 4.1.1",
  fix: "give userName a unique index, and turn its error into 409 uniqueness",
  async run(attempt) {
    const { id, attributes } = await attempt.person();
    const reply = await attempt.post(attributes);
    if (isGood(reply)) {
      if (idIn(reply.json) === id) return unnoticed(`${answered(reply)} with the first user, and must answer 409`);
      attempt.known.takesNamesTwice = true;
      return unnoticed(`created a second user: it ${answered(reply)}`);
    }
    const failed = failure(reply);
    if (failed !== null) return failed;
    if (reply.status !== 409) return unnoticed(`${answered(reply)}, and must answer 409`);
    return reply.json?.["scimType"] === "uniqueness"
      ? noticed("answered 409 uniqueness")
      : noticed("answered 409; without scimType uniqueness (RFC 7644 3.12)");
  },
});

const createRepeated = (profile: Profile): ScimCase => ({
  ...{ profile, name: `${profile}.create-repeated` },
  mustNot: "a user is there twice after an answer was lost",
  should: "have one user where the same is sent again while the first request is still under way",
  paragraph: "RFC 7644 3.3, RFC 7643 4.1.1",
  fix: "let a unique index of the database decide: what is looked up before it is inserted may be inserted twice",
  reads: [`${profile}.create-twice`],
  async run(attempt) {
    if (attempt.known.takesNamesTwice) {
      return notReached("the app takes a second user of the same name at any time (see create-twice)");
    }
    const attributes = attempt.attributes();
    // A client that lost the answer does not know whether the app is still at work.
    const replies = await Promise.all([attempt.post(attributes), attempt.post(attributes)]);
    const refused = replies.every((reply) => !isGood(reply)) ? notDone(replies[0], "answer 201 to one of them") : null;
    if (refused !== null) return refused;
    const found = await idsNamed(attempt, String(attributes["userName"]));
    if ("verdict" in found) return found;
    const ids = new Set([...found, ...replies.flatMap((reply) => (isGood(reply) ? (idIn(reply.json) ?? []) : []))]);
    if (ids.size === 1 && found.length === 1) return noticed("has the user once");
    return unnoticed(
      found.length === 0 ? "does not find the user by its userName" : `has ${ids.size} users of this name`,
    );
  },
});

const createId = (profile: Profile): ScimCase => ({
  ...{ profile, name: `${profile}.create-id` },
  mustNot: "an id in the body of a new user takes the place of somebody else",
  should: "ignore the id of the body, and choose one",
  paragraph: "RFC 7643 3.1",
  fix: "choose the id in the app, and insert: never insert or update by an id of the body",
  async run(attempt) {
    const other = await attempt.person();
    const reply = await attempt.post(attempt.attributes({ id: other.id }));
    const there = await attempt.read(other.id);
    if (there === null) return unnoticed(`${answered(reply)}, and the user who had that id is gone`);
    if (String(valueAt(there, "userName")).toLowerCase() !== other.userName.toLowerCase()) {
      return unnoticed(`${answered(reply)}, and overwrote the user who had that id`);
    }
    const isRefused = reply.status === 400 || reply.status === 409;
    const refused = isRefused ? null : notDone(reply, "ignore the member id of a new resource: it is readOnly");
    if (refused !== null) return refused;
    const id = idIn(reply.json);
    if (!isRefused && (id === null || id === other.id)) {
      return unnoticed(`${answered(reply)} with ${id === null ? "no id" : "the id of another user"}`);
    }
    const taken = await takesFreeId(attempt);
    if (taken !== null) return taken;
    return isRefused
      ? notRequired(`refused it: ${answered(reply)}`)
      : noticed("chose an id, and kept the user who had that one");
  },
});

/** An app that refuses the id of somebody else, because it is taken, may take one that is free. @returns null: it does not */
async function takesFreeId(attempt: Attempt): Promise<Finding | null> {
  const gone = await attempt.person();
  // An id of the kind that the app makes; where it removes nobody, one that it never made.
  const free = (await attempt.remove(gone.id)) === null ? gone.id : attempt.newName();
  const reply = await attempt.post(attempt.attributes({ id: free }));
  if (isGood(reply) && idIn(reply.json) === free) {
    return unnoticed(`${answered(reply)} with the id of the body`, {
      mustNot: "whoever creates a user chooses its id",
    });
  }
  return failure(reply);
}

const createInactive = (profile: Profile): ScimCase => ({
  ...{ profile, name: `${profile}.create-inactive` },
  mustNot: "a user who is sent as inactive is active",
  should: "keep active: false of a new user",
  paragraph: "RFC 7643 4.1.1, RFC 7644 3.3",
  fix: "set the state of a new user from active, too",
  async run(attempt) {
    const reply = await attempt.post(attempt.attributes({ active: false }));
    const refused = notDone(reply, "accept active: false of a new user");
    if (refused !== null) return refused;
    const id = idIn(reply.json);
    const there = id === null ? null : await attempt.read(id);
    if (there === null) return unnoticed(`${answered(reply)}, and there is no such user`);
    const shown = valueAt(there, "active");
    return shown === false
      ? works("created the user inactive")
      : unnoticed(`${answered(reply)}, and active reads back as ${cutBetween(JSON.stringify(shown ?? null), 100)}`);
  },
});

const createAgain = (profile: Profile): ScimCase => ({
  ...{ profile, name: `${profile}.create-again` },
  mustNot: "somebody who was removed cannot be created again",
  should: "answer 201 to a userName that a removed user had",
  paragraph: "RFC 7644 3.6",
  fix: "let the unique index of userName leave removed users out",
  async run(attempt) {
    const { id, attributes } = await attempt.person();
    const removed = await attempt.ask(deleteUser(id));
    if (!isGood(removed) || (await attempt.read(id)) !== null) {
      return notReached("the app did not remove a user (see delete)");
    }
    const reply = await attempt.post(attributes);
    if (reply.status === 409) return notRequired(answered(reply), "RFC 7644 3.6: a server may keep removed users");
    const refused = notDone(reply, "answer 201 to a userName that nobody has any more");
    if (refused !== null) return refused;
    const made = idIn(reply.json);
    return made === null || (await attempt.read(made)) === null
      ? unnoticed(`${answered(reply)}, and there is no such user`)
      : works("created the user again");
  },
});

export const createCases = (profile: Profile): readonly ScimCase[] => [
  create(profile),
  createTwice(profile),
  createRepeated(profile),
  createId(profile),
  createInactive(profile),
  createAgain(profile),
];
