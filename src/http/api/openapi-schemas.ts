import * as z from "zod";
import type { JsonObject } from "../../text/json.ts";
import { clientSchema } from "../../core/protocol/client-metadata/schema.ts";
import { addedClientRules, fixtureClientRules } from "../../core/protocol/client-metadata/rules-json-schema.ts";
import { beyondZod, fixtureFileSchema, type ClientRules } from "../../core/admin/fixtures/schema.ts";
import { faultSchema } from "../../core/testing/controls/faults/schema.ts";
import { userSchema } from "../../core/records/users/schema.ts";
import { clientInput, clientPatch, clientRecord, contents } from "../../core/admin/operations/schemas/given.ts";
import { pathNames, type Route } from "../../core/admin/operations/route.ts";
import {
  client,
  clock,
  grant,
  issuer,
  key,
  request,
  session,
  snapshot,
} from "../../core/admin/operations/schemas/shown.ts";
import { fault } from "../../core/admin/operations/schemas/shown-faults.ts";
import { user } from "../../core/admin/operations/schemas/shown-users.ts";

/** The JSON Schemas of the OpenAPI document, with names for those that are used in more than one place. */

/** Schemas that are used in more than one place, by their names in the document. */
const named: Readonly<Record<string, z.ZodType>> = {
  User: user,
  Client: client,
  Grant: grant,
  Session: session,
  Key: key,
  Fault: fault,
  Request: request,
  Clock: clock,
  Snapshot: snapshot,
  Issuer: issuer,
  FixtureUser: userSchema,
  FixtureClient: clientSchema,
  FixtureFault: faultSchema,
  Fixtures: fixtureFileSchema,
};

/** Clients under other rules than those of fixtures. */
const clients = new Map<unknown, ClientRules>([
  [clientInput, { rules: addedClientRules, or: [] }],
  [clientPatch, { rules: [], or: [{ type: "null" }] }],
  [clientRecord, { rules: fixtureClientRules, or: [] }],
]);

export const refTo = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

/** The JSON Schemas of `named`, and of the others by their names, which refer to those. */
export function jsonSchemas(others: ReadonlyMap<string, z.ZodType>): ReadonlyMap<string, JsonObject> {
  const registry = z.registry<{ id?: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  for (const [id, schema] of others) if (!registry.has(schema)) registry.add(schema, { id });
  // A document that is checked where it is read is described by what it holds.
  for (const [id, content] of contentIds) if (!registry.has(content)) registry.add(content, { id });
  const uri = (id: string): string => `#/components/schemas/${id}`;
  const known = beyondZod(refTo("Json"), clients);
  const { schemas } = z.toJSONSchema(registry, {
    io: "input",
    uri,
    unrepresentable: "any",
    override: (at) => {
      known(at);
      const content = contents.get(at.zodSchema);
      if (content !== undefined) Object.assign(at.jsonSchema, refTo(registry.get(content)?.id ?? ""));
    },
  });
  const plain = ({ $schema: _, $id: __, ...schema }: JsonObject): JsonObject => schema;
  const made = new Map(Object.entries(schemas as Readonly<Record<string, JsonObject>>));
  const schemaAt = (schema: z.ZodType): JsonObject => {
    const id = registry.get(schema)?.id ?? "";
    return inDocument(id) ? refTo(id) : plain(made.get(id) ?? {});
  };
  return new Map([
    ...[...made].filter(([id]) => inDocument(id)).map(([id, schema]) => [id, plain(schema)] as const),
    ...[...others].map(([id, schema]) => [id, schemaAt(schema)] as const),
  ]);
}

/** The contents that have no name yet. */
const contentIds = [...new Set(contents.values())]
  .filter((schema) => !Object.values(named).includes(schema))
  .map((schema) => ["Export", schema] as const);

export const inDocument = (id: string): boolean => Object.hasOwn(named, id) || contentIds.some(([name]) => name === id);

/** Whether an empty body, which is {}, fits; a document that is checked later may not. */
export const fitsEmpty = (schema: z.ZodType, path: string): boolean => {
  const empty = Object.fromEntries(pathNames(path).map((name) => [name, "x"]));
  const all = schema instanceof z.ZodUnion ? (schema.options as readonly z.ZodType[]) : [schema];
  return all.some((one) => (contents.get(one) ?? one).safeParse(empty).success);
};

/** The refusals in the OpenAPI document: which an operation may answer with, and what they look like. */

export const errors: Readonly<Record<string, string>> = {
  400: "The body cannot be read as JSON, or the path as a URL",
  401: "The token is missing or wrong",
  403: "The role of the token may not do this, or the request comes from a page of another origin",
  404: "Nothing has this name",
  409: "The name is taken, or the state of a record does not allow it",
  413: "The body is too large",
  415: "The body is not application/json",
  421: "The Host is not a name of this server",
  422: "The input is not valid, or the fixtures are not; `problems` lists everything that is wrong",
  503: "The change could not be written: it was not made, or only in part, as the description says",
};

/** The refusals that an operation may answer with. @param refuses beside those of every operation @param takes whether it has a parameter or a body */
export function errorsOf(
  { method, changes }: Pick<Route, "method" | "changes">,
  refuses: readonly number[],
  takes: boolean,
): readonly string[] {
  const hasBody = method !== "GET" && method !== "DELETE";
  return [
    ...["401", "403", "421"],
    ...(hasBody ? ["400", "413", "415", "422"] : takes ? ["400", "422"] : []),
    ...refuses.map(String),
    ...(changes ? ["503"] : []),
  ].sort();
}

export const errorSchema: JsonObject = {
  type: "object",
  properties: {
    error: { type: "string", description: "A stable word" },
    error_description: { type: "string", description: "The rule that failed, and what was given" },
    hint: { type: "string", description: "The next step" },
    next: {
      type: "object",
      description: "The hint in parts, if it ends with a command",
      properties: {
        text: { type: "string" },
        command: { type: "array", items: { type: "string" }, description: "The words of the command, unquoted" },
      },
      required: ["text", "command"],
    },
    problems: {
      type: "array",
      items: {
        type: "object",
        properties: {
          file: { type: "string" },
          line: { type: "integer" },
          column: { type: "integer" },
          path: { type: "string" },
          message: { type: "string" },
          fields: { type: "array", items: { type: "string" }, description: "Other fields that the message names" },
        },
        required: ["path", "message"],
      },
    },
  },
  required: ["error", "error_description"],
};
