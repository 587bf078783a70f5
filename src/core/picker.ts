import type { User } from "../store/store.ts";
import type { Context } from "./context.ts";

/** One page of the users to pick from. */

export interface UserPage {
  readonly users: readonly User[];
  /** How many match. */
  readonly total: number;
  /** From 1. */
  readonly page: number;
  readonly pages: number;
}

/** Letters without their marks, so that "celik" finds "Çelik"; ı and İ are i, whatever the language. */
const fold = (text: string): string =>
  text
    .normalize("NFD")
    .replaceAll(/\p{Mn}/gu, "")
    .toLowerCase()
    .replaceAll("ı", "i");

/** What of a user is searched, folded once: records never change, a changed user is a new one. */
const folded = new WeakMap<User, string>();

function searchable(user: User): string {
  let text = folded.get(user);
  if (text === undefined) {
    text = fold(`${user.displayName}\n${user.username}\n${user.email}`);
    folded.set(user, text);
  }
  return text;
}

/**
 * @param query part of a name, user name or e-mail address; "" for every user
 * @param first shown before all others on the first page
 */
export const pageOfUsers = (
  ctx: Context,
  {
    query,
    page,
    size,
    first,
  }: { readonly query: string; readonly page: number; readonly size: number; readonly first: string | null },
): Promise<UserPage> =>
  ctx.store.read((tx) => {
    const wanted = fold(query.trim());
    const skipTo = (total: number) => {
      const pages = Math.max(1, Math.ceil(total / size));
      // A page beyond the last one is the last one.
      return { total, pages, page: Math.min(page, pages), start: (Math.min(page, pages) - 1) * size };
    };
    if (wanted !== "") {
      const found = [...tx.all("users")].filter((user) => searchable(user).includes(wanted));
      const { start, ...place } = skipTo(found.length);
      return { ...place, users: found.slice(start, start + size) };
    }
    // Without a query the count is known, and only the users up to this page are looked at.
    const { start, ...place } = skipTo(tx.count("users"));
    const leading = first === null ? undefined : tx.get("users", first);
    const users: User[] = leading === undefined ? [] : [leading];
    for (const user of tx.all("users")) {
      if (users.length >= start + size) break;
      if (user !== leading) users.push(user);
    }
    return { ...place, users: users.slice(start) };
  });
