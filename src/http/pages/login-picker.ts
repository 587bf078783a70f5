import type { RawParameters } from "../../core/protocol/authorize/parameters.ts";
import { fold, lookedThrough, pageOfUsers, userStatuses } from "../../core/sign-in/login/picker.ts";
import type { User } from "../../store/store.ts";
import { single } from "../input/params.ts";
import type { Web } from "../web.ts";
import { pageCommand } from "./commands.ts";
import { personOf } from "./views.ts";

/** The list of test users on the login page. */

/** How many users the picker shows at a time. */
export const pickerPageSize = 12;

/** The status that a search names, in English or in the language of the page; null: it names none. */
export function statusNamed({ renderer: { texts } }: Web, lang: string, query: string): User["status"] | null {
  const typed = fold(query.trim());
  const wordsFor = (status: string): string => texts.plain(lang, { key: `status.${status}`, values: {} });
  return userStatuses.find((status) => [status, fold(wordsFor(status))].includes(typed)) ?? null;
}

type PickerView = Awaited<ReturnType<typeof pickerView>>;

/** One page of the list of test users. @param reader `first`: the user shown before all others; `hd`: whose users are shown, null for all */
export async function pickerView(
  web: Web,
  href: string,
  parameters: RawParameters,
  { first, lang, hd }: { readonly first: string | null; readonly lang: string; readonly hd: string | null },
) {
  const query = single(parameters, "q") ?? "";
  const asked = Number(single(parameters, "page") ?? "1");
  const page = Number.isInteger(asked) && asked > 0 && asked < 100_000 ? asked : 1;
  const found = await pageOfUsers(web.ctx, {
    ...{ query, page, size: pickerPageSize, first },
    status: statusNamed(web, lang, query),
    ...(hd !== null && { filter: { status: "", role: "", group: "", hd } }),
  });
  const { users, total, pages, everybody } = found;
  return {
    /** The path of this page, for search and paging by `?q=` and `?page=`. */
    href,
    users: users.map(personOf),
    /** How many users match the query. */
    total,
    /** What was searched for; "" for nothing. */
    query,
    /** From 1. */
    page: found.page,
    pages,
    /** How many users were searched and how many there are; null if all were searched. */
    beyond: everybody > lookedThrough ? { looked: lookedThrough, everybody } : null,
    /** The next step if there is no user. */
    addCommand: addUser(web),
  };
}

export const addUser = (web: Web): string => pageCommand(web, ["idp", "users", "add", "alice"]).command;

/** The user who is asked to sign in again. */
export const pickerOf = (web: Web, href: string, user: User): PickerView => ({
  href,
  users: [personOf(user)],
  total: 1,
  query: "",
  page: 1,
  pages: 1,
  beyond: null,
  addCommand: addUser(web),
});

/** The pages of the list before and after this one. */
export function pickerLinks({ href, query, page, pages }: PickerView): {
  previous: string | null;
  next: string | null;
} {
  const to = (target: number): string | null => {
    if (target < 1 || target > pages) return null;
    const parameters = new URLSearchParams();
    if (query !== "") parameters.append("q", query);
    parameters.append("page", String(target));
    return `${href}?${parameters.toString()}`;
  };
  return { previous: to(page - 1), next: to(page + 1) };
}
