import type { Request } from "express";
import type { RawParameters } from "../../core/protocol/authorize/parameters.ts";
import { queryParameters, single } from "../input/params.ts";
import type { writerOf } from "../pages/page-writer.ts";
import { formatNumber, type Text } from "../pages/templates/texts.ts";

/** The lists of the tabs: a hundred rows a page, a search and filters. What is asked for is in the address. */

/** How many rows of a list a page shows. */
export const shownRows = 100;

/** How many values a filter proposes. */
export const proposedValues = 1000;

/** What is asked of a list. */
interface Asked<F extends string = string> {
  /** The filters by their names; "" for one that is not set. */
  readonly filters: Readonly<Record<F, string>>;
  /** From 1. */
  readonly page: number;
}

/** What the address asks for, or the page whose form was refused. @param body of that form */
export function askedOf<F extends string>(req: Request, body: RawParameters, names: readonly F[]): Asked<F> {
  const query = queryParameters(req);
  const sent = new URLSearchParams(single(body, "list") ?? "");
  const valueOf = (name: string): string => (single(query, name) ?? sent.get(name) ?? "").trim();
  const page = valueOf("page");
  return {
    filters: Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<F, string>,
    page: /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1,
  };
}

/** The query of an address that asks for the same. */
function queryOf({ filters }: Asked, page: number): string {
  const set = Object.entries(filters).filter(([, value]) => value !== "");
  return new URLSearchParams([...set, ...(page === 1 ? [] : [["page", String(page)] as [string, string]])]).toString();
}

/** A page of a list, and how many there are in all. */
interface PageOf<T> {
  readonly rows: readonly T[];
  readonly total: number;
  readonly page: number;
  readonly pages: number;
}

/** A page beyond the last one is the last one. */
export function pageOf<T>({ page: asked }: Asked, all: readonly T[]): PageOf<T> {
  const pages = Math.max(1, Math.ceil(all.length / shownRows));
  const page = Math.min(asked, pages);
  return { rows: all.slice((page - 1) * shownRows, page * shownRows), total: all.length, page, pages };
}

/** Whether a text is found in one of the values, without regard to the case of ASCII letters. */
export const matches = (query: string, ...values: readonly string[]): boolean => {
  const wanted = query.toLowerCase();
  return values.some((value) => value.toLowerCase().includes(wanted));
};

/** A field beside the search. */
export interface FilterView {
  readonly name: string;
  readonly label: Text;
  readonly value: string;
  /** Whether other values than these can be typed. */
  readonly open: boolean;
  readonly options: readonly { readonly value: string; readonly words: Text }[];
}

/** A list that can be searched. */
export interface ListView {
  /** What was typed into the search. */
  readonly query: string;
  readonly filters: readonly FilterView[];
  /** Whether it shows less than all. */
  readonly isFiltered: boolean;
  /** The query of its address, for forms that lead back. */
  readonly list: string;
  /** Null: one page shows all. */
  readonly paging: {
    readonly from: number;
    readonly to: number;
    readonly total: number;
    readonly previous: string | null;
    readonly next: string | null;
  } | null;
}

export function listView(
  asked: Asked,
  { page, pages, total, rows }: PageOf<unknown>,
  filters: readonly FilterView[] = [],
): ListView {
  const href = (to: number): string => `?${queryOf(asked, to)}`;
  const from = (page - 1) * shownRows;
  return {
    query: asked.filters["q"] ?? "",
    filters,
    isFiltered: Object.values(asked.filters).some((value) => value !== ""),
    list: queryOf(asked, page),
    paging:
      pages === 1
        ? null
        : {
            ...{ from: from + 1, to: from + rows.length, total },
            previous: page > 1 ? href(page - 1) : null,
            next: page < pages ? href(page + 1) : null,
          },
  };
}

/** A filter with some values of its own, each with words. @param label the key of a text */
export const choice = (
  { filters }: Asked,
  [name, label]: readonly [name: string, label: string],
  options: Readonly<Record<string, Text>>,
): FilterView => ({
  ...{ name, label: { key: label, values: {} }, value: filters[name] ?? "", open: false },
  options: Object.entries(options).map(([value, words]) => ({ value, words })),
});

/** A filter that takes any value, and proposes some. @param label the key of a text */
export const proposal = (
  { filters }: Asked,
  [name, label]: readonly [name: string, label: string],
  values: Iterable<string>,
): FilterView => ({
  ...{ name, label: { key: label, values: {} }, value: filters[name] ?? "", open: true },
  options: [...new Set(values)]
    .slice(0, proposedValues)
    .sort()
    .map((value) => ({ value, words: value })),
});

/** The data for the templates of a list. */
export const listData = ({ plain, lang }: ReturnType<typeof writerOf>, { filters, paging }: ListView) => ({
  filters: filters.map(({ options, label, ...filter }) => ({
    ...filter,
    label: plain(label),
    options: options.map(({ value, words }) => ({ value, words: plain(words) })),
  })),
  paging: paging && {
    ...paging,
    ...{ from: formatNumber(paging.from, lang), to: formatNumber(paging.to, lang) },
    total: formatNumber(paging.total, lang),
  },
});
