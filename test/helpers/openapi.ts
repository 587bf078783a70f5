import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { openApiDocument } from "../../src/http/api/openapi.ts";
import type { OperationName } from "../../src/core/admin/operations/routes.ts";
import type { Idp } from "../../src/index.ts";

/** The OpenAPI document, and the control API as it describes it. */

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: object }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: { readonly "application/json": { readonly schema: object } };
  };
  readonly responses: Readonly<Record<string, { readonly links?: Readonly<Record<string, Link>> }>>;
}
interface Link {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
}

export const document = (await openApiDocument({ address: "http://localhost:4370", version: "0.0.0" })) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
};
const ajv = new Ajv2020({ strict: false });
export const compiled = (schema: object): ValidateFunction =>
  ajv.compile({ ...schema, components: document.components });
export const described = (name: OperationName): Described =>
  Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .find(({ operationId }) => operationId === name) as Described;

export const bodyOf = (name: OperationName): NonNullable<Described["requestBody"]> => {
  const { requestBody } = described(name);
  if (requestBody === undefined) throw new Error(`${name} has no body`);
  return requestBody;
};
export const schemaOf = (name: OperationName): ValidateFunction =>
  compiled(bodyOf(name).content["application/json"].schema);

export async function call(idp: Idp, method: string, path: string, body?: unknown) {
  // An operation changes the issuer.
  const response = await fetch(`http://localhost:${idp.port}/_idp/api${path}`, {
    method,
    headers: { authorization: `Bearer ${idp.adminToken}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, body: text === "" ? null : (JSON.parse(text) as unknown) };
}
