import type { ZodType } from "zod";
import { jsonSchemas } from "../../../http/api/openapi-schemas.ts";
import { operations, type OperationName } from "../../../core/admin/operations/routes.ts";
import { keptFields } from "../../../core/protocol/client-metadata/schema.ts";
import { isObject, type JsonObject } from "../../../text/json.ts";

/** The JSON Schemas of tools: those of the operations' own inputs, as the OpenAPI document has them. */

/** Fields that no tool takes: secrets of others, what is computed or for programs alone, and what changes nothing here. */
const hidden = ["secrets", "hasPassword", "parts", ...keptFields];

let made: Promise<ReadonlyMap<string, JsonObject>> | null = null;

async function inputsOf(names: readonly OperationName[]): Promise<ReadonlyMap<string, JsonObject>> {
  const all = new Map<string, ZodType>();
  for (const name of names) all.set(name, (await operations[name].load()).input);
  return jsonSchemas(all);
}

/** Patterns are long, and an agent pays for each word: the operation names the rule that a value breaks. */
const isDear = (name: string, value: unknown): boolean =>
  (name === "pattern" && typeof value === "string") || name === "propertyNames";

/** References to named schemas are replaced by what they name. One that may hold any JSON refers to itself. */
function resolved(value: unknown, named: ReadonlyMap<string, JsonObject>): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => resolved(one, named));
  if (!isObject(value)) return value;
  const { $ref: to } = value;
  if (typeof to === "string") return resolved(named.get(to.replace("#/components/schemas/", "")) ?? {}, named);
  const kept = Object.entries(value).filter(([name, one]) => !isDear(name, one));
  return Object.fromEntries(kept.map(([name, one]) => [name, resolved(one, named)]));
}

export interface InputSchema {
  readonly properties: Readonly<Record<string, JsonObject>>;
  readonly required: readonly string[];
  readonly patternProperties: JsonObject | undefined;
}

/** What an operation takes. @param every the operations of all tools, whose schemas are made at once */
export async function inputOf(name: OperationName, every: readonly OperationName[]): Promise<InputSchema> {
  made ??= inputsOf(every);
  const all = await made;
  const schema = resolved(all.get(name) ?? {}, all) as JsonObject;
  const { properties = {}, required = [], patternProperties } = schema as Partial<InputSchema>;
  const shown = Object.entries(properties).filter(([field]) => !hidden.includes(field));
  return { properties: Object.fromEntries(shown), required, patternProperties };
}

/** An object of these fields. Rules between fields are the operation's: not every client takes them at the top of a schema. */
export const objectSchema = ({ properties, required, patternProperties }: InputSchema): JsonObject => ({
  type: "object",
  properties,
  ...(required.length > 0 && { required }),
  ...(patternProperties !== undefined && { patternProperties }),
  additionalProperties: false,
});
