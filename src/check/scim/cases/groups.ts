import { adviceFor, isGood } from "../../../scim/sending.ts";
import {
  createsWithMembers,
  deleteGroup,
  patchGroupName,
  patchMembers,
  putGroup,
  putsGroups,
  type Profile,
  type ScimRequest,
} from "../../../scim/profiles.ts";
import { idIn, membersIn, valueAt } from "../../../scim/resource.ts";
import { Problem } from "../../../client/check.ts";
import { cutBetween } from "../../../text/redacted.ts";
import {
  noticed,
  notReached,
  notRequired,
  unnoticed,
  works,
  type CaseText,
  type Finding,
} from "../../frame/verdict.ts";
import type { Attempt, ScimCase } from "../attempt.ts";
import { answered, failure, notDone } from "../judge.ts";

/** How a client keeps groups. After each change the members are read back. */

interface Group {
  readonly id: string;
  readonly name: string;
}

/** An app without groups. */
class NoGroups extends Error {}

/** The members of a group, as the app shows it. @throws {Problem} */
async function membersOf(attempt: Attempt, { id }: Group): Promise<readonly string[] | null> {
  const there = await attempt.readGroup(id);
  return there === null ? null : (membersIn(there) ?? []);
}

const sameMembers = (one: readonly string[] | null, other: readonly string[]): boolean =>
  one !== null && [...one].sort().join("\n") === [...other].sort().join("\n");

/** A new group with members, by the requests of the profile. @throws {Problem} where the app does not have it so afterwards */
async function groupWith(attempt: Attempt, members: readonly string[]): Promise<Group> {
  const { profile } = attempt;
  const name = attempt.newName();
  const reply = await attempt.postGroup(name, members);
  if (reply.status === 404 || reply.status === 501) throw new NoGroups(answered(reply));
  const id = isGood(reply) ? idIn(reply.json) : null;
  if (id === null) throw new Problem(`the app made no group for this case: it ${answered(reply)}`);
  const group = { id, name };
  if (!createsWithMembers(profile) && members.length > 0) {
    await attempt.ask(patchMembers(profile, id, { joining: members, leaving: [] }));
  }
  if (!sameMembers(await membersOf(attempt, group), members)) {
    throw new Problem("the app did not give the group of this case its members (see group-create and group-add)");
  }
  return group;
}

/** Sends other members by the requests of the profile. */
async function change(
  attempt: Attempt,
  { id, name }: Group,
  wanted: readonly string[],
  moves: { readonly joining: readonly string[]; readonly leaving: readonly string[] },
) {
  const { profile } = attempt;
  const request: ScimRequest = putsGroups(profile)
    ? putGroup(id, name, wanted, (await attempt.readGroup(id)) ?? {})
    : patchMembers(profile, id, moves);
  return [await attempt.ask(request), request] as const;
}

/** How many there are: "2 members". */
const count = (members: readonly string[] | null): string =>
  members === null ? "is gone" : `has ${members.length} ${members.length === 1 ? "member" : "members"}`;

/** What is wrong with a group after a change; null: nothing. */
async function wrongAfter(attempt: Attempt, group: Group, wanted: readonly string[], name = group.name) {
  const there = await attempt.readGroup(group.id);
  if (there === null) return "the group is gone";
  const members = membersIn(there) ?? [];
  if (!sameMembers(members, wanted)) return `the group ${count(members)}, and must have ${wanted.length}`;
  const shown = valueAt(there, "displayName");
  return shown === name ? null : `displayName reads back as ${cutBetween(JSON.stringify(shown ?? null), 100)}`;
}

/** @param basis the case without which this one says nothing */
const groupCase = (
  profile: Profile,
  { name, ...text }: CaseText,
  run: (attempt: Attempt) => Promise<Finding>,
  basis?: string,
): ScimCase => ({
  ...{ ...text, profile, name: `${profile}.${name}` },
  ...(basis !== undefined && { reads: [`${profile}.${basis}`] }),
  run: (attempt) =>
    (attempt.verdicts.get(`${profile}.${basis ?? ""}`) === "unnoticed"
      ? Promise.resolve(notReached(`nobody joins a group as must be (see ${basis ?? ""})`))
      : run(attempt)
    ).catch((error: unknown) => {
      if (error instanceof NoGroups) return notRequired(`has no groups: it ${error.message}`, "RFC 7643 6: optional");
      throw error;
    }),
});

