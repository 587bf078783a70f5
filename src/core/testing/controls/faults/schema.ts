import * as z from "zod";
import type { JsonObject } from "../../../../text/json.ts";
import type { FaultInput } from "./faults.ts";
import { headerName, headerValue } from "./header.ts";
import { faultEndpoints, faultMethods } from "./endpoints.ts";
import { flawList, flawNames, flawsAt, flawsWithForge, forgingFlaws, prefixFlaws } from "./flaw-list.ts";
import { nonEmptyText, ruleAndValue, textOf } from "../../../records/fields.ts";
import { presets, type Preset } from "../../../base/layout/presets.ts";
import { similarGrantType, grantTypeNames } from "../../../protocol/tokens/grant-types/list.ts";

/** The field `grant_type` of faults and of filters: a name that no request can have would make a test pass that checks nothing. */

const ofVendors = Object.values<Preset>(presets).flatMap(({ grantTypes = {} }) => Object.keys(grantTypes));

/** Grant types of this server and of vendors' SDKs, "password" (RFC 6749 4.3), and URIs, as others may be (RFC 6749 4.5). */
const form = new RegExp(
  `^(?:${[...grantTypeNames, ...ofVendors, "password"].join("|")}|(?!urn:ietf:params:oauth:grant-type:)[a-z][a-z0-9+.-]*:.+)$`,
);

export const grantTypeText = textOf(form, (given) => {
  const meant = similarGrantType(given);
  const next = meant === undefined ? `; there are ${grantTypeNames.join(", ")}` : `. Did you mean ${meant}?`;
  return `"${given}" is not a grant type${next}`;
});

/** A fault: the form of each field, and the rules between fields. */

/** RFC 6749 4.1.2.1. */
const plainText = textOf(
  /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/,
  () => "must be printable ASCII without quotes and backslashes (RFC 6749 4.1.2.1)",
);

const delayRule = "must be seconds, or a time such as 0.5s, 3s or 2m";
const notDelay = { error: delayRule };
const delayForm = textOf(/^\d{1,4}(?:\.\d{1,3})?[sm]?$/, (given) => `"${given}" ${delayRule}`);
const effects = ["status", "error", "delay", "body", "drop", "drop_after", "flaw", "claims"] as const;

const everywhere = [...faultEndpoints, "any"] as const;
const noClient: readonly string[] = ["jwks", "discovery", "saml_metadata"];
const noUser: readonly string[] = [...noClient, "par", "device_authorization", "register"];

/** The endpoints at which a field has a meaning. */
const endpointsOf: Readonly<Partial<Record<keyof FaultInput, readonly string[]>>> = {
  client: everywhere.filter((name) => !noClient.includes(name)),
  user: everywhere.filter((name) => !noUser.includes(name)),
  grant_type: ["token", "any"],
  forge: ["saml_sso"],
  claims: ["token", "userinfo"],
};

/** Fields that exclude each other. */
const apart: readonly (readonly [keyof FaultInput, keyof FaultInput])[] = [
  ...(["status", "error", "body", "drop_after", "flaw", "claims"] as const).map((other) => ["drop", other] as const),
  ...(["status", "error", "body", "drop_after"] as const).map((other) => ["flaw", other] as const),
  ...(["status", "error", "body", "drop_after", "flaw"] as const).map((other) => ["claims", other] as const),
  ...(["error", "description"] as const).map((other) => ["body", other] as const),
  ["always", "times"],
];

/** Fields that need one of others. */
const needs: Readonly<Partial<Record<keyof FaultInput, readonly (keyof FaultInput)[]>>> = {
  error: ["status"],
  description: ["status", "error"],
  header: ["status", "body"],
  content_type: ["body"],
  forge: ["flaw"],
};

const required = (...names: readonly string[]): JsonObject => ({ required: names });
const atEndpoint = (...names: readonly string[]): JsonObject => ({ properties: { endpoint: { enum: names } } });

/** The same rules in JSON Schema. */
const rules: readonly JsonObject[] = [
  { anyOf: effects.map((name) => required(name)) },
  ...apart.map((pair) => ({ not: required(...pair) })),
  { if: { properties: { flaw: { enum: forgingFlaws } }, required: ["flaw"] }, then: required("forge") },
  { if: { properties: { flaw: { enum: prefixFlaws } }, required: ["flaw"] }, then: required("user") },
  {
    dependentSchemas: {
      ...Object.fromEntries(
        Object.entries(needs).map(([field, others]) => {
          const any = others.map((name) => required(name));
          return [field, { anyOf: field === "error" ? [...any, atEndpoint("authorize")] : any }];
        }),
      ),
      status: { anyOf: [required("error"), required("body"), { properties: { status: { minimum: 400 } } }] },
      ...Object.fromEntries(Object.entries(endpointsOf).map(([field, names]) => [field, atEndpoint(...names)])),
      forge: { properties: { endpoint: { const: "saml_sso" }, flaw: { enum: flawsWithForge } }, required: ["flaw"] },
      flaw: {
        anyOf: [...new Set(flawList.map(({ endpoint }) => endpoint))].map((name) => ({
          properties: { endpoint: { const: name }, flaw: { enum: flawsAt(name) } },
        })),
      },
    },
  },
];

