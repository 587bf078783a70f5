/** A JSON object; an array is not one. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * What a map holds under a name that somebody else chose. Every object inherits `constructor`, `toString` and others, which nobody put
 * there.
 */
export const ownValue = <T>(map: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(map, name) ? map[name] : undefined;

/** The same value with the fields of every object sorted. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const fields = value as Readonly<Record<string, unknown>>;
  // An assignment to `__proto__` would set the prototype.
  return Object.fromEntries(
    Object.keys(fields)
      .sort()
      .map((key) => [key, sorted(fields[key])]),
  );
}

/** The same text for the same value, whatever the order of its fields. */
export const canonical = (value: unknown): string => (value === undefined ? "" : JSON.stringify(sorted(value)));

/** Whether two values are the same JSON. */
export const sameJson = (a: unknown, b: unknown): boolean => a === b || canonical(a) === canonical(b);