const keep = "store the members of a group by the ids of users, one row for each";

const groupCreate = (profile: Profile): ScimCase =>
  groupCase(
    profile,
    {
      name: "group-create",
      mustNot: "a new group is not there, or has other members",
      should: createsWithMembers(profile) ? "store the group and its members" : "store the group",
      paragraph: "RFC 7644 3.3, RFC 7643 4.2",
      fix: keep,
    },
    async (attempt) => {
      const person = await attempt.person();
      const members = createsWithMembers(profile) ? [person.id] : [];
      const name = attempt.newName();
      const reply = await attempt.postGroup(name, members);
      if (reply.status === 404 || reply.status === 501) throw new NoGroups(answered(reply));
      const refused = notDone(reply, "answer 201 with the new group");
      if (refused !== null) return refused;
      const id = idIn(reply.json);
      if (id === null) return unnoticed(`${answered(reply)} without an id`);
      const wrong = await wrongAfter(attempt, { id, name }, members);
      return wrong === null ? works("created the group") : unnoticed(`${answered(reply)}, and ${wrong}`);
    },
  );

const groupAdd = (profile: Profile): ScimCase =>
  groupCase(
    profile,
    {
      name: "group-add",
      mustNot: "a user who joins a group is not in it, or others have left",
      should: "add the member, and keep the others",
      paragraph: "RFC 7644 3.5.2.1",
      fix: "add puts the members to those who are there; only replace takes their place",
    },
    async (attempt) => {
      const [one, other] = [await attempt.person(), await attempt.person()];
      const group = await groupWith(attempt, [one.id]);
      const both = [one.id, other.id];
      const [reply, request] = await change(attempt, group, both, { joining: [other.id], leaving: [] });
      const refused = notDone(reply, adviceFor(request));
      if (refused !== null) return refused;
      const wrong = await wrongAfter(attempt, group, both);
      return wrong === null ? works("added the member") : unnoticed(`${answered(reply)}, and ${wrong}`);
    },
  );

const groupAddTwice = (profile: Profile): ScimCase =>
  groupCase(
    profile,
    {
      name: "group-add-twice",
      mustNot: "a member who joins again is there twice, or others have left",
      should: "keep every member once",
      paragraph: "RFC 7644 3.5.2.1",
      fix: "give group and user together a unique index, and answer 2xx where the member is there",
    },
    async (attempt) => {
      const [one, other] = [await attempt.person(), await attempt.person()];
      const both = [one.id, other.id];
      const group = await groupWith(attempt, both);
      const [reply] = await change(attempt, group, [...both, other.id], { joining: [other.id], leaving: [] });
      const failed = failure(reply);
      if (failed !== null) return failed;
      const wrong = await wrongAfter(attempt, group, both);
      if (wrong !== null) return unnoticed(`${answered(reply)}, and ${wrong}`);
      return isGood(reply)
        ? works("kept the member once")
        : notRequired(`kept the member once, and ${answered(reply)}`, "RFC 7644 3.5.2.1: success SHOULD be returned");
    },
    "group-add",
  );

const groupUnknownMember = (profile: Profile): ScimCase =>
  groupCase(
    profile,
    {
      name: "group-unknown-member",
      mustNot: "somebody who does not exist is a member",
      should: "refuse a member who does not exist, and keep the others",
      paragraph: "RFC 7643 4.2, RFC 7644 3.12",
      fix: "look every member up before you store it, and answer 400 invalidValue",
    },
    async (attempt) => {
      const [one, gone] = [await attempt.person(), await attempt.person()];
      // An id of the kind that the app makes; where it removes nobody, one that it never made.
      const id = (await attempt.remove(gone.id)) === null ? gone.id : attempt.newName();
      const group = await groupWith(attempt, [one.id]);
      const [reply] = await change(attempt, group, [one.id, id], { joining: [id], leaving: [] });
      const failed = failure(reply);
      if (failed !== null) return failed;
      const wrong = await wrongAfter(attempt, group, [one.id]);
      if (wrong !== null) return unnoticed(`${answered(reply)}, and ${wrong}`);
      return isGood(reply)
        ? notRequired(`left the member out: it ${answered(reply)}`, "RFC 7644 3.5.2: the answer may say so")
        : noticed(`refused the member: it ${answered(reply)}`);
    },
    "group-add",
  );

