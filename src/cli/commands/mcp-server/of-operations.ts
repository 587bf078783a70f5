import { pathNames, type Route } from "../../../core/admin/operations/route.ts";
import { operations, type OperationName } from "../../../core/admin/operations/routes.ts";
import { roles, type Role } from "../../../core/records/operators/roles.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { isObject, type JsonObject } from "../../../text/json.ts";
import { count } from "../../output/words.ts";
import type { Answer } from "./answer.ts";
import { clientApart, warning } from "./from-request.ts";
import { inputOf, objectSchema, type InputSchema } from "./schemas.ts";
import type { Session, Tool } from "./tool.ts";

/** Tools that call operations: one each, or one of several that a field chooses. */

const operationOf = (name: OperationName): Route => operations[name];

const mayAs = (role: Role, name: OperationName): boolean =>
  roles.indexOf(role) >= roles.indexOf(operationOf(name).role);

/** What an operation answered, for an agent. @param noun "users" */
export function answerOf(noun: string, output: unknown): Answer {
  if (Array.isArray(output)) {
    const list = noun === "clients" ? (output as unknown[]).map(clientApart) : (output as unknown[]);
    const lines = [`${count(list.length, noun.replace(/s$/, ""))}.`, ...(list.some(isApart) ? [warning] : [])];
    return { lines, data: { [noun]: list }, list: noun };
  }
  if (!isObject(output)) return { lines: ["Done."], data: { done: true } };
  const data = (noun === "clients" ? clientApart(output) : output) as JsonObject;
  return { lines: isApart(data) ? [warning] : [], data };
}

const isApart = (value: unknown): boolean => isObject(value) && value["from_request"] !== undefined;

/** @throws {OperationError} usage for a field that the tool does not have */
function requireFields(input: JsonObject, { properties, patternProperties = {} }: InputSchema): void {
  const patterns = Object.keys(patternProperties).map((pattern) => new RegExp(pattern));
  const unknown = Object.keys(input).find(
    (name) => !Object.hasOwn(properties, name) && !patterns.some((pattern) => pattern.test(name)),
  );
  if (unknown === undefined) return;
  throw new OperationError("usage", `this tool has no field "${unknown}"`, {
    hint: `Its fields are ${Object.keys(properties).join(", ")}.`,
  });
}

/** Asks an operation by its name, which the compiler does not know. */
const ask = (session: Session, name: OperationName, input: JsonObject): Promise<unknown> => session.call(name, input);

interface OneOperation extends Pick<Tool, "name" | "hints"> {
  readonly operation: OperationName;
  /** The command that does the same, without `idp`. */
  readonly command: string;
  /** Looks at the input before anything is asked. @throws {OperationError} */
  readonly check?: (session: Session, input: JsonObject) => Promise<void>;
  readonly answer?: (output: unknown) => Answer;
}

const nounOf = (name: OperationName): string => name.split(".")[0] ?? "";

/** A tool for one operation, in the words of the operation. */
export const toolOf =
  ({
    name,
    operation,
    command,
    hints,
    check,
    answer = (output) => answerOf(nounOf(operation), output),
  }: OneOperation) =>
  (every: readonly OperationName[]): Tool => ({
    ...{ name, hints, role: operationOf(operation).role },
    description: `${operationOf(operation).summary}. The command: idp ${command}`,
    schema: async () => objectSchema(await inputOf(operation, every)),
    run: async (session, input) => {
      requireFields(input, await inputOf(operation, every));
      await check?.(session, input);
      return answer(await ask(session, operation, input));
    },
  });

interface Choice extends Pick<Tool, "name" | "hints"> {
  readonly summary: string;
  readonly command: string;
  /** The field that chooses. */
  readonly field: string;
  readonly choices: Readonly<Record<string, OperationName>>;
  /** The choice where the field is absent. */
  readonly usual?: string;
  /** The name of the field that names a record, whatever each operation calls it. */
  readonly named?: string;
  readonly answer?: (output: unknown, choice: string) => Answer;
}

/** A field of an operation under the name that the tool has for it. */
const renamedIn = (name: OperationName, named: string | undefined, field: string): string =>
  named !== undefined && pathNames(operationOf(name).path).includes(field) ? named : field;

/** A tool whose field chooses the operation. A role sees the choices that it has. */
export const choiceOf =
  ({ name, summary, command, field, choices, usual, named, hints, answer = byChoice }: Choice) =>
  (every: readonly OperationName[]): Tool => {
    const all = Object.entries(choices);
    const lowest = roles.find((role) => all.some(([, operation]) => mayAs(role, operation))) ?? "admin";
    const schemaFor = async (role: Role): Promise<InputSchema> => {
      const open = all.filter(([, operation]) => mayAs(role, operation));
      const inputs = await Promise.all(
        open.map(async ([, operation]) => [operation, await inputOf(operation, every)] as const),
      );
      const properties = inputs.flatMap(([operation, { properties: own }]) =>
        Object.entries(own).map(([key, schema]) => [renamedIn(operation, named, key), schema] as const),
      );
      return {
        properties: {
          [field]: {
            type: "string",
            enum: open.map(([choice]) => choice),
            ...(usual !== undefined && { description: `Absent: ${usual}` }),
          },
          ...Object.fromEntries(properties),
        },
        required: [...(usual === undefined ? [field] : []), ...(named === undefined ? [] : [named])],
        patternProperties: undefined,
      };
    };
    return {
      ...{ name, hints, role: lowest },
      description: `${summary}. The command: idp ${command}`,
      schema: async (role) => objectSchema(await schemaFor(role)),
      run: async (session, input) => {
        requireFields(input, await schemaFor("admin"));
        const { [field]: given = usual, ...rest } = input;
        const chosen = String(given);
        const operation = Object.hasOwn(choices, chosen) ? choices[chosen] : undefined;
        if (operation === undefined) {
          throw new OperationError("usage", `${field} must be one of ${Object.keys(choices).join(", ")}`, {});
        }
        const [parameter] = pathNames(operationOf(operation).path);
        const asked = Object.fromEntries(
          Object.entries(rest).map(([key, value]) => [
            key === named && parameter !== undefined ? parameter : key,
            value,
          ]),
        );
        return answer(await ask(session, operation, asked), chosen);
      },
    };
  };

const byChoice = (output: unknown, choice: string): Answer => answerOf(choice, output);
