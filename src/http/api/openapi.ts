import * as z from "zod";
import type { JsonObject } from "../../text/json.ts";
import { jsonValueSchema } from "../../core/admin/fixtures/schema.ts";
import { pathNames, renamed, type Route } from "../../core/admin/operations/route.ts";
import type { Operation } from "../../core/admin/operations/operation.ts";
import { operations, type OperationName } from "../../core/admin/operations/routes.ts";
import { baseOf } from "../../core/base/endpoints.ts";
import { fitsEmpty, inDocument, jsonSchemas, refTo, errors, errorsOf, errorSchema } from "./openapi-schemas.ts";

/** The OpenAPI document of the control API, made from the table of operations: it lists what is mounted, and nothing else. */

/** What an operation takes and returns. */
interface Schemas {
  readonly input: JsonObject;
  readonly answer: JsonObject;
  readonly bodyRequired: boolean;
  readonly note: string | undefined;
  readonly refuses: readonly number[];
}

const json = (schema: JsonObject): JsonObject => ({ content: { "application/json": { schema } } });

const errorAnswers = (statuses: readonly string[]): JsonObject =>
  Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${status}` }]));

const propertiesOf = ({ properties = {} }: JsonObject): Readonly<Record<string, JsonObject>> =>
  properties as Readonly<Record<string, JsonObject>>;
const requiredOf = ({ required = [] }: JsonObject): readonly string[] => required as readonly string[];

const hasQuery = ({ method }: Route): boolean => method === "GET" || method === "DELETE";

function parametersOf(operation: Route, input: JsonObject): readonly JsonObject[] {
  const inPath = pathNames(operation.path);
  return Object.entries(propertiesOf(input)).flatMap(([name, schema]) => {
    if (inPath.includes(name)) return [{ name, in: "path", required: true, schema }];
    return hasQuery(operation) ? [{ name, in: "query", required: requiredOf(input).includes(name), schema }] : [];
  });
}

/** The input without what is in the path. The field that renames has the plain name there. */
function bodyOf(operation: Route, { input, bodyRequired: required }: Schemas): JsonObject | null {
  if (hasQuery(operation)) return null;
  const inPath = pathNames(operation.path);
  if (inPath.length === 0) return isEmpty(input) ? null : { required, ...json(input) };
  const properties = Object.fromEntries(
    Object.entries(propertiesOf(input))
      .filter(([name]) => !inPath.includes(name))
      .map(([name, schema]) => [inPath.find((parameter) => renamed(parameter) === name) ?? name, schema]),
  );
  const names = requiredOf(input).filter((name) => !inPath.includes(name));
  const { required: _, ...rest } = input;
  const body = { ...rest, properties, ...(names.length > 0 && { required: names }) };
  return isEmpty(body) ? null : { required, ...json(body) };
}

const isEmpty = (schema: JsonObject): boolean =>
  schema["type"] === "object" &&
  Object.keys(propertiesOf(schema)).length === 0 &&
  schema["patternProperties"] === undefined;

const success: Readonly<Record<number, string>> = {
  200: "Done",
  201: "Made",
  204: "Done; the response has no content",
};

function describe(name: OperationName, schemas: Schemas): JsonObject {
  const { input, answer } = schemas;
  const { note, refuses } = schemas;
  const operation: Route = operations[name];
  const { status, path, summary } = operation;
  const parameters = parametersOf(operation, input);
  const requestBody = bodyOf(operation, schemas);
  const links = linksOf(name);
  return {
    operationId: name,
    "x-role": operation.role,
    summary,
    ...(note !== undefined && { description: note }),
    tags: [path.split("/")[1] ?? name],
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody !== null && { requestBody }),
    responses: {
      [status]: {
        description: success[status],
        ...(status !== 204 && json(answer)),
        ...(links !== undefined && { links }),
      },
      ...errorAnswers(errorsOf(operation, refuses, parameters.length > 0)),
    },
  };
}

/**
 * The document, in OpenAPI 3.1.
 * @param server `address`: what the addresses begin with; `version`: of `idp`
 */
export async function openApiDocument({
  address,
  version,
}: {
  readonly address: string;
  readonly version: string;
}): Promise<JsonObject> {
  const names = Object.keys(operations) as OperationName[];
  const all = new Map<string, z.ZodType>();
  const said = new Map<OperationName, Pick<Schemas, "note" | "refuses">>();
  for (const name of names) {
    const { input, answer, note, refuses = [] }: Operation = await operations[name].load();
    all.set(`${name} input`, input).set(`${name} answer`, answer);
    said.set(name, { note, refuses });
  }
  const schemas = jsonSchemas(all);
  const schemasOf = (name: OperationName): Schemas => ({
    input: schemas.get(`${name} input`) ?? {},
    answer: schemas.get(`${name} answer`) ?? {},
    bodyRequired: !fitsEmpty(all.get(`${name} input`) ?? z.never(), operations[name].path),
    ...(said.get(name) ?? { note: undefined, refuses: [] }),
  });
  const paths: Record<string, Record<string, JsonObject>> = {
    "/openapi.json": {
      get: {
        operationId: "openapi",
        "x-role": "reader",
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
        "x-role": operations["requests.list"].role,
        summary: "The requests as they arrive, as server-sent events: the data of each is a Request",
        tags: ["requests"],
        parameters: parametersOf(operations["requests.list"], schemasOf("requests.list").input),
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
    here[method.toLowerCase()] = describe(name, schemasOf(name));
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
          description:
            "IDP_ADMIN_TOKEN if it was set at the start, else the token in lock.json of the data folder; or a control token of start --control-tokens, for the operations of its role (x-role)",
        },
      },
      schemas: {
        ...Object.fromEntries([...schemas].filter(([name]) => inDocument(name))),
        Json: jsonValueSchema(refTo("Json")),
        Error: errorSchema,
      },
      responses: Object.fromEntries(
        Object.entries(errors).map(([status, description]) => [status, { description, ...json(refTo("Error")) }]),
      ),
    },
  };
}

/** OpenAPI links: how to show, change and remove what a POST has made. */

interface Made {
  /** Where the name of the new record is in the answer (RFC 6901). */
  readonly at: string;
  /** The path parameter that takes it. */
  readonly parameter: string;
  readonly to: readonly OperationName[];
}

const grant: Made = { at: "/id", parameter: "id", to: ["grants.show", "grants.edit", "grants.revoke"] };

const made: Readonly<Partial<Record<OperationName, Made>>> = {
  "users.add": { at: "/username", parameter: "username", to: ["users.show", "users.edit", "users.remove"] },
  "clients.add": { at: "/client_id", parameter: "client_id", to: ["clients.show", "clients.edit", "clients.remove"] },
  "grants.add": grant,
  "issue.grant": grant,
  "faults.add": { at: "/id", parameter: "id", to: ["faults.remove"] },
  "issuers.add": { at: "/name", parameter: "name", to: ["issuers.show", "issuers.remove"] },
  "keys.rotate": { at: "/0/kid", parameter: "id", to: ["keys.show", "keys.remove"] },
};

/** The `links` of the answer of an operation; undefined if it makes nothing that has a path. */
function linksOf(name: OperationName): Readonly<Record<string, unknown>> | undefined {
  const found = made[name];
  if (found === undefined) return undefined;
  const { at, parameter, to } = found;
  return Object.fromEntries(
    to.map((operationId) => [operationId, { operationId, parameters: { [parameter]: `$response.body#${at}` } }]),
  );
}
