import { isGood, type ScimToken } from "../../../scim/sending.ts";
import { patchUserBy, putUser, readUser, lookUpUser, patchActive, deleteUser } from "../../../scim/profiles.ts";
import { idIn, resourcesIn, valueAt } from "../../../scim/resource.ts";
import { noticed, notReached, notRequired, unnoticed, type Finding } from "../../frame/verdict.ts";
import type { Reply } from "../../shared/scim-server.ts";
import type { Attempt, ScimCase } from "../attempt.ts";
import { answered, failure } from "../judge.ts";

/** What every client meets: who may ask, and how the app refuses. */

/** Requests without the right token, about a user who is there. */
async function withToken(attempt: Attempt, token: ScimToken | null): Promise<Finding> {
  const { id, userName } = await attempt.person();
  const asks = [
    ["read a user", () => attempt.ask(readUser(id), token)],
    ["list users", () => attempt.ask(lookUpUser("standard", userName), token)],
    ["create a user", () => attempt.post(attempt.attributes(), token)],
    ["change a user", () => attempt.ask(patchActive("standard", id, false), token)],
    ["remove a user", () => attempt.ask(deleteUser(id), token)],
  ] as const;
  for (const [what, ask] of asks) {
    const reply = await ask();
    if (isGood(reply)) return unnoticed(`let it ${what}: it ${answered(reply)}`, { mustNot: letIn(token, what) });
    // Who asks does not matter where nobody may.
    if ((what === "change a user" || what === "remove a user") && refusesAll(reply)) continue;
    const failed = failure(reply);
    if (failed !== null) return failed;
    if (reply.status !== 401) return unnoticed(`${answered(reply)} to the request to ${what}, and must answer 401`);
  }
  return noticed("answered 401");
}

const letIn = (token: ScimToken | null, what: string): string =>
  `a request ${token === null ? "without a token" : "with a wrong token"} may ${what}`;

/** Whether the app has no such method, or lets nobody use it (RFC 7644 3.6). */
const refusesAll = ({ status }: Reply): boolean => [403, 405, 501].includes(status);

/** A token that is wrong everywhere. */
const wrongToken = "idp-check-wrong-token";

const errorSchema = "urn:ietf:params:scim:api:messages:2.0:Error";

/** An error as RFC 7644 3.12 has it. @param status that it must have */
function judgedError(reply: Reply, status: number): Finding {
  const failed = failure(reply);
  if (failed !== null) return failed;
  if (reply.status !== status) return unnoticed(`${answered(reply)}, and must answer ${status}`);
  const schemas: readonly unknown[] = [reply.json?.["schemas"]].flat();
  return schemas.includes(errorSchema)
    ? noticed(`answered ${status} with the Error schema`)
    : unnoticed(`answered ${status} without the Error schema`, {
        fix: `answer { "schemas": ["${errorSchema}"], "status": "${status}", "detail": "…" }`,
      });
}

const authenticate = "check the header Authorization before every request, and compare the whole token";

export const protocolCases: readonly ScimCase[] = [
  {
    name: "no-token",
    mustNot: "somebody without a token reads users",
    should: "answer 401",
    paragraph: "RFC 7644 2, RFC 7235 3.1",
    fix: authenticate,
    run: (attempt) => withToken(attempt, null),
  },
  {
    name: "token-wrong",
    mustNot: "somebody with a wrong token reads users",
    should: "answer 401",
    paragraph: "RFC 7644 2, RFC 7235 3.1",
    fix: authenticate,
    run: (attempt) => withToken(attempt, wrongToken),
  },
  {
    name: "not-found",
    mustNot: "a user who does not exist is answered as if there were one",
    should: "answer 404 with the Error schema",
    paragraph: "RFC 7644 3.12",
    fix: "answer 404 where no user has the id",
    async run(attempt) {
      return judgedError(await attempt.ask(readUser(attempt.newName())), 404);
    },
  },
  {
    name: "patch-invalid",
    mustNot: "an operation that does not exist is answered as if it were done",
    should: "answer 400 with the Error schema",
    paragraph: "RFC 7644 3.5.2, 3.12",
    fix: "answer 400 invalidSyntax for an op other than add, replace and remove",
    async run(attempt) {
      const { id } = await attempt.person();
      const reply = await attempt.ask(patchUserBy(id, [{ op: "idp-check", path: "displayName", value: "Changed" }]));
      return isUnsupported(reply) ? notRequired(answered(reply), "RFC 7644 3.5.2: optional") : judgedError(reply, 400);
    },
  },
  {
    name: "media-type",
    mustNot: "an answer has another media type than SCIM's",
    should: "answer with Content-Type: application/scim+json",
    paragraph: "RFC 7644 3.1, 8.1",
    fix: 'set the header: res.type("application/scim+json")',
    async run(attempt) {
      const { id } = await attempt.person();
      const reply = await attempt.ask(readUser(id));
      if (!isGood(reply)) return failure(reply) ?? notReached(`the app ${answered(reply)}`);
      const { mediaType } = reply;
      if (mediaType === "application/scim+json") return noticed("answered with application/scim+json");
      const did = `answered with ${mediaType === "" ? "no Content-Type" : mediaType}`;
      return mediaType === "application/json" ? notRequired(did, "RFC 7644 3.1") : unnoticed(did);
    },
  },
];

/** Whether the app has no such method (RFC 7644 3.12: 501). */
export const isUnsupported = ({ status }: Reply): boolean => status === 405 || status === 501;

export const otherTenant: ScimCase = {
  name: "other-tenant",
  mustNot: "one tenant reads or changes the users of another one",
  should: "answer 404, as for a user who does not exist",
  paragraph: "RFC 7644 6.2",
  fix: "look every user up by its id and the tenant of the token",
  async run(attempt) {
    const { otherToken: token } = attempt;
    if (token === null) return notReached("no other token was given: add --other-token-env NAME");
    const { id, userName, attributes } = await attempt.person();
    const own = await attempt.ask(lookUpUser("standard", attempt.newName()), token);
    // Some apps answer 404 where a lookup finds nobody.
    if (!isGood(own) && own.status !== 404) {
      return notReached(`the app does not take the other token: it ${answered(own)}`);
    }
    const asks = [
      ["read", readUser(id)],
      ["found", lookUpUser("standard", userName)],
      ["replaced", putUser(id, { ...attributes, active: false }, (await attempt.read(id)) ?? {})],
      ["changed", patchActive("standard", id, false)],
      ["removed", deleteUser(id)],
    ] as const;
    const did: string[] = [];
    let isActive = true;
    for (const [what, request] of asks) {
      const reply = await attempt.ask(request, token);
      if (what === "read" && isGood(reply) && idIn(reply.json) === id) did.push(what);
      if (what === "found" && resourcesIn(reply.json).some((one) => idIn(one) === id)) did.push(what);
      if (isUnsupported(reply)) continue;
      const failed = failure(reply);
      if (failed !== null) return failed;
      if (what === "read" || what === "found") continue;
      const there = await attempt.read(id);
      if (there === null || (isActive && valueAt(there, "active") === false)) {
        did.push(what);
        isActive = false;
      }
      if (there === null) break;
    }
    return did.length === 0
      ? noticed("kept the user from the other tenant")
      : unnoticed(`let the other tenant in: the user was ${did.join(" and ")}`);
  },
};
