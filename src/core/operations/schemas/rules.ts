/** Rules between the fields of an input: as a check, and as JSON Schema for the OpenAPI document. */

type Input = Readonly<Record<string, unknown>>;

/** At least one of these fields. */
export const hasAny =
  (...names: readonly string[]) =>
  (input: Input): boolean =>
    names.some((name) => input[name] !== undefined);

export const anyRequired = (...names: readonly string[]) => ({ anyOf: names.map((name) => ({ required: [name] })) });

/** At most one of these flags. */
export const atMostOne =
  (...names: readonly string[]) =>
  (input: Input): boolean =>
    names.filter((name) => input[name] === true).length <= 1;

/** JSON Schema: not both. */
export const notBoth = (one: string, other: string) => ({
  not: { required: [one, other], properties: { [one]: { const: true }, [other]: { const: true } } },
});
