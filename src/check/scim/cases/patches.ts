import { patchUserBy, type Profile } from "../../../scim/profiles.ts";
import { isGood } from "../../../scim/sending.ts";
import { attributesIn, idIn, valueAt, type Attributes } from "../../../scim/resource.ts";
import { noticed, notReached, notRequired, unnoticed, works, type Finding } from "../../frame/verdict.ts";
import type { Reply } from "../../shared/scim-server.ts";
import type { Attempt, ScimCase } from "../attempt.ts";
import { answered, failure, notDone } from "../judge.ts";
import { isUnsupported } from "./protocol.ts";
import { readBack } from "./changes.ts";

/** A PATCH whose path leads to nothing yet, and one that fails halfway. */

/** Values that no user has at first. */
const newValues: Attributes = {
  'emails[type eq "other"].value': "idp-check-other@example.com",
  'phoneNumbers[type eq "mobile"].value': "+15550100",
  'addresses[type eq "work"].country': "NZ",
};

const hasNoTarget = ({ status, json }: Reply): boolean =>
  status === 400 && ["noTarget", "invalidPath"].includes(String(json?.["scimType"]));

/** Sets one value that is not there yet. @param absent whether the app does not keep this value at all */
async function setNew(attempt: Attempt, op: "Add" | "Replace", path: string, absent: boolean): Promise<Finding> {
  const person = await attempt.person();
  const there = await attempt.read(person.id);
  if (there === null) return notReached("the app created a user, and does not show it");
  const before = attributesIn(there, Object.keys(person.attributes));
  const change = { [path]: newValues[path] };
  const reply = await attempt.ask(patchUserBy(person.id, [{ op, path, value: newValues[path] }]));
  if (hasNoTarget(reply)) return notRequired(`refused it: ${answered(reply)}`, "RFC 7644 3.5.2.3: noTarget");
  if (absent && reply.status === 400) return notRequired(`does not keep it: ${answered(reply)}`);
  const refused = notDone(reply, "accept a path with a filter that nothing matches yet (RFC 7644 3.5.2.1)");
  return refused ?? readBack(attempt, person, reply, { before, change, absent: absent ? [path] : [] });
}

/** What the app keeps of such a value in a new user; nothing where it refuses it. */
async function keptOf(attempt: Attempt, path: string): Promise<Attributes> {
  const reply = await attempt.post(attempt.attributes({ [path]: newValues[path] }));
  const id = isGood(reply) ? idIn(reply.json) : null;
  return id === null ? {} : attributesIn((await attempt.read(id)) ?? {}, [path]);
}

const updateNew = (profile: Profile): ScimCase => ({
  ...{ profile, name: `${profile}.update-new` },
  mustNot: "a value of a list that the user did not have is answered with 2xx, and is not stored",
  should: "add the value with its type, or answer 400 noTarget",
  paragraph: "RFC 7644 3.5.2.1, 3.5.2.3",
  fix: 'make the value that the filter of the path describes: { "type": "other", "value": … }',
  async run(attempt) {
    const found: Finding[] = [];
    for (const path of Object.keys(newValues)) {
      const kept = await keptOf(attempt, path);
      for (const op of ["Add", "Replace"] as const) {
        const one = await setNew(attempt, op, path, !Object.hasOwn(kept, path));
        if (one.verdict === "unnoticed" || one.verdict === "not-reached") {
          return { ...one, did: `${op} ${path}: ${one.did}` };
        }
        // RFC 7644 3.5.2.3 asks for noTarget here.
        if (op === "Add") found.push(one);
      }
    }
    const working = found.filter(({ verdict }) => verdict === "works");
    const [open] = found.filter(({ verdict }) => verdict !== "works");
    return working.length > 0 || open === undefined ? works("added values that the user did not have") : open;
  },
});

const updateAtomic = (profile: Profile): ScimCase => ({
  ...{ profile, name: `${profile}.update-atomic` },
  mustNot: "a PATCH that is refused has changed something",
  should: "answer 400, and change nothing",
  paragraph: "RFC 7644 3.5.2",
  fix: "apply the operations to a copy, or in a transaction, and store it only when all of them worked",
  reads: ["patch-invalid"],
  async run(attempt) {
    const { id } = await attempt.person();
    const before = await attempt.read(id);
    if (before === null) return notReached("the app created a user, and does not show it");
    const reply = await attempt.ask(
      patchUserBy(id, [
        { op: profile === "entra" ? "Replace" : "replace", path: "displayName", value: "Idp Halfway" },
        { op: "idp-check", path: "displayName", value: "Idp Wrong" },
      ]),
    );
    if (isUnsupported(reply)) return notRequired(answered(reply), "RFC 7644 3.5.2: optional");
    const failed = failure(reply);
    if (failed !== null) return failed;
    if (reply.status < 300) return notReached("the app takes an operation that does not exist (see patch-invalid)");
    const after = await attempt.read(id);
    if (after === null) return unnoticed(`${answered(reply)}, and the user is gone`);
    if (valueAt(after, "displayName") !== valueAt(before, "displayName")) {
      return unnoticed(`${answered(reply)}, and made the first change`);
    }
    return reply.status === 400
      ? noticed("answered 400, and changed nothing")
      : unnoticed(`${answered(reply)}, and must answer 400`);
  },
});

/** Only Entra ID sets values of lists so; those whose users are updated by PUT send no such PATCH. */
export const patchCases = (profile: Profile): readonly ScimCase[] => [
  ...(profile === "entra" || profile === "entra-compliant" ? [updateNew(profile)] : []),
  ...(profile === "okta" || profile === "okta-put" ? [] : [updateAtomic(profile)]),
];
