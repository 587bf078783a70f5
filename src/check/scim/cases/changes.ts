import { adviceFor } from "../../../scim/sending.ts";
import {
  lookUpUser,
  patchActive,
  patchUser,
  putUser,
  putsActive,
  putsUsers,
  type Profile,
  type ScimRequest,
} from "../../../scim/profiles.ts";
import { enterpriseSchema, managerPath, workEmail } from "../../../scim/paths.ts";
import { attributesIn, idIn, resourcesIn, valueAt, type Attributes } from "../../../scim/resource.ts";
import { cutBetween } from "../../../text/redacted.ts";
import { notReached, notRequired, unnoticed, works, type Finding } from "../../frame/verdict.ts";
import type { Reply } from "../../shared/scim-server.ts";
import type { Attempt, Person, ScimCase } from "../attempt.ts";
import { answered, failure, notDone } from "../judge.ts";

/** How a client changes a user. Each change is read back, and so is what it must leave as it was. */

/** Sends a change. @returns the answer, and the request that changes */
type Send = (attempt: Attempt, person: Person, change: Attributes) => Promise<readonly [Reply, ScimRequest]>;

const asked = async (attempt: Attempt, request: ScimRequest): Promise<readonly [Reply, ScimRequest]> => [
  await attempt.ask(request),
  request,
];

/** Reads, then replaces the whole user. */
const sendPut: Send = async (attempt, { id, attributes }, change) =>
  asked(attempt, putUser(id, { ...attributes, ...change }, (await attempt.read(id)) ?? {}));

/** By the requests of the profile. */
const sendUpdate: Send = (attempt, person, change) => {
  const { profile } = attempt;
  if (putsUsers(profile)) return sendPut(attempt, person, change);
  return asked(
    attempt,
    patchUser(profile, person.id, change, { changed: Object.keys(change), removed: [], entries: [] }),
  );
};

/** @param value in place of how the profile writes the truth value */
export const sendActive =
  (active: boolean, value?: unknown): Send =>
  (attempt, person) =>
    putsActive(attempt.profile)
      ? sendPut(attempt, person, { active })
      : asked(attempt, patchActive(attempt.profile, person.id, active, value));

