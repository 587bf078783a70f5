import { isObject } from "../../text/json-object.ts";
import { privateMembers } from "../keys/keys.ts";

/** What a metadata document must not contain, because anybody can read it (Client ID Metadata Document 4.1). */

/** Members that only keys have: one without its `kty` is a key too. */
const keyMembers = ["kty", "crv", "n", "d", "k"] as const;
const isKey = (value: Readonly<Record<string, unknown>>): boolean =>
  keyMembers.some((name) => typeof value[name] === "string");

const isPrivatePem = (text: string): boolean => /-----BEGIN [\w ]*PRIVATE KEY-----/.test(text);

/** Names of what only the client may know; in a key, the members that make it one. */
function secretNames(value: Readonly<Record<string, unknown>>): readonly string[] {
  const names = Object.keys(value).filter((name) =>
    /secret|password|private_key|registration_access_token/i.test(name),
  );
  return isKey(value) ? [...names, ...privateMembers.filter((name) => Object.hasOwn(value, name))] : names;
}

/** The first secret in a document, in words; null: it has none. */
export function secretIn(value: unknown): string | null {
  if (typeof value === "string") return isPrivatePem(value) ? "a private key in PEM format" : null;
  if (Array.isArray(value)) return value.map(secretIn).find((found) => found !== null) ?? null;
  if (!isObject(value)) return null;
  const [name] = secretNames(value);
  if (name !== undefined) return isKey(value) ? `a private or secret key ("${name}")` : name;
  return isKey(value) && value["kty"] === "oct" ? 'a secret key (kty "oct")' : secretIn(Object.values(value));
}

/** A document as others may see it. */
export function withoutSecrets(value: unknown): unknown {
  if (typeof value === "string") return isPrivatePem(value) ? "…" : value;
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  const hidden = secretNames(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, hidden.includes(name) ? "…" : withoutSecrets(one)]),
  );
}
