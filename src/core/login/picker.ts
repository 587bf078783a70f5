import type { ReadTx, User } from "../../store/store.ts";
import { badgesOf, groupsOf } from "../users/roles.ts";
import type { Context } from "../context.ts";

/** One page of the users to pick from. It reads the store each time, so it follows every change. */

export interface UserPage {
  readonly users: readonly User[];
  /** How many match. */
  readonly total: number;
  /** From 1. */
  readonly page: number;
  readonly pages: number;
  /** How many users there are; at most {@link lookedThrough} of them were looked at. */
  readonly everybody: number;
}

/** Letters without their marks, so that "celik" finds "Çelik"; ı and İ are i, whatever the language. */
const fold = (text: string): string =>
  text
    .normalize("NFD")
    .replaceAll(/\p{Mn}/gu, "")
    .toLowerCase()
    .replaceAll("ı", "i");

/** What a search looks at. */
const searchable = (user: User): string =>
  fold([user.displayName, user.username, user.email, ...badgesOf(user), ...groupsOf(user)].join("\n"));

/** At most so many users are looked at, so that a search costs no more with 100,000 of them. */
export const lookedThrough = 5_000;

/** The users with exactly this name or address, found by an index. */
function namedExactly(tx: ReadTx, name: string, max: number): readonly User[] {
  const byName = tx.find("users", "username", name);
  const byEmail = tx.findAll("users", "email", name.toLowerCase()).slice(0, max);
  return [...new Set([...(byName === undefined ? [] : [byName]), ...byEmail])];
}

/** The users who match, up to `max` of them, `leading` first. */
function matching(tx: ReadTx, leading: readonly User[], wanted: string, max: number): User[] {
  const found = [...leading];
  let looked = 0;
  for (const user of tx.all("users")) {
    if (looked === lookedThrough || found.length >= max) break;
    looked += 1;
    if (!leading.includes(user) && (wanted === "" || searchable(user).includes(wanted))) found.push(user);
  }
  return found;
}

/**
 * @param query part of a name, user name, e-mail address, role or group; "" for every user
 * @param first shown before all others on the first page
 */
export const pageOfUsers = (
  ctx: Context,
  {
    query,
    page: asked,
    size,
    first,
  }: { readonly query: string; readonly page: number; readonly size: number; readonly first: string | null },
): Promise<UserPage> =>
  ctx.store.read((tx) => {
    const everybody = tx.count("users");
    const typed = query.trim();
    const wanted = fold(typed);
    const likely = first === null ? undefined : tx.get("users", first);
    const leading = wanted !== "" ? namedExactly(tx, typed, size) : likely === undefined ? [] : [likely];
    // Without a query the count is known, and only the users up to this page are looked at.
    const known = Math.min(everybody, lookedThrough);
    const found = matching(tx, leading, wanted, wanted === "" ? Math.min(asked * size, known) : Infinity);
    const total = wanted === "" ? everybody : found.length;
    const pages = Math.max(1, Math.ceil((wanted === "" ? known : total) / size));
    // A page beyond the last one is the last one.
    const page = Math.min(asked, pages);
    const users = found.slice((page - 1) * size, page * size);
    return { users, total, page, pages, everybody };
  });
