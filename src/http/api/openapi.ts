import * as z from "zod";
import { clientSchema } from "../../core/fixtures/schema/client.ts";
import { fixtureFileSchema, translatedKeys } from "../../core/fixtures/schema/schema.ts";
import { userSchema } from "../../core/fixtures/schema/user.ts";
import { operationDocs } from "../../core/operations/docs.ts";
import { kindOf } from "../../core/operations/input.ts";
import type { Operation } from "../../core/operations/operation.ts";
import { client, grant, key, session, user } from "../../core/operations/schemas.ts";
import { operations, type OperationName } from "../../core/operations/table.ts";
import { baseOf } from "../../core/endpoints.ts";

/** The OpenAPI document of the control API (CONTRACT 9), made of the table of operations: it lists what is mounted, and nothing else. */

type Json = Readonly<Record<string, unknown>>;

/** Schemas that more than one place speaks of, under their names in the document. */
const named: Readonly<Record<string, z.ZodType>> = {
  User: user,
  Client: client,
  Grant: grant,
  Session: session,
  Key: key,
  FixtureUser: userSchema,
  FixtureClient: clientSchema,
  Fixtures: fixtureFileSchema,
};

const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** JSON Schemas of all that is named, and of all others under a key, which refer to those. */
function jsonSchemas(others: Readonly<Record<string, z.ZodType>>): Readonly<Record<string, Json>> {
  const registry = z.registry<{ id?: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  for (const [id, schema] of Object.entries(others)) if (!registry.has(schema)) registry.add(schema, { id });
  const uri = (id: string): string => `#/components/schemas/${id}`;
  const { schemas } = z.toJSONSchema(registry, { io: "input", uri, override: translatedKeys });
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
const schemaOf = (declared: string): Json => kinds[kindOf(declared)] ?? {};

/** `/users/:username`: its names. */
const pathNames = ({ path }: Operation): readonly string[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);

const json = (schema: Json): Json => ({ content: { "application/json": { schema } } });

const errors: Readonly<Record<string, string>> = {
  400: "The body cannot be read as JSON, or the path not as a URL",
  401: "No admin token, or another one",
  403: "A page of another origin asks",
  404: "There is nothing of this name",
  409: "The name is taken, or the state of the record does not allow it",
  413: "The body is too large",
  415: "The body is not application/json",
  421: "The Host is not a name of this server",
  422: "The input is not valid, or the operation is refused; `problems` lists all that is wrong",
  503: "The change could not be written, and was not made, or not all of it: the description tells",
};

/** Which of them an operation may answer. */
function errorsOf(operation: Operation): readonly string[] {
  const hasBody = operation.method === "POST" || operation.method === "PATCH";
  const names = Object.keys(operation.fields);
  const isNamed = names.some((name) => ["username", "client_id", "id", "user", "client", "grant"].includes(name));
  return [
    ...["401", "403", "421"],
    ...(hasBody ? ["400", "413", "415", "422"] : []),
    ...(!hasBody && names.length > 0 ? ["400", "422"] : []),
    ...(isNamed ? ["404"] : []),
    ...(operation.changes ? ["503"] : []),
    ...(operation.changes && hasBody && names.length > 0 ? ["409"] : []),
    // A key that signs is in use.
    ...(operation === operations["keys.remove"] ? ["409"] : []),
  ].sort();
}

const errorAnswers = (statuses: readonly string[]): Json =>
  Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${status}` }]));

function parametersOf(operation: Operation): readonly Json[] {
  const inPath = pathNames(operation);
  const isQuery = operation.method === "GET" || operation.method === "DELETE";
  return Object.entries(operation.fields).flatMap(([name, kind]) => {
    if (inPath.includes(name)) return [{ name, in: "path", required: true, schema: schemaOf(kind) }];
    return isQuery ? [{ name, in: "query", required: !isOptional(kind), schema: schemaOf(kind) }] : [];
  });
}

/** @param whole the schema of the body where the operation takes it whole; the table of fields says it otherwise */
function bodyOf(operation: Operation, whole: Json | undefined): Json | null {
  if (operation.method === "GET" || operation.method === "DELETE") return null;
  if (whole !== undefined) return { required: true, ...json(whole) };
  const inPath = pathNames(operation);
  const fields = Object.entries(operation.fields).filter(([name]) => !inPath.includes(name));
  if (fields.length === 0) return null;
  const required = fields.filter(([, kind]) => !isOptional(kind)).map(([name]) => name);
  const properties = Object.fromEntries(fields.map(([name, kind]) => [name, schemaOf(kind)]));
  const schema = { type: "object", properties, ...(required.length > 0 && { required }), additionalProperties: false };
  return { required: required.length > 0, ...json(schema) };
}

const success: Readonly<Record<number, string>> = { 200: "Done", 201: "Made", 204: "Done; there is nothing to say" };

function describe(name: OperationName, schemas: Readonly<Record<string, Json>>): Json {
  const operation = operations[name] as unknown as Operation;
  const { status, path } = operation;
  const parameters = parametersOf(operation);
  const requestBody = bodyOf(operation, schemas[`${name} body`]);
  return {
    operationId: name,
    summary: operationDocs[name].summary,
    tags: [path.split("/")[1] ?? name],
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody !== null && { requestBody }),
    responses: {
      [status]: { description: success[status], ...(status !== 204 && json(schemas[`${name} answer`] ?? {})) },
      ...errorAnswers(errorsOf(operation)),
    },
  };
}

const errorSchema: Json = {
  type: "object",
  properties: {
    error: { type: "string", description: "A stable word" },
    error_description: { type: "string", description: "The rule that failed, and what was given" },
    hint: { type: "string", description: "The next step" },
    next: {
      type: "object",
      description: "The hint taken apart, where it ends with a command",
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
        },
        required: ["path", "message"],
      },
    },
  },
  required: ["error", "error_description"],
};

/**
 * The document, in OpenAPI 3.1.
 * @param server `issuer`: what the addresses begin with; `version`: of `idp`
 */
export function openApiDocument({ issuer, version }: { readonly issuer: string; readonly version: string }): Json {
  const names = Object.keys(operations) as OperationName[];
  const schemas = jsonSchemas(
    Object.fromEntries(
      names.flatMap((name) => {
        const { answer, body } = operationDocs[name];
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
  };
  for (const name of names) {
    const { method, path } = operations[name];
    const here = (paths[path.replaceAll(/:(\w+)/g, "{$1}")] ??= {});
    here[method.toLowerCase()] = describe(name, schemas);
  }
  return {
    openapi: "3.1.0",
    info: { title: "The control API of idp", version },
    servers: [{ url: `${baseOf(issuer)}/_idp/api` }],
    security: [{ adminToken: [] }],
    paths,
    components: {
      securitySchemes: {
        adminToken: {
          type: "http",
          scheme: "bearer",
          description: "IDP_ADMIN_TOKEN of the start, else the one that lock.json of the data folder holds",
        },
      },
      schemas: { ...Object.fromEntries(Object.keys(named).map((name) => [name, schemas[name]])), Error: errorSchema },
      responses: Object.fromEntries(
        Object.entries(errors).map(([status, description]) => [status, { description, ...json(refTo("Error")) }]),
      ),
    },
  };
}
