import type { JsonObject } from "../../text/json-object.ts";
import type { Operation } from "../../core/operations/operation.ts";

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

/** The refusals that an operation may answer with. @param takes whether it has a parameter or a body */
export function errorsOf({ method, refuses, changes }: Operation, takes: boolean): readonly string[] {
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
