import * as z from "zod";
import { clientSchema } from "../../core/clients/schema.ts";
import {
  addedClientRules,
  beyondZod,
  fixtureClientRules,
  jsonValueSchema,
  type ClientRules,
} from "../../core/fixtures/schema/json-schema.ts";
import { faultSchema } from "../../core/testing/faults/schema.ts";
import { fixtureFileSchema } from "../../core/fixtures/schema/schema.ts";
import { userSchema } from "../../core/users/schema.ts";
import { operationDocs } from "../../core/operations/docs/docs.ts";
import { inputDocs, type InputDoc } from "../../core/operations/docs/input-docs.ts";
import { kindOf } from "../../core/operations/input.ts";
import type { Operation } from "../../core/operations/operation.ts";
import {
  client,
  clientInput,
  clientPatch,
  clientRecord,
  fault,
  clock,
  grant,
  issuer,
  key,
  request,
  session,
  snapshot,
  user,
} from "../../core/operations/docs/schemas.ts";
import { operations, type OperationName } from "../../core/operations/table.ts";
import { baseOf } from "../../core/endpoints.ts";
import { errors, errorsOf, errorSchema } from "./openapi-errors.ts";
import { linksOf } from "./openapi-links.ts";

/** The OpenAPI document of the control API, made from the table of operations: it lists what is mounted, and nothing else. */

type Json = Readonly<Record<string, unknown>>;

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

