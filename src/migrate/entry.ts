import { isObject, type JsonObject } from "../text/json.ts";
import {
  isEmpty,
  noteLoss,
  noCounterpart,
  switchOf,
  textOf,
  unusable,
  type PlacedValue,
  type Draft,
  type SourcePlace,
} from "./draft.ts";

/** A record of a file, which remembers which of its fields were read: all others are noted as left out. */
export interface SourceRecord {
  readonly place: SourcePlace;
  readonly value: JsonObject;
  readonly draft: Draft;
  readonly get: (name: string) => unknown;
  readonly text: (name: string) => string | undefined;
  readonly carry: (name: string) => PlacedValue;
  /** The value that `to` makes of a field, with the field's place. */
  readonly as: (name: string, to: (value: unknown) => unknown) => PlacedValue;
  /** `then`, with the place of a field, if the field is `is`. */
  readonly when: (name: string, is: unknown, then: unknown) => PlacedValue;
  readonly unless: (name: string, is: unknown, then: unknown) => PlacedValue;
  /** Several fields, by their names. */
  readonly pick: (names: string) => Readonly<Record<string, PlacedValue>>;
  readonly pickAll: () => Readonly<Record<string, PlacedValue>>;
  /** The texts of several fields, with a space between them. */
  readonly joined: (names: string) => string;
  readonly has: (name: string) => boolean;
  /** A switch, also as text or as a number; undefined if it is not one. */
  readonly on: (name: string) => boolean | undefined;
  /** The texts of a list, or one text. */
  readonly each: (name: string) => readonly PlacedValue[];
  /** The object that a field is; empty for anything else. Its fields that nobody reads are noted too. */
  readonly below: (name: string) => SourceRecord;
  /** The objects of a list; other values are noted. Whoever reads one calls its `noteUnread`. */
  readonly list: (name: string) => readonly SourceRecord[];
  readonly note: (message: string, name?: string) => void;
  /** Notes a field if it is set. */
  readonly noteField: (name: string, message?: string) => void;
  /** Reads fields that mean nothing here. */
  readonly ignore: (names: string) => void;
  readonly ignoreAll: () => void;
  readonly noteUnread: () => void;
}

/** Whether a field has this value; a switch may be written loosely. */
const isSame = (value: unknown, is: unknown): boolean => (typeof is === "boolean" ? switchOf(value) : value) === is;

/** @param anyCase whether the tool ignores the case of names */
export function sourceRecordOf(draft: Draft, place: SourcePlace, given: unknown, anyCase = false): SourceRecord {
  const value = isObject(given) ? given : {};
  const names = new Map(anyCase ? Object.keys(value).map((name) => [name.toLowerCase(), name]) : []);
  const read = new Set<string>();
  const inner: SourceRecord[] = [];
  const named = (name: string): string => {
    const own = anyCase ? (names.get(name.toLowerCase()) ?? name) : name;
    read.add(own);
    return own;
  };
  const get = (name: string): unknown => {
    const own = named(name);
    return Object.hasOwn(value, own) ? value[own] : undefined;
  };
  const text = (name: string): string | undefined => textOf(get(name));
  const at = (name: string): SourcePlace => [...place, named(name)];
  const carry = (name: string): PlacedValue => [get(name), at(name)];
  const lose = (name: string, message = noCounterpart): void => {
    if (!isEmpty(get(name)) && get(name) !== "false") noteLoss(draft, at(name), message, "key");
  };
  return {
    place,
    value,
    draft,
    get,
    text,
    carry,
    as: (name, to) => [to(get(name)), at(name)],
    when: (name, is, then) => [isSame(get(name), is) ? then : undefined, at(name)],
    unless: (name, is, then) => [isSame(get(name), is) ? undefined : then, at(name)],
    pick: (all) => Object.fromEntries(all.split(" ").map((name) => [name, carry(name)])),
    pickAll: () => Object.fromEntries(Object.keys(value).map((name) => [name, carry(name)])),
    joined: (all) =>
      all
        .split(" ")
        .flatMap((name) => text(name) ?? [])
        .join(" "),
    has: (name) => !isEmpty(get(name)),
    on: (name) => switchOf(get(name)),
    each: (name) => {
      const found = get(name);
      if (!Array.isArray(found)) return isEmpty(found) ? [] : [[found, at(name)]];
      return found.flatMap((item: unknown, index): PlacedValue[] => {
        const text = textOf(item);
        if (text === undefined && !isEmpty(item)) noteLoss(draft, [...at(name), index], "is not a text");
        return text === undefined ? [] : [[text, [...at(name), index]]];
      });
    },
    below: (name) => {
      if (!isObject(get(name))) lose(name, unusable(draft, get(name)) ?? "is not an object");
      const entry = sourceRecordOf(draft, at(name), get(name), anyCase);
      inner.push(entry);
      return entry;
    },
    list: (name) => {
      const found = get(name);
      if (!Array.isArray(found)) {
        lose(name, "is not a list");
        return [];
      }
      return objectsOf(draft, found, at(name)).map(([item, where]) => sourceRecordOf(draft, where, item, anyCase));
    },
    note: (message, name) => noteLoss(draft, name === undefined ? place : at(name), message),
    noteField: lose,
    ignore: (all) => {
      for (const name of all.split(" ")) named(name);
    },
    ignoreAll: () => {
      for (const name of Object.keys(value)) named(name);
    },
    noteUnread: () => {
      for (const name of Object.keys(value)) if (!read.has(name)) lose(name);
      for (const entry of inner) entry.noteUnread();
    },
  };
}

/** The objects of a list, with their places. Other values are noted. */
export function objectsOf(
  draft: Draft,
  list: readonly unknown[],
  place: SourcePlace,
): (readonly [JsonObject, SourcePlace])[] {
  return list.flatMap((item, index) => {
    const where = [...place, index];
    if (isObject(item)) return [[item, where] as const];
    noteLoss(draft, where, unusable(draft, item) ?? "is not an object: it is left out");
    return [];
  });
}
