import * as z from "zod";
import { challengeSyntax } from "../../tokens/pkce.ts";
import { faultSchema } from "../../testing/faults/schema.ts";
import { timeText } from "../../fields.ts";
import { fixtureFileSchema } from "../../fixtures/schema/schema.ts";
import { exportForms } from "../../state/state.ts";
import { issuerForm } from "../../issuers/issuer.ts";
import { issuerName } from "../../issuers/issuer-view.ts";
import { keyAlgs } from "../../keys/keys.ts";
import { expectEndpoints, requestEndpoints } from "../../testing/request-endpoints.ts";
import { flowForm, statusForm } from "../../testing/filter.ts";
import { durationForm, tenYears } from "../../time.ts";
import { snapshotName } from "../../testing/snapshots.ts";
import { tokenKinds } from "../../testing/custom.ts";
import { clientInput, clientPatch, importInput, ownTokenClaims, sources, userInput } from "./schemas.ts";
import type { OperationName } from "../table.ts";
import { reservedInWorkloads } from "../../workloads/kinds.ts";
import { jsonValue } from "../../fields.ts";

/** What the OpenAPI document says of the input of an operation, where the kinds in the table of operations leave something open. */

export interface InputDoc {
  /** The body of an operation that takes it whole. */
  readonly body?: z.ZodType;
  /** Fields whose kind says too little. */
  readonly fields?: Readonly<Record<string, z.ZodType>>;
  /** What must fit together between fields: JSON Schema. */
  readonly rules?: Readonly<Record<string, unknown>>;
  /** Rules that no schema can express; a request that breaks them is refused. */
  readonly note?: string;
}

const requestFilter = {
  endpoint: z.enum(requestEndpoints),
  status: z.union([z.int().min(100).max(599), z.string().regex(statusForm)]).describe("400, or 4xx"),
  since: z.string().describe("The id of a request, or a time in ISO 8601: only later ones"),
};

const atLeastOneOf = (...names: readonly string[]): Readonly<Record<string, unknown>> => ({
  anyOf: names.map((name) => ({ required: [name] })),
});

/** Not all of these values at once. */
const notTogether = (values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
  not: {
    required: Object.keys(values),
    properties: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { const: value }])),
  },
});

/** Flaws of a token that exclude each other. */
const flawsTogether = [
  notTogether({ expired: true, not_yet_valid: true }),
  notTogether({ expired: true, missing_expiry: true }),
  notTogether({ not_yet_valid: true, missing_expiry: true }),
  notTogether({ wrong_issuer: true, missing_issuer: true }),
  notTogether({ wrong_audience: true, missing_audience: true }),
  notTogether({ bad_signature: true, unknown_kid: true }),
  notTogether({ bad_signature: true, alg_none: true }),
  notTogether({ unknown_kid: true, alg_none: true }),
];

const fixtureNote =
  "A schema cannot say that names are unique, that users, clients and scopes that are named exist, what the settings in force allow, or " +
  "what the text of a file holds: 422.";

const clientNote =
  "The settings http_redirect_hosts and any_loopback_port decide whether plain http beyond loopback and open ports are allowed: 409.";

