import type { core, ZodType } from "zod";
import { OperationError, problemText, type Problem } from "../../../base/errors.ts";
import { maxProblems } from "../../../base/fixture-files/problems.ts";
import { pathText } from "../../../base/fixture-files/located.ts";
import { isObject } from "../../../../text/json.ts";
import type { Input } from "../operation.ts";

/** Checks the input of an operation by its schema, whoever calls it. */

/** What is wrong, in the words of fixtures. */
async function problemsOf(
  schema: ZodType,
  input: unknown,
  issues: readonly core.$ZodIssue[],
): Promise<readonly Problem[]> {
  const [{ explain }, { keysOf }] = await Promise.all([
    import("../../../base/fixture-files/explain.ts"),
    import("../../fixtures/schema.ts"),
  ]);
  return issues.slice(0, maxProblems).flatMap((issue) => {
    const fields = (issue.code === "custom" ? issue.params?.["fields"] : undefined) as readonly string[] | undefined;
    const first = issue.code === "unrecognized_keys" ? { ...issue, keys: issue.keys.slice(0, maxProblems) } : issue;
    return explain(first, input, [], (below) => keysOf(schema, below)).map(({ path, message }) => ({
      path: path.length === 0 ? "" : pathText(path),
      message,
      ...(fields !== undefined && fields.length > 0 && { fields }),
    }));
  });
}

/**
 * The checked input.
 * @throws {OperationError} usage, with every problem
 */
export async function checkInput<S extends ZodType>(schema: S, given: unknown): Promise<Input<S>> {
  const fields = Object.entries(isObject(given) ? given : {});
  const input = Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  const { success, data, error } = schema.safeParse(input);
  if (success) return data as Input<S>;
  const count = error.issues.reduce((sum, one) => sum + (one.code === "unrecognized_keys" ? one.keys.length : 1), 0);
  const problems = (await problemsOf(schema, input, error.issues)).slice(0, maxProblems);
  const more = count > problems.length ? `; there are ${count} problems` : "";
  const all = problems.map(problemText).join("; ") + more;
  throw new OperationError("usage", `the input is not valid: ${all}`, { problems });
}

/** The values of a query, which are text: a number or "true" where the field takes no text. */
export function ofQuery(schema: ZodType, query: object): Record<string, unknown> {
  const fields = "shape" in schema ? (schema.shape as Readonly<Record<string, ZodType>>) : {};
  return Object.fromEntries(
    Object.entries(query).map(([name, text]: [string, unknown]) => [
      name,
      valueOf(Object.hasOwn(fields, name) ? fields[name] : undefined, text),
    ]),
  );
}

function valueOf(field: ZodType | undefined, text: unknown): unknown {
  if (field === undefined || typeof text !== "string" || field.safeParse(text).success) return text;
  if (text === "true" || text === "false") return text === "true";
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}
