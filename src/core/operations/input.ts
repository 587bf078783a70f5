import { OperationError, type Problem } from "../errors.ts";
import { isObject } from "../json-object.ts";
import type { Fields, InputOf } from "./operation.ts";

/** Checks the input of an operation against its table of fields, whoever calls it. */

/** @param kind without the mark of what may be absent */
function isKind(kind: string, value: unknown): boolean {
  if (kind === "any") return true;
  if (kind === "body") return isObject(value);
  return kind === "array" ? Array.isArray(value) : typeof value === kind;
}

/** The kind of a field: "string" of `string?`. */
export const kindOf = (declared: string): string => declared.replace("?", "");

/**
 * The checked input of an operation.
 * @throws {OperationError} usage, with every problem at once
 */
export async function checkInput(fields: Fields, given: ReadonlyMap<string, unknown>): Promise<InputOf<Fields>> {
  const problems: Problem[] = [];
  const input: Record<string, unknown> = {};
  for (const [name, declared] of Object.entries(fields)) {
    const value = given.get(name);
    if (value === undefined && declared.endsWith("?")) continue;
    if (value === undefined) problems.push({ path: name, message: "is missing" });
    else if (!isKind(kindOf(declared), value)) {
      problems.push({ path: name, message: `has to be of type ${kindOf(declared)}` });
    } else input[name] = value;
  }
  for (const [name, value] of given) {
    if (Object.hasOwn(fields, name) || value === undefined) continue;
    const { didYouMean } = await import("../nearest.ts");
    problems.push({ path: name, message: didYouMean(name, Object.keys(fields), "This field is not known here.").text });
  }
  if (problems.length > 0) {
    const listed = problems.map(({ path, message }) => `${path}: ${message}`).join("; ");
    throw new OperationError("usage", `the input is not valid: ${listed}`, { problems });
  }
  return input;
}
