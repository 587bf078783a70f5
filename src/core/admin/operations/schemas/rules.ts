import type { ZodType } from "zod";
import type { JsonObject } from "../../../../text/json.ts";

/** Rules between the fields of an input. Each stands once: as a check, with its JSON Schema for the OpenAPI document beside it. */

type Input = Readonly<Record<string, unknown>>;

interface Broken {
  /** Null: the rule is about several. */
  readonly field: string | null;
  readonly message: string;
  /** The fields that the message is about. */
  readonly fields?: readonly string[];
}

export interface Rule<I extends Input = Input> {
  /** Null: the input keeps the rule. */
  readonly broken: (input: I) => Broken | null;
  readonly json: JsonObject;
}

/** The schema with these rules, which are checked once each field is valid. */
export const withRules = <I extends Input, S extends ZodType<I>>(schema: S, ...rules: readonly Rule<I>[]): S =>
  schema
    .superRefine((input, issues) => {
      for (const { broken } of rules) {
        const found = broken(input);
        if (found === null) continue;
        const { field, message, fields } = found;
        issues.addIssue({ code: "custom", path: field === null ? [] : [field], message, params: { fields } });
      }
    })
    .meta({ allOf: rules.map(({ json }) => json) });

/** A flag that is false counts as one that was left out. */
const isGiven = (input: Input, name: string): boolean => input[name] !== undefined && input[name] !== false;
const given = (name: string): JsonObject => ({ required: [name], properties: { [name]: { not: { const: false } } } });

/** At least one of these fields. */
export const needsOneOf = (names: readonly string[], message: string): Rule => ({
  broken: (input) => (names.some((name) => isGiven(input, name)) ? null : { field: null, message, fields: names }),
  json: { anyOf: names.map(given) },
});

/** A field excludes others. */
export const notBeside = (
  name: string,
  others: readonly string[],
  message = `is given beside ${others.join(" or ").replace(/ or (?=.* or )/g, ", ")}; leave one of them out`,
): Rule => ({
  broken: (input) =>
    isGiven(input, name) && others.some((other) => isGiven(input, other)) ? { field: name, message } : null,
  json: { not: { allOf: [given(name), { anyOf: others.map(given) }] } },
});

/** A field makes sense only with another one. */
export const needs = (name: string, other: string): Rule => ({
  broken: (input) =>
    isGiven(input, name) && !isGiven(input, other) ? { field: name, message: `needs ${other} too` } : null,
  json: { anyOf: [{ not: given(name) }, given(other)] },
});

/** At most one of these fields. @param message says it of those that were given */
export const atMostOne = (names: readonly string[], message: (given: readonly string[]) => string): Rule => ({
  broken: (input) => {
    const found = names.filter((name) => isGiven(input, name));
    return found.length <= 1 ? null : { field: found[0] ?? null, message: message(found), fields: names };
  },
  json: {
    not: {
      anyOf: names.flatMap((one, at) => names.slice(at + 1).map((other) => ({ allOf: [given(one), given(other)] }))),
    },
  },
});