const groupRemove = (profile: Profile): ScimCase =>
  groupCase(
    profile,
    {
      name: "group-remove",
      mustNot: "a user who leaves a group is still in it, or others have left",
      should: "remove the member, and keep the others",
      paragraph: "RFC 7644 3.5.2.2",
      fix:
        profile === "entra"
          ? 'remove with the path members takes away those of its value, as Entra ID sends it: [{ "value": "…" }]'
          : 'read the path members[value eq "…"]: the filter chooses who leaves',
    },
    async (attempt) => {
      const [one, other] = [await attempt.person(), await attempt.person()];
      const group = await groupWith(attempt, [one.id, other.id]);
      const [reply, request] = await change(attempt, group, [one.id], { joining: [], leaving: [other.id] });
      const refused = notDone(reply, adviceFor(request));
      if (refused !== null) return refused;
      const wrong = await wrongAfter(attempt, group, [one.id]);
      return wrong === null ? works("removed the member") : unnoticed(`${answered(reply)}, and ${wrong}`);
    },
  );

const groupRename = (profile: Profile): ScimCase =>
  groupCase(
    profile,
    {
      name: "group-rename",
      mustNot: "a renamed group keeps its name, or loses members",
      should: "store the new displayName, and keep the members",
      paragraph: "RFC 7644 3.5.2.3",
      fix: "set the displayName alone: members stay as they are where a request does not name them",
    },
    async (attempt) => {
      const { id: member } = await attempt.person();
      const group = await groupWith(attempt, [member]);
      const name = attempt.newName();
      const request = putsGroups(profile)
        ? putGroup(group.id, name, [member], (await attempt.readGroup(group.id)) ?? {})
        : patchGroupName(profile, group.id, name);
      const reply = await attempt.ask(request);
      const refused = notDone(reply, adviceFor(request));
      if (refused !== null) return refused;
      const wrong = await wrongAfter(attempt, group, [member], name);
      return wrong === null ? works("renamed the group") : unnoticed(`${answered(reply)}, and ${wrong}`);
    },
  );

const groupDelete = (profile: Profile): ScimCase =>
  groupCase(
    profile,
    {
      name: "group-delete",
      mustNot: "a removed group is still there, or its members are gone with it",
      should: "remove the group, and keep its members and other groups",
      paragraph: "RFC 7644 3.6",
      fix: "answer 204, and remove the group alone",
    },
    async (attempt) => {
      const person = await attempt.person();
      const [group, other] = [await groupWith(attempt, [person.id]), await groupWith(attempt, [person.id])];
      const reply = await attempt.ask(deleteGroup(group.id));
      const refused = notDone(reply, "answer 204 to DELETE of a group");
      if (refused !== null) return refused;
      if ((await attempt.readGroup(group.id)) !== null) return unnoticed(`${answered(reply)}, and the group is there`);
      if ((await attempt.read(person.id)) === null) return unnoticed("removed the members with the group");
      const wrong = await wrongAfter(attempt, other, [person.id]);
      return wrong === null ? works("removed the group") : unnoticed(`${answered(reply)}, and of another one ${wrong}`);
    },
  );

export const groupCases = (profile: Profile): readonly ScimCase[] => [
  groupCreate(profile),
  groupAdd(profile),
  // Nobody replaces the members by a list that names one twice.
  ...(putsGroups(profile) ? [] : [groupAddTwice(profile)]),
  groupUnknownMember(profile),
  groupRemove(profile),
  groupRename(profile),
  groupDelete(profile),
];
