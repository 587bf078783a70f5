/** Parameters of a request as they were sent. The value of a name that was sent twice is a list. */
export type RawParameters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The single value of a parameter; one without a value counts as not sent (RFC 6749 3.1). */
export function single(raw: RawParameters, name: string): string | undefined {
  const value = Object.hasOwn(raw, name) ? raw[name] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}