export const inputDocs: Readonly<Partial<Record<OperationName, InputDoc>>> = {
  "users.list": { fields: { limit: z.int().min(0).max(999_999_999) } },
  "users.add": { body: userInput },
  "users.edit": { body: userInput.partial() },
  "clients.add": { body: clientInput, note: clientNote },
  "clients.edit": { body: clientPatch, note: `What does not fit the other metadata of the client: 409. ${clientNote}` },
  "clients.rotate-secret": { fields: { client_secret: z.string().min(1) } },
  "grants.edit": { fields: { scope: z.string().regex(/[^ ]/) } },
  "sessions.end": { rules: atLeastOneOf("user", "id") },
  "keys.rotate": { fields: { alg: z.enum(keyAlgs) } },
  "snapshots.save": { fields: { name: z.string().regex(snapshotName) } },
  "inspector.open": {
    fields: { flow: z.string().regex(flowForm).describe("The sign-in that it opens at; absent: the list of all") },
    note: "A sign-in that the ledger does not hold: 404.",
  },
  expire: {
    rules: {
      anyOf: [
        { anyOf: [{ required: ["user"] }, { required: ["client"] }], properties: { all: { const: false } } },
        { required: ["all"], properties: { all: { const: true }, user: false, client: false } },
      ],
    },
  },
  "clock.advance": {
    fields: { by: z.union([z.int().min(0), z.string().regex(durationForm)]).describe("Seconds, or with a unit: 31m") },
    rules: { anyOf: [{ required: ["by"] }] },
    note: "The clock shows the years from 1970 to 9979: 422 beyond.",
  },
  "clock.set": { fields: { to: timeText }, note: "A time of the years from 1970 to 9979, else 422." },
  "issuer.set": {
    fields: { issuer: z.string().regex(issuerForm) },
    note: "The path must be that of the issuer so far, and the host and port must be possible: 422. On a shared store: 409.",
  },
  "issuers.add": {
    body: z.union([
      z.strictObject({ name: z.string().regex(issuerName), fixtures: fixtureFileSchema.optional() }),
      z.strictObject({ name: z.string().regex(issuerName), sources }),
    ]),
    note: `Without fixtures it has those of the first issuer. ${fixtureNote}`,
  },
  "issue.code": {
    fields: { code_challenge: z.string().regex(challengeSyntax), code_challenge_method: z.enum(["S256"]) },
    rules: { dependentRequired: { code_challenge_method: ["code_challenge"] } },
  },
  revoke: { rules: atLeastOneOf("user", "client", "grant") },
  "workloads.issue": {
    fields: {
      expires_in: z.int().min(1).max(tenYears),
      claims: z.record(z.string().regex(new RegExp(`^(?!(?:${reservedInWorkloads.join("|")})$)`)), jsonValue),
    },
    rules: { allOf: flawsTogether },
  },
  "token.issue": {
    fields: {
      type: z.enum(tokenKinds),
      expires_in: z.int().min(1).max(tenYears).describe("At most as long as the settings let a token live, else 409"),
      claims: ownTokenClaims,
      dpop_jkt: z
        .string()
        .regex(/^[\w-]{43}$/)
        .describe("For an access token alone (RFC 9449 6.1)"),
    },
    rules: {
      allOf: [
        { anyOf: [{ properties: { dpop_jkt: false } }, { properties: { type: { const: "access" } } }] },
        ...flawsTogether,
        // A refresh token is for this server alone: it has no audience and takes no claims.
        {
          anyOf: [
            { properties: { type: { enum: ["access", "id"] } } },
            {
              properties: {
                audience: false,
                wrong_audience: { const: false },
                missing_audience: { const: false },
                claims: { maxProperties: 0 },
              },
            },
          ],
        },
        // A client that speaks for itself has access tokens only (RFC 6749 4.4.3).
        { anyOf: [{ required: ["user"] }, { properties: { type: { const: "access" } } }] },
      ],
    },
  },
  "token.verify": { fields: { leeway: z.number().min(0).describe("Seconds") } },
  "faults.add": { body: faultSchema, note: "The client and the user must exist: 422." },
  "requests.list": { fields: requestFilter },
  expect: {
    fields: {
      ...requestFilter,
      endpoint: z.enum(expectEndpoints),
      param: z.record(z.string(), z.string()).describe("Parameters that were sent, by their names"),
      times: z.int().min(0),
      at_least: z.int().min(1),
      within: z.union([z.number().min(0).max(100), z.string().regex(durationForm)]).describe("Seconds, or 5s"),
    },
    note: "Only one of times, at_least and never can be meant; none of them means at least once. Passwords, secrets and csrf are not kept.",
  },
  seed: { body: z.union([fixtureFileSchema, z.strictObject({ sources })]), note: fixtureNote },
  reset: {
    body: z.union([
      z.strictObject({ fixtures: fixtureFileSchema.optional(), keys: z.boolean().optional() }),
      z.strictObject({ sources, keys: z.boolean().optional() }),
    ]),
    note: `keys: renew the signing keys. ${fixtureNote}`,
  },
  export: { fields: { as: z.enum(exportForms) } },
  import: {
    body: importInput,
    note: "A schema cannot say that keys can sign, that names are unique, that records which are named exist, or what the text of a file holds: 422.",
  },
};
