import type { ReadTx, User } from "../../../store/store.ts";
import { badgesOf, groupsOf, rolesOf, tellingRoles } from "../../records/users/users.ts";
import { withFewMarks } from "../../../text/marks.ts";
import type { Context } from "../../context.ts";

/** One page of the users to pick from. It reads the store each time, so it follows every change. */

interface UserPage {
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
export const fold = (text: string): string =>
  withFewMarks(text)
    .normalize("NFD")
    .replaceAll(/\p{Mn}/gu, "")
    .toLowerCase()
    .replaceAll("ı", "i");

/** The texts of users that a search looks at. To fold them costs more than to look through them, and anybody may search. */
const texts = new WeakMap<User, string>();

function searchable(user: User): string {
  const known = texts.get(user);
  if (known !== undefined) return known;
  const text = fold([user.displayName, user.username, user.email, ...badgesOf(user), ...groupsOf(user)].join("\n"));
  texts.set(user, text);
  return text;
}

/** At most so many users are looked at, so that a search costs no more with 100,000 of them. */
export const lookedThrough = 5_000;

/** The users with exactly this name or address, found by an index. */
function namedExactly(tx: ReadTx, name: string, max: number): readonly User[] {
  const byName = tx.find("users", "username", name);
  const byEmail = tx.findAll("users", "email", name.toLowerCase()).slice(0, max);
  return [...new Set([...(byName === undefined ? [] : [byName]), ...byEmail])];
}

/** The users that a search looks through. */
function* among(tx: ReadTx): Generator<User> {
  let looked = 0;
  for (const user of tx.all("users")) {
    if (looked === lookedThrough) return;
    looked += 1;
    yield user;
  }
}

/** The users who match, up to `max` of them, `leading` first. */
function matching(tx: ReadTx, leading: readonly User[], matches: (user: User) => boolean, max: number): User[] {
  const found = [...leading];
  for (const user of among(tx)) {
    if (found.length >= max) break;
    if (!leading.includes(user) && matches(user)) found.push(user);
  }
  return found;
}

export const userStatuses: readonly User["status"][] = ["active", "suspended", "banned"];

/** The values that users must have; "" for any. */
interface UserFilter {
  readonly status: string;
  readonly role: string;
  readonly group: string;
  /** The claim `hd`; `*`: any. */
  readonly hd?: string;
}

const everybodyFits: UserFilter = { status: "", role: "", group: "" };

const fits = (user: User, { status, role, group, hd = "" }: UserFilter): boolean =>
  (hd === "" || user.claims["hd"] === hd || (hd === "*" && user.claims["hd"] !== undefined)) &&
  (status === "" || user.status === status) &&
  (role === "" || rolesOf(user).includes(role)) &&
  (group === "" || groupsOf(user).includes(group));

/** The roles and groups that users have. */
export const rolesAndGroups = (
  ctx: Context,
): Promise<{ readonly roles: ReadonlySet<string>; readonly groups: ReadonlySet<string> }> =>
  ctx.store.read((tx) => {
    const [roles, groups] = [new Set<string>(), new Set<string>()];
    for (const user of among(tx)) {
      for (const role of tellingRoles(user)) roles.add(role);
      for (const group of groupsOf(user)) groups.add(group);
    }
    return { roles, groups };
  });

/**
 * @param query part of a name, user name, e-mail address, role or group; "" for every user
 * @param first shown before all others on the first page
 * @param status that the query names in words: users who have it match too
 */
export const pageOfUsers = (
  ctx: Context,
  {
    query,
    page: asked,
    size,
    first,
    status,
    filter = everybodyFits,
  }: {
    readonly query: string;
    readonly page: number;
    readonly size: number;
    readonly first: string | null;
    readonly status: User["status"] | null;
    readonly filter?: UserFilter;
  },
): Promise<UserPage> =>
  ctx.store.read((tx) => {
    const everybody = tx.count("users");
    const typed = query.trim();
    const wanted = fold(typed);
    const isAll = wanted === "" && Object.values(filter).every((one) => one === "");
    const likely = first === null ? undefined : tx.get("users", first);
    const named = wanted !== "" ? namedExactly(tx, typed, size) : likely === undefined ? [] : [likely];
    const leading = named.filter((user) => fits(user, filter));
    const isFound = (user: User): boolean =>
      wanted === "" || user.status === status || searchable(user).includes(wanted);
    // Where everybody matches, the count is known, and only the users up to this page are looked at.
    const known = Math.min(everybody, lookedThrough);
    const max = isAll ? Math.min(asked * size, known) : Infinity;
    const found = matching(tx, leading, (user) => fits(user, filter) && isFound(user), max);
    const total = isAll ? everybody : found.length;
    const pages = Math.max(1, Math.ceil((isAll ? known : total) / size));
    // A page beyond the last one is the last one.
    const page = Math.min(asked, pages);
    const users = found.slice((page - 1) * size, page * size);
    return { users, total, page, pages, everybody };
  });
