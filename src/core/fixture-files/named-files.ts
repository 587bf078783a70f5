import { isDataUrl } from "../brand/picture.ts";
import { isObject, type JsonObject } from "../../text/json.ts";
import type { Path } from "./located.ts";
import type { FoundProblem } from "./problems.ts";

/** Files that a fixture file names by a path: the logos of brands (`settings.brand`), and the metadata of service providers. */

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
export function withLogos<T extends { readonly value: unknown; readonly found: readonly FoundProblem[] }>(
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

/** The metadata of service providers that a fixture file names by a path (`clients[].saml.metadata`), and the texts of those files. */

/** The text of a file, or what is wrong with it. */
export type FileOfMetadata = { readonly text: string } | { readonly problem: string };

interface PlacedMetadata {
  readonly saml: JsonObject;
  readonly path: Path;
  readonly file: string;
}

/** XML begins with `<`; anything else is a path. */
const isXml = (text: string): boolean => /^\ufeff?\s*</.test(text);

/** The files of the clients of the first issuer, and of those in the section `issuers`. */
export function metadataIn(value: unknown): readonly PlacedMetadata[] {
  const issuers = isObject(value) && isObject(value["issuers"]) ? value["issuers"] : {};
  const all: readonly (readonly [Path, unknown])[] = [
    [[], value],
    ...Object.entries(issuers).map(([name, own]) => [["issuers", name], own] as const),
  ];
  return all.flatMap(([at, fixtures]) => {
    const clients = isObject(fixtures) && Array.isArray(fixtures["clients"]) ? (fixtures["clients"] as unknown[]) : [];
    return clients.flatMap((client, index) => {
      const saml = isObject(client) ? client["saml"] : undefined;
      const file = isObject(saml) ? saml["metadata"] : undefined;
      if (!isObject(saml) || typeof file !== "string" || file === "" || isXml(file)) return [];
      return [{ saml, file, path: [...at, "clients", index, "saml", "metadata"] }];
    });
  });
}

/** Puts the texts in the place of their paths. @param document one that was just read from a text */
export function withMetadata<T extends { readonly value: unknown; readonly found: readonly FoundProblem[] }>(
  document: T,
  files: Readonly<Record<string, FileOfMetadata>>,
): T {
  const found = metadataIn(document.value).flatMap(({ saml, file, path }) => {
    const read = Object.hasOwn(files, file) ? files[file] : undefined;
    if (read === undefined) return [];
    if ("problem" in read) return [{ path, message: `"${file}" ${read.problem}` }];
    Reflect.set(saml, "metadata", read.text);
    return [];
  });
  return { ...document, found: [...document.found, ...found] };
}
