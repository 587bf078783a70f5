import { isDataUrl } from "../brand/picture.ts";
import { isObject, type JsonObject } from "../../text/json-object.ts";
import type { Path } from "./located.ts";
import type { Found } from "./problems.ts";

/** The brands of a fixture file (`settings.brand`), the logos that it names by a path, and the pictures that were read from these files. */

/** The picture of a file as a data URL, or what is wrong with the file. */
export type FileOfLogo = { readonly url: string } | { readonly problem: string };

interface PlacedLogo {
  readonly brand: JsonObject;
  readonly path: Path;
  readonly file: string;
}

const field = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);

/** The brands of the first issuer, and of those in the section `issuers`, each with its path. */
export function brandsIn(value: unknown): readonly { readonly brand: JsonObject; readonly path: Path }[] {
  const issuers = field(value, "issuers");
  const all: readonly (readonly [Path, unknown])[] = [
    [[], value],
    ...Object.entries(isObject(issuers) ? issuers : {}).map(([name, own]) => [["issuers", name], own] as const),
  ];
  return all.flatMap(([path, fixtures]) => {
    const brand = field(field(fixtures, "settings"), "brand");
    return isObject(brand) ? [{ brand, path: [...path, "settings", "brand"] }] : [];
  });
}

/** The logos that are files. */
export const logosIn = (value: unknown): readonly PlacedLogo[] =>
  brandsIn(value).flatMap(({ brand, path }) => {
    const file = brand["logo"];
    return typeof file === "string" && !isDataUrl(file) ? [{ brand, file, path: [...path, "logo"] }] : [];
  });

/** Puts the pictures in the place of their paths. @param document one that was just read from a text */
export function withLogos<T extends { readonly value: unknown; readonly found: readonly Found[] }>(
  document: T,
  files: Readonly<Record<string, FileOfLogo>>,
): T {
  const found = logosIn(document.value).flatMap(({ brand, file, path }) => {
    const read = Object.hasOwn(files, file) ? files[file] : undefined;
    if (read === undefined) return [];
    if ("problem" in read) return [{ path, message: `"${file}" ${read.problem}` }];
    Reflect.set(brand, "logo", read.url);
    return [];
  });
  return { ...document, found: [...document.found, ...found] };
}
