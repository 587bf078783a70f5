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
    const folded = fold(query.trim());
    const matches = (user: User): boolean =>
      folded === "" || fold(`${user.displayName}\n${user.username}\n${user.email}`).includes(folded);
    // Without a query the count is known, and only the users up to this page are looked at.
    const known = folded === "" ? tx.count("users") : null;
    const leading = first === null || folded !== "" ? undefined : tx.get("users", first);
    const skip = (page - 1) * size;
    const users: User[] = [];
    let seen = 0;
    const see = (user: User): void => {
      if (seen >= skip && seen < skip + size) users.push(user);
      seen += 1;
    };
    if (leading !== undefined) see(leading);
    for (const user of tx.all("users")) {
      if (known !== null && seen >= skip + size) break;
      if (user !== leading && matches(user)) see(user);
    }
    const total = known ?? seen;
    return { users, total, page, pages: Math.max(1, Math.ceil(total / size)) };
  });
