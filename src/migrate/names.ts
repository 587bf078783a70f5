import { usernameForm } from "../core/identifiers.ts";
import { leave, textOf, unusable, type Draft, type DraftUser } from "./draft.ts";

/** Names that fixtures can have, made of those that other tools allow. */

/** Letters that no decomposition turns into ASCII, as they are written there. */
const spelled: Readonly<Record<string, string>> = {
  ...{ ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i", ħ: "h", ŧ: "t", ŋ: "ng", ĸ: "k" },
};

/** A name in small letters, with a dash for what is no letter or digit; "" if it has letters that ASCII cannot say. */
function asciiName(name: string): string {
  const plain = name.toLowerCase().normalize("NFKD").replaceAll(/\p{M}/gu, "");
  const spelt = plain.replaceAll(/\P{ASCII}/gu, (letter) => spelled[letter] ?? letter);
  if (/(?!\p{ASCII})[\p{L}\p{N}]/u.test(spelt)) return "";
  const formed = spelt.replaceAll(/[^a-z0-9._@+-]+/g, "-").replace(/^[^a-z0-9_]+/, "");
  return formed.slice(0, 100).replace(/-+$/, "");
}

/** The first of these that is free: the name, and the name with a number. */
function numbered(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let number = 2; isTaken(free); number++) free = `${name.slice(0, 95)}-${number}`;
  return free;
}

/** An id for a client without a usable one. @param names what it may be made of, best first */
export function formedClientId(draft: Draft, names: readonly unknown[]): string {
  const usable = names.flatMap((name) => textOf(name) ?? []).filter((name) => unusable(draft, name) === null);
  const [name = "app"] = usable.map((one) => asciiName(one).replaceAll(/[^a-z0-9]+/g, "-")).filter((one) => one !== "");
  return numbered(name, (one) => draft.clients.some(({ fields: { client_id } }) => client_id === one));
}

/** Gives the users of a draft their names. One that is a username stays, wherever in the files it stands. */
export function nameUsers(draft: Draft): void {
  const taken = new Set<string>();
  const keep = (name: unknown): string | undefined => {
    const text = textOf(name);
    if (text === undefined || !usernameForm.test(text) || taken.has(text)) return undefined;
    taken.add(text);
    return text;
  };
  const kept = draft.users.map(({ called: [name] }) => keep(name));
  for (const [index, user] of draft.users.entries()) {
    const username = kept[index] ?? formedUsername(draft, user, taken);
    taken.add(username);
    draft.users[index] = { ...user, fields: named(draft, user, username) };
  }
}

/** The fields with the username, and with the name that tokens of the tool have. */
function named(draft: Draft, { fields, called: [given] }: DraftUser, username: string): DraftUser["fields"] {
  const name = textOf(given);
  if (name === undefined || name === username || unusable(draft, name) !== null) return { ...fields, username };
  return { ...fields, username, claims: { preferred_username: name, ...fields.claims } };
}

/** A username for a user whose name is none, or is that of another user; and a line that says why. */
function formedUsername(
  draft: Draft,
  { called: [given, place], fields }: DraftUser,
  taken: ReadonlySet<string>,
): string {
  const name = textOf(given);
  const reason = name === undefined ? "has no name" : unusable(draft, name);
  const isTwice = name !== undefined && usernameForm.test(name);
  const own = name === undefined || reason !== null ? "" : isTwice ? name : asciiName(name);
  const local = asciiName(/^[^@]*/.exec(fields.email ?? "")?.[0] ?? "");
  const base = own || local || "user";
  const username = numbered(base, (one) => taken.has(one));
  const misfit = own === "" ? "has letters that no username has here" : "is not a username here";
  const why = reason ?? `${JSON.stringify(name)} ${isTwice ? "is the name of another user, too" : misfit}`;
  const origin = own === "" && local !== "" ? ", after the e-mail address" : "";
  const other = username === base || isTwice ? "" : `, since another user is called "${base}" here`;
  leave(draft, place, `${why}: this user is called "${username}"${origin}${other}`);
  return username;
}
