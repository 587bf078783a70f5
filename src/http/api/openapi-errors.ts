import type { Operation } from "../../core/operations/operation.ts";
import { operations } from "../../core/operations/table.ts";

/** The refusals in the OpenAPI document: which an operation may answer with, and what they look like. */

type Json = Readonly<Record<string, unknown>>;

export const errors: Readonly<Record<string, string>> = {
  400: "The body cannot be read as JSON, or the path as a URL",
  401: "The admin token is missing or wrong",
  403: "The request comes from a page of another origin",
  404: "Nothing has this name",
  409: "The name is taken, or the state of a record does not allow it",
  413: "The body is too large",
  415: "The body is not application/json",
  421: "The Host is not a name of this server",
  422: "The input is not valid; `problems` lists everything that is wrong",
  503: "The change could not be written: it was not made, or only in part, as the description says",
};

/** The refusals that an operation may answer with. */
export function errorsOf(operation: Operation): readonly string[] {
  const hasBody = operation.method !== "GET" && operation.method !== "DELETE";
  const names = Object.keys(operation.fields);
  const isNamed = names.some((name) => ["username", "client_id", "id", "user", "client", "grant"].includes(name));
  return [
    ...["401", "403", "421"],
    ...(hasBody ? ["400", "413", "415", "422"] : []),
    ...(!hasBody && names.length > 0 ? ["400", "422"] : []),
    ...(isNamed ? ["404"] : []),
    ...(operation.changes ? ["503"] : []),
    ...(operation.changes && hasBody && names.length > 0 ? ["409"] : []),
    // A key that is in use for signing cannot be removed.
    ...(operation === operations["keys.remove"] ? ["409"] : []),
  ].sort();
}

export const errorSchema: Json = {
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
        },
        required: ["path", "message"],
      },
    },
  },
  required: ["error", "error_description"],
};
