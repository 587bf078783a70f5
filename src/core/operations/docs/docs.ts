import * as z from "zod";
import { endpointNames } from "../../endpoints.ts";
import type { FixtureFile } from "../../fixtures/schema/schema.ts";
import {
  client,
  clock,
  exported,
  fault,
  flaw,
  grant,
  issuer,
  key,
  nothing,
  request,
  resetOutcome,
  seeded,
  session,
  snapshot,
  statusChange,
  time,
  tokenResponse,
  user,
} from "./schemas.ts";
import { expirable } from "../../testing/expire.ts";
import type { OperationName, OperationOutput } from "../table.ts";
import { workloadKinds } from "../../workloads/kinds.ts";

/** What the OpenAPI document says of each operation beside what the table of operations says itself; `input-docs.ts` has what they take. */

interface OperationDoc<O> {
  /** One sentence without a period. */
  readonly summary: string;
  /** Of the answer; the compiler holds it against what the operation returns. */
  readonly answer: z.ZodType<O>;
}

const doc = <O>(summary: string, answer: z.ZodType<O>): OperationDoc<O> => ({ summary, answer });

export const operationDocs: { readonly [N in OperationName]: OperationDoc<OperationOutput<N>> } = {
  "users.list": doc("List users, in the order they were added", z.array(user)),
  "users.show": doc("Show a user", user),
  "users.otp": doc(
    "Show the one-time code of a user that can be typed now",
    z.object({
      code: z.string().nullable().describe("Null: all current codes are used"),
      expiresIn: z.number().nullable().describe("Seconds until the code is no longer accepted"),
      availableIn: z.number().describe("Seconds until there is a code; 0: there is one"),
      uri: z.string().describe("What an authenticator app reads"),
    }),
  ),
  "users.add": doc("Add a user; a username is enough", user),
  "users.edit": doc("Change fields of a user; each replaces the old value", user),
  "users.remove": doc("Remove a user with their grants and sessions", nothing),
  "users.suspend": doc("Suspend a user: no sign-in, and tokens get 403 until the user is restored", statusChange),
  "users.ban": doc("Ban a user: sessions end, and grants are revoked permanently", statusChange),
  "users.restore": doc("Make a suspended or banned user active again", statusChange),
  "clients.list": doc("List clients, in the order they were added", z.array(client)),
  "clients.show": doc("Show a client", client),
  "clients.add": doc("Add a client; a missing secret is generated and shown", client),
  "clients.edit": doc("Change metadata of a client; null removes a field", client),
  "clients.remove": doc("Remove a client with its grants", nothing),
  "clients.rotate-secret": doc("Give a client a new secret; a missing one is generated and shown", client),
  "grants.list": doc("List grants", z.array(grant)),
  "grants.add": doc("Record a consent, as `issue.grant` does", grant),
  "grants.show": doc("Show a grant", grant),
  "grants.edit": doc("Set the scopes of a grant", grant),
  "grants.revoke": doc("Revoke a grant: its tokens become invalid, permanently", nothing),
  "sessions.list": doc("List sessions", z.array(session)),
  "sessions.show": doc("Show a session", session),
  "sessions.end": doc(
    "End sessions, and notify clients by back-channel logout",
    z.object({
      ended: z.array(session),
      notices: z.array(z.object({ client: z.string(), ok: z.boolean(), detail: z.string() })),
    }),
  ),
  "sessions.remove": doc("End a session", nothing),
  "scopes.list": doc(
    "List the scopes that clients can request",
    z.array(
      z.object({
        name: z.string(),
        builtIn: z.boolean().describe("false: a fixture defines it"),
        description: z.record(z.string(), z.string()).describe("By language"),
        claims: z.array(z.string()).describe("What it releases"),
      }),
    ),
  ),
  "keys.list": doc("List keys", z.array(key)),
  "keys.show": doc("Show a key, by its kid", key),
  "keys.rotate": doc("Create new signing keys; old ones still verify what they signed", z.array(key)),
  "keys.remove": doc("Remove a retired key at once: what it signed becomes invalid", nothing),
  "issue.grant": doc("Record a consent, as if the user had allowed it", grant),
  "issue.code": doc(
    "Issue an authorization code, as if the user had signed in and allowed it",
    z.object({ code: z.string(), redirect_uri: z.string(), url: z.string(), expires_in: z.int().describe("Seconds") }),
  ),
  "issue.tokens": doc("Issue tokens, as if the user had signed in and allowed it", tokenResponse),
  revoke: doc("Revoke grants: of a user, of a client, of both, or one", z.object({ revoked: z.array(grant) })),
  "token.issue": doc(
    "Issue one token, as the flow would, or bad on purpose",
    z.object({
      token: z.string(),
      type: z.enum(["access", "id", "refresh"]),
      expires_in: z.int().describe("Seconds; negative for one that has expired"),
      warnings: z.array(z.string()),
    }),
  ),
  "workloads.list": doc(
    "List the workloads: those of the fixtures, and one of each kind",
    z.array(z.object({ name: z.string(), as: z.enum(workloadKinds), issuer: z.string() })),
  ),
  "workloads.issue": doc(
    "Issue a token of a workload, as the place where it runs would, or bad on purpose",
    z.object({
      token: z.string(),
      issuer: z.string().describe("The issuer of the workload, which publishes the key"),
      expires_in: z.int().describe("Seconds; negative for one that has expired"),
      warnings: z.array(z.string()),
    }),
  ),
  "token.verify": doc(
    "Verify a token and report every check",
    z.object({
      valid: z.boolean(),
      checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })),
      notes: z.array(z.string()),
    }),
  ),
  "token.introspect": doc(
    "Show whether a token is active (RFC 7662), and if not, why",
    z.looseObject({
      active: z.boolean(),
      reason: z.exactOptional(z.string()),
      since: z.exactOptional(time),
    }),
  ),
  "token.revoke": doc(
    "Revoke one token (RFC 7009)",
    z.object({
      revoked: z.enum(["access_token", "refresh_token"]).nullable().describe("null: it was unknown or already invalid"),
      client: z.string().nullable(),
    }),
  ),
  "fixtures.list": doc(
    "List the fixture files in use; a reset goes back to them",
    z.array(z.object({ file: z.string().describe("As it was named"), clients: z.array(z.string()) })),
  ),
  "faults.list": doc("List the faults that are active", z.array(fault)),
  "faults.add": doc("Add a fault: the requests that match it get a response that is wrong on purpose", fault),
  "faults.clear": doc("Remove all faults", nothing),
  "faults.flaws": doc("List the flaws that a response can have, and what each should make a client do", z.array(flaw)),
  "faults.remove": doc("Remove a fault", nothing),
  "inspector.open": doc(
    "Make a key that opens the inspector once, within ten minutes",
    z.object({ url: z.string().describe("With the key"), expires_in: z.int().describe("Seconds") }),
  ),
  "requests.list": doc("List the last requests, the oldest first", z.array(request)),
  "requests.show": doc("Show a request", request),
  expect: doc(
    "Say whether an app asked what it is expected to, and show the nearest misses",
    z.object({
      met: z.boolean(),
      count: z.int().describe("How many requests match"),
      expected: z.string().describe("In words"),
      dropped: z.boolean().describe("The ledger no longer holds older requests that could match"),
      nearest: z.array(z.object({ request, differs: z.array(z.string()) })),
    }),
  ),
  "requests.clear": doc("Forget all requests", nothing),
  seed: doc(
    "Apply fixtures: all or nothing",
    z.object({ users: seeded, clients: seeded, scopes: seeded, grants: seeded, settings: seeded }),
  ),
  reset: doc(
    "Go back to the fixtures in use, or to others: discard changes, sessions, grants and tokens",
    z.object({
      fixtures: z.array(z.string()).describe("The files as they were named"),
      users: resetOutcome,
      clients: resetOutcome,
      scopes: resetOutcome,
      grants: resetOutcome,
      settings: z.array(z.string()).describe("Those that changed"),
      sessionsEnded: z.int(),
      keysRenewed: z.boolean(),
    }),
  ),
  export: doc(
    "Export all data as one document, with secrets, password hashes and private keys; or as a fixture file",
    z.union([exported, z.looseObject({}) as unknown as z.ZodType<FixtureFile>]),
  ),
  import: doc(
    "Replace all data with an export: all or nothing",
    z.object({
      users: z.int(),
      clients: z.int(),
      grants: z.int(),
      sessions: z.int(),
      keys: z.int(),
      otherIssuer: z.string().nullable().describe("The issuer of the tokens in the export, if it is another one"),
    }),
  ),
  "snapshots.list": doc("List snapshots", z.array(snapshot)),
  "snapshots.save": doc("Save all of the state under a name, in place of an earlier one", snapshot),
  "snapshots.restore": doc(
    "Go back to a snapshot: what was revoked since is valid again, tokens and codes issued since are not",
    snapshot.extend({
      validAgain: z.object({ grants: z.int(), tokens: z.int() }).describe("What was revoked since"),
    }),
  ),
  "snapshots.remove": doc("Remove a snapshot", nothing),
  expire: doc(
    "Let what was issued so far expire now: access tokens, unless something else is named",
    z.object({
      user: z.string().nullable().describe("null: of all users"),
      client: z.string().nullable().describe("null: of all clients"),
      expired: z.array(z.enum(expirable)),
      sessions: z.int().describe("How many ended"),
      codes: z.int().describe("How many waited to be used"),
    }),
  ),
  "clock.show": doc("What the clock of the server shows", clock),
  "clock.advance": doc("Move the clock forward, until the server ends or it is reset", clock),
  "clock.set": doc("Set the clock; what was revoked stays revoked, and what had expired for good stays expired", clock),
  "clock.freeze": doc("Stop the clock; it can still be advanced and set", clock),
  "clock.reset": doc("Let the clock show the real time again", clock),
  status: doc(
    "Show the server and what it holds",
    z.object({
      issuer: z.string(),
      endpoints: z
        .record(z.enum(endpointNames), z.string())
        .describe("Addresses by the names of the setting endpoints"),
      data: z.string().describe("A path, or memory"),
      users: z.int(),
      clients: z.int(),
      grants: z.int().describe("Active ones"),
      faults: z.int().describe("Active ones: faults list"),
      snapshots: z.int(),
      requests: z.int().describe("What the ledger holds: requests list"),
      clock: z.exactOptional(clock).describe("While it is moved"),
      server: z.object({ pid: z.int(), startedAt: time, version: z.string() }).nullable(),
    }),
  ),
  "issuer.set": doc(
    "Change scheme, host and port of the issuer until the server stops; tokens of the previous one become invalid",
    z.object({ issuer: z.string() }),
  ),
  "issuers.list": doc("List the issuers beside the first one, by name", z.array(issuer)),
  "issuers.add": doc("Make an issuer with its own data, at `/i/NAME` below the first one", issuer),
  "issuers.show": doc("Show an issuer", issuer),
  "issuers.remove": doc("Remove an issuer and all of its data", nothing),
  stop: doc("Stop the server after this response", z.object({ stopping: z.boolean(), pid: z.int() })),
};