const whole = (min: number, max: number): z.ZodInt =>
  z
    .int()
    .min(min, ruleAndValue(`must be at least ${min}`))
    .max(max, ruleAndValue(`must be at most ${max}`));

export const faultSchema = z
  .strictObject({
    endpoint: z.enum(everywhere).describe("Where the response goes wrong"),
    client: nonEmptyText.optional().describe("Only requests of this client: its client_id"),
    user: nonEmptyText.optional().describe("Only requests of this user: the username"),
    grant_type: grantTypeText.optional().describe("Only token requests with this grant type"),
    method: z.enum(faultMethods).optional().describe("Only requests with this method"),
    times: whole(1, 1_000_000).optional().describe("How many requests take it. Default: 1"),
    always: z.literal(true).optional().describe("Every request takes it"),
    skip: whole(0, 1_000_000).optional().describe("How many matching requests pass first"),
    after: z.boolean().optional().describe("Do the work first, and spoil only its response"),
    status: whole(200, 599).optional().describe("Answer with this status, in the form of RFC 6749 5.2"),
    error: plainText
      .optional()
      .describe(
        "Default: temporarily_unavailable, for 500 server_error. At authorize it goes to the client by redirect",
      ),
    description: plainText.optional().describe("The error_description of that response"),
    header: z.record(headerName, headerValue).optional().describe("Headers of that response, by name"),
    delay: z
      .union([z.number(notDelay).min(0, notDelay).max(9999, notDelay), delayForm], notDelay)
      .optional()
      .describe("Wait: seconds, or 3s, 2m"),
    body: z.string().optional().describe("Answer with this body"),
    content_type: headerValue.optional().describe("Default: application/json"),
    drop: z.literal(true).optional().describe("Close the connection without a response"),
    drop_after: whole(0, 1_000_000).optional().describe("Close the connection after this many bytes of the body"),
    forge: nonEmptyText.optional().describe("The username of the person whose identity a flaw at saml_sso forges"),
    claims: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("Other claims of the ID token (endpoint token) or of UserInfo; the rest stays valid"),
    flaw: z.enum(flawNames).optional().describe("Make the response wrong in one respect; GET faults/flaws lists them"),
  })
  .meta({ allOf: rules, description: "A response that is wrong on purpose" });

interface FaultProblem {
  readonly field: string | null;
  readonly message: string;
  /** Other fields that the message names. */
  readonly fields: readonly string[];
}

/** Every rule that a fault breaks. Each of its fields is already valid. */
export function faultProblems(fault: FaultInput): readonly FaultProblem[] {
  const problems: FaultProblem[] = [];
  const has = (field: keyof FaultInput): boolean => fault[field] !== undefined;
  const add = (field: string | null, message: string, fields: readonly string[] = []): void =>
    void problems.push({ field, message, fields });
  if (!effects.some(has)) add(null, `does nothing; give it one of ${effects.join(", ")}`, effects);
  for (const [field, other] of apart)
    if (has(field) && has(other)) add(other, `is given beside ${field}; leave one of them out`, [field]);
  for (const [field, others] of Object.entries(needs) as [keyof FaultInput, readonly (keyof FaultInput)[]][]) {
    const isAllowed = others.some(has) || (field === "error" && fault.endpoint === "authorize");
    if (has(field) && !isAllowed) add(field, `needs ${others.join(" or ")} too`, others);
  }
  for (const [field, names] of Object.entries(endpointsOf) as [keyof FaultInput, readonly string[]][]) {
    if (has(field) && !names.includes(fault.endpoint)) {
      const isName = field === "client" || field === "user";
      const why = isName ? "no request there names one" : `it is for ${names.join(" and ")} alone`;
      add(field, `has no effect at ${fault.endpoint}: ${why}`);
    }
  }
  const { flaw, endpoint, status = 400 } = fault;
  if (status < 400 && !has("error") && !has("body"))
    add("status", "is below 400, so it needs error or body too", ["error", "body"]);
  if (flaw !== undefined && !flawsAt(endpoint).includes(flaw)) {
    const there = flawList.filter(({ name }) => name === flaw).map((row) => row.endpoint);
    add("flaw", `"${flaw}" is a flaw of ${there.join(" and ")}, not of ${endpoint}`);
  } else if (flaw !== undefined) {
    if (forgingFlaws.includes(flaw) && !has("forge"))
      add("forge", `is missing: "${flaw}" forges the identity of a user`);
    if (has("forge") && !flawsWithForge.includes(flaw)) add("forge", `has no effect on "${flaw}", which forges nobody`);
    if (prefixFlaws.includes(flaw) && !has("user"))
      add("user", `is missing: "${flaw}" needs a user whose NameID begins with the forged one`);
  }
  return problems;
}