/** Deactivates a user. @returns whether it is there, and inactive */
export async function isDeactivated(attempt: Attempt, person: Person): Promise<boolean> {
  await sendActive(false, false)(attempt, person, {});
  const there = await attempt.read(person.id);
  return there !== null && valueAt(there, "active") === false;
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Some apps keep a manager as Entra ID sends it: the id alone. */
const isStored = (path: string, shown: unknown, sent: unknown): boolean =>
  same(path === managerPath && typeof shown === "string" ? { value: shown } : shown, sent);

const names = (paths: readonly string[]): string =>
  paths.map((path) => path.replace(`${enterpriseSchema}:`, "")).join(" and ");

/** What of a user is not as it must be. */
interface Compared {
  /** Its attributes before. */
  readonly before: Attributes;
  /** What was changed. */
  readonly change: Attributes;
  /** Paths that an app may derive from those that change. */
  readonly derived?: readonly string[];
  /** Paths that the app did not keep when it created the user. */
  readonly absent?: readonly string[];
}

/** Reads a user back. @param reply what the app said of the change */
export async function readBack(
  attempt: Attempt,
  { id }: Person,
  reply: Reply,
  { before, change, derived = [], absent = [] }: Compared,
): Promise<Finding> {
  const there = await attempt.read(id);
  if (there === null) return unnoticed(`${answered(reply)}, and the user is gone`);
  const after = attributesIn(there, [...new Set([...Object.keys(before), ...Object.keys(change)])]);
  const missed = Object.keys(change).filter((path) => !isStored(path, after[path], change[path]));
  if (missed.length > 0 && missed.every((path) => absent.includes(path) && after[path] === undefined)) {
    return notRequired(`does not keep ${names(missed)}`, "RFC 7643 4.1.1: optional");
  }
  if (missed.length > 0) {
    const shown = missed.map((path) => `${names([path])} reads back as ${JSON.stringify(after[path] ?? null)}`);
    return unnoticed(`${answered(reply)}, and ${cutBetween(shown.join(", "), 300)}`);
  }
  const lost = Object.keys(before).filter(
    (path) => !Object.hasOwn(change, path) && !derived.includes(path) && !same(after[path], before[path]),
  );
  if (lost.length > 0) return unnoticed(`made the change, and changed ${names(lost)} as well`);
  return works("made the change, and nothing else");
}

interface Change {
  readonly name: string;
  readonly mustNot: string;
  readonly should: string;
  readonly paragraph: string;
  readonly fix: string;
  /** What the user has, beside the usual. */
  readonly more?: (attempt: Attempt) => Promise<Attributes>;
  readonly change: (person: Person, attempt: Attempt) => Attributes | Promise<Attributes>;
  readonly derived?: readonly string[];
  readonly send: Send;
  /** What must also be so, once the change is read back. */
  readonly also?: (attempt: Attempt, person: Person, change: Attributes) => Promise<Finding>;
  readonly reads?: readonly string[];
}

/** Makes a user, changes it, and reads it back. */
const changeCase = (profile: Profile, { name, more, change, derived, send, also, ...text }: Change): ScimCase => ({
  ...{ ...text, profile, name: `${profile}.${name}` },
  async run(attempt) {
    const wanting = (await more?.(attempt)) ?? {};
    const { person, refused: refusedMore } = await attempt.personWith(wanting);
    const there = await attempt.read(person.id);
    if (there === null) return notReached("the app created a user, and does not show it");
    // What the app does not keep, no change can lose.
    const before = attributesIn(there, Object.keys(person.attributes));
    const absent = Object.keys(person.attributes).filter((path) => !Object.hasOwn(before, path));
    const all = Object.entries(await change(person, attempt));
    const wanted = Object.fromEntries(all.filter(([path]) => refusedMore === null || !Object.hasOwn(wanting, path)));
    if (Object.keys(wanted).length === 0) {
      return notRequired(`does not have ${names(all.map(([path]) => path))}: it ${refusedMore ?? ""}`);
    }
    const [reply, request] = await send(attempt, person, wanted);
    const isAbsent = reply.status === 400 && Object.keys(wanted).every((path) => absent.includes(path));
    if (isAbsent) return notRequired(`does not keep ${names(Object.keys(wanted))}: it ${answered(reply)}`);
    const refused = notDone(reply, adviceFor(request));
    if (refused !== null) return refused;
    const compared = { before, change: wanted, absent, ...(derived !== undefined && { derived }) };
    const found = await readBack(attempt, person, reply, compared);
    return found.verdict === "works" && also !== undefined ? also(attempt, person, wanted) : found;
  },
});

const patched = "apply every operation of a PATCH to the stored user, then answer what is stored";

const updates = (profile: Profile): readonly Change[] => {
  const byPut = putsUsers(profile);
  const paragraph = byPut ? "RFC 7644 3.5.1" : "RFC 7644 3.5.2.3";
  const text = { paragraph, fix: byPut ? "store what a PUT has, and keep the id" : patched };
  const rest = { ...text, send: sendUpdate };
  return [
    {
      ...{ name: "update", ...rest, change: () => ({ displayName: "Idp Changed" }) },
      mustNot: "a changed displayName is answered with 2xx, and is not stored",
      should: "store the new displayName, and change nothing else",
    },
    {
      ...{ name: "update-dots", ...rest, change: () => ({ "name.givenName": "Ida", "name.familyName": "Changed" }) },
      mustNot: "a changed name.givenName is answered with 2xx, and is not stored",
      should: "store the new givenName and familyName in name",
      derived: ["displayName"],
      ...(profile === "entra-compliant" && {
        fix: 'read a key such as "name.givenName" of a value without a path as a path, not as the name of an attribute',
      }),
    },
    {
      ...{ name: "update-email", ...rest, change: ({ userName }) => ({ [workEmail]: `new-${userName}` }) },
      mustNot: "a changed e-mail address is answered with 2xx, and is not stored",
      should: "store the new value of the work address",
      ...(byPut ? {} : { fix: 'read the path emails[type eq "work"].value: the filter chooses the address' }),
    },
    {
      ...{ name: "update-username", ...rest, change: ({ userName }) => ({ userName: `new-${userName}` }) },
      mustNot: "a changed userName is not stored, or the user is found by the old one, too",
      should: "find the user by the new userName, and by the old one no longer",
      ...(byPut ? {} : { fix: `${patched}, userName too: it is not the key of a user` }),
      derived: [workEmail],
      also: foundByNewName,
      reads: [`${profile}.lookup-none`],
    },
    {
      ...{ name: "manager", ...rest },
      mustNot: "a changed manager makes the app fail, or is not stored",
      should: "store the manager, or leave the attribute out",
      paragraph: "RFC 7643 4.3",
      fix:
        profile === "entra" || profile === "entra-compliant"
          ? "take the manager as a text too, as Entra ID sends it in a PATCH, and keep it as value"
          : 'keep the manager as an object: { "value": id }',
      more: managedBySomebody,
      change: async (_person, attempt) => managedBySomebody(attempt),
    },
    // Entra ID never sends PUT.
    ...(profile === "entra" || profile === "entra-compliant" ? [] : [replace]),
  ];
};

const managedBySomebody = async (attempt: Attempt): Promise<Attributes> => ({
  [managerPath]: { value: (await attempt.person()).id },
});

async function foundByNewName(attempt: Attempt, { id, userName }: Person, change: Attributes): Promise<Finding> {
  const finds = async (name: string): Promise<boolean | Finding> => {
    const reply = await attempt.ask(lookUpUser(attempt.profile, name));
    return failure(reply) ?? resourcesIn(reply.json).some((one) => idIn(one) === id);
  };
  const [byNew, byOld] = [await finds(String(change["userName"])), await finds(userName)];
  if (typeof byNew !== "boolean") return byNew;
  if (typeof byOld !== "boolean") return byOld;
  if (!byNew) return unnoticed("stored the new userName, and does not find the user by it");
  // An app that does not read the filter finds everybody.
  return byOld && attempt.verdicts.get(`${attempt.profile}.lookup-none`) !== "unnoticed"
    ? unnoticed("stored the new userName, and still finds the user by the old one")
    : works("made the change, and finds the user by the new userName alone");
}

const replace: Change = {
  name: "replace",
  mustNot: "a user who is replaced loses attributes that were sent",
  should: "store everything that the PUT has",
  paragraph: "RFC 7644 3.5.1",
  fix: "store the whole body of a PUT, with the attributes of extensions",
  more: () => Promise.resolve({ title: "Idp", [`${enterpriseSchema}:department`]: "Checks" }),
  change: () => ({ title: "Idp Replaced", displayName: "Idp Replaced" }),
  send: sendPut,
};

const inactive = "set the user's state from active, also where a PATCH has no path, and end the sessions";

const deactivate: Change = {
  name: "deactivate",
  mustNot: "a user who left stays active, though the app answered 2xx",
  should: "store active: false, and keep the user",
  paragraph: "RFC 7643 4.1.1, RFC 7644 3.5.2.3",
  fix: inactive,
  change: () => ({ active: false }),
  // Entra ID sends a text; that is the case deactivate-string.
  send: sendActive(false, false),
};

const deactivateString = (profile: Profile): ScimCase => {
  const one = changeCase(profile, {
    ...deactivate,
    name: "deactivate-string",
    mustNot: 'a user stays active after "False", though the app answered 2xx',
    should: 'read the text "False" as false, in any case',
    fix: 'active = typeof value === "string" ? value.toLowerCase() === "true" : value',
    send: sendActive(false, "False"),
  });
  return { ...one, reads: [`${profile}.deactivate`], run: (attempt) => unlessStays(attempt, profile, one) };
};

/** An app that deactivates nobody says nothing about other ways to do so. */
async function unlessStays(attempt: Attempt, profile: Profile, one: ScimCase): Promise<Finding> {
  if (attempt.verdicts.get(`${profile}.deactivate`) !== "unnoticed") return one.run(attempt);
  return notReached("the app deactivates nobody (see deactivate)");
}

const reactivate = (profile: Profile): ScimCase => {
  const one: ScimCase = {
    ...{ profile, name: `${profile}.reactivate`, reads: [`${profile}.deactivate`] },
    mustNot: "a user who is back stays inactive, or is another one",
    should: "store active: true, for the same user",
    paragraph: "RFC 7643 4.1.1",
    fix: "keep a deactivated user with its id, and set its state from active",
    async run(attempt) {
      const person = await attempt.person();
      const there = await attempt.read(person.id);
      if (there === null) return notReached("the app created a user, and does not show it");
      const before = attributesIn(there, Object.keys(person.attributes));
      await sendActive(false, false)(attempt, person, {});
      const gone = await attempt.read(person.id);
      if (gone === null) return unnoticed("removed the user when it was deactivated");
      if (valueAt(gone, "active") !== false) return notReached("the app did not deactivate the user");
      const [reply, request] = await sendActive(true, true)(attempt, person, {});
      const refused = notDone(reply, adviceFor(request));
      return refused ?? readBack(attempt, person, reply, { before, change: { active: true } });
    },
  };
  return { ...one, run: (attempt) => unlessStays(attempt, profile, one) };
};

export const changeCases = (profile: Profile): readonly ScimCase[] => [
  ...updates(profile).map((one) => changeCase(profile, one)),
  changeCase(profile, deactivate),
  ...(profile === "entra" ? [deactivateString(profile)] : []),
  reactivate(profile),
];
