/** The kinds of names that are in the data. The name of a value in the help says which it is: `<username>`, `<client_id>`. */

const kinds = [
  ...(["username", "client_id", "grant_id", "session_id", "kid"] as const),
  ...(["fault_id", "request_id", "snapshot", "scopes", "issuer"] as const),
] as const;

export type NameKind = (typeof kinds)[number];

const known: readonly string[] = kinds;

export const isNameKind = (name: string): name is NameKind => known.includes(name);