const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** The JSON Schemas of `named`, and of `others`, which refer to those. */
function jsonSchemas(others: Readonly<Record<string, z.ZodType>>): Readonly<Record<string, Json>> {
  const registry = z.registry<{ id?: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  for (const [id, schema] of Object.entries(others)) if (!registry.has(schema)) registry.add(schema, { id });
  const uri = (id: string): string => `#/components/schemas/${id}`;
  const { schemas } = z.toJSONSchema(registry, { io: "input", uri, override: beyondZod(refTo("Json"), clients) });
  const plain = ({ $schema: _, $id: __, ...schema }: Json): Json => schema;
  const made = new Map(Object.entries(schemas as Readonly<Record<string, Json>>));
  const schemaAt = (schema: z.ZodType): Json => {
    const id = registry.get(schema)?.id ?? "";
    return Object.hasOwn(named, id) ? refTo(id) : plain(made.get(id) ?? {});
  };
  return {
    ...Object.fromEntries(Object.keys(named).map((name) => [name, plain(made.get(name) ?? {})])),
    ...Object.fromEntries(Object.entries(others).map(([id, schema]) => [id, schemaAt(schema)])),
  };
}

const kinds: Readonly<Record<string, Json>> = {
  string: { type: "string" },
  boolean: { type: "boolean" },
  number: { type: "number" },
  array: { type: "array" },
  any: {},
};

const isOptional = (kind: string): boolean => kind.endsWith("?");

/** @param exact the schema of the field, if its kind says too little */
function schemaOf(declared: string, exact: z.ZodType | undefined): Json {
  if (exact === undefined) return kinds[kindOf(declared)] ?? {};
  const { $schema: _, ...schema } = z.toJSONSchema(exact, { io: "input", override: beyondZod(refTo("Json"), clients) });
  return schema;
}

/** The parameters of a path: `username` of `/users/:username`. */
const pathNames = ({ path }: Operation): readonly string[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);

const json = (schema: Json): Json => ({ content: { "application/json": { schema } } });

const errorAnswers = (statuses: readonly string[]): Json =>
  Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${status}` }]));

function parametersOf(operation: Operation, { fields = {} }: InputDoc): readonly Json[] {
  const inPath = pathNames(operation);
  const isQuery = operation.method === "GET" || operation.method === "DELETE";
  return Object.entries(operation.fields).flatMap(([name, kind]) => {
    if (inPath.includes(name)) return [{ name, in: "path", required: true, schema: schemaOf(kind, fields[name]) }];
    return isQuery ? [{ name, in: "query", required: !isOptional(kind), schema: schemaOf(kind, fields[name]) }] : [];
  });
}

/** @param whole the schema of the body, if the operation takes it whole; otherwise the table of fields describes it */
function bodyOf(operation: Operation, whole: Json | undefined, { body, fields = {}, rules }: InputDoc): Json | null {
  if (operation.method === "GET" || operation.method === "DELETE") return null;
  // An empty body is {}.
  if (whole !== undefined) return { required: body?.safeParse({}).success !== true, ...json(whole) };
  const inPath = pathNames(operation);
  const here = Object.entries(operation.fields).filter(([name]) => !inPath.includes(name));
  if (here.length === 0) return null;
  const required = here.filter(([, kind]) => !isOptional(kind)).map(([name]) => name);
  const properties = Object.fromEntries(here.map(([name, kind]) => [name, schemaOf(kind, fields[name])]));
  const schema = {
    type: "object",
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    ...rules,
  };
  return { required: required.length > 0 || rules?.["anyOf"] !== undefined, ...json(schema) };
}

const success: Readonly<Record<number, string>> = {
  200: "Done",
  201: "Made",
  204: "Done; the response has no content",
};

function describe(name: OperationName, schemas: Readonly<Record<string, Json>>): Json {
  const operation = operations[name] as unknown as Operation;
  const { status, path } = operation;
  const input = inputDocs[name] ?? {};
  const parameters = parametersOf(operation, input);
  const requestBody = bodyOf(operation, schemas[`${name} body`], input);
  const links = linksOf(name);
  return {
    operationId: name,
    summary: operationDocs[name].summary,
    ...(input.note !== undefined && { description: input.note }),
    tags: [path.split("/")[1] ?? name],
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody !== null && { requestBody }),
    responses: {
      [status]: {
        description: success[status],
        ...(status !== 204 && json(schemas[`${name} answer`] ?? {})),
        ...(links !== undefined && { links }),
      },
      ...errorAnswers(errorsOf(operation)),
    },
  };
}

/**
 * The document, in OpenAPI 3.1.
 * @param server `address`: what the addresses begin with; `version`: of `idp`
 */
export function openApiDocument({ address, version }: { readonly address: string; readonly version: string }): Json {
  const names = Object.keys(operations) as OperationName[];
  const schemas = jsonSchemas(
    Object.fromEntries(
      names.flatMap((name) => {
        const { answer } = operationDocs[name];
        const body = inputDocs[name]?.body;
        return [[`${name} answer`, answer], ...(body === undefined ? [] : [[`${name} body`, body] as const])] as const;
      }),
    ),
  );
  const paths: Record<string, Record<string, Json>> = {
    "/openapi.json": {
      get: {
        operationId: "openapi",
        summary: "This document",
        tags: ["openapi.json"],
        responses: {
          200: { description: success[200], ...json({ type: "object" }) },
          ...errorAnswers(["401", "403", "421"]),
        },
      },
    },
    "/requests/stream": {
      get: {
        operationId: "requests.stream",
        summary: "The requests as they arrive, as server-sent events: the data of each is a Request",
        tags: ["requests"],
        parameters: parametersOf(operations["requests.list"], inputDocs["requests.list"] ?? {}),
        responses: {
          200: { description: success[200], content: { "text/event-stream": { schema: { type: "string" } } } },
          ...errorAnswers(["400", "401", "403", "421", "422"]),
        },
      },
    },
  };
  for (const name of names) {
    const { method, path } = operations[name];
    const here = (paths[path.replaceAll(/:(\w+)/g, "{$1}")] ??= {});
    here[method.toLowerCase()] = describe(name, schemas);
  }
  return {
    openapi: "3.1.0",
    info: { title: "The control API of idp", version },
    servers: [{ url: `${baseOf(address)}/_idp/api` }],
    security: [{ adminToken: [] }],
    paths,
    components: {
      securitySchemes: {
        adminToken: {
          type: "http",
          scheme: "bearer",
          description: "IDP_ADMIN_TOKEN if it was set at the start, else the token in lock.json of the data folder",
        },
      },
      schemas: {
        ...Object.fromEntries(Object.keys(named).map((name) => [name, schemas[name]])),
        Json: jsonValueSchema(refTo("Json")),
        Error: errorSchema,
      },
      responses: Object.fromEntries(
        Object.entries(errors).map(([status, description]) => [status, { description, ...json(refTo("Error")) }]),
      ),
    },
  };
}
