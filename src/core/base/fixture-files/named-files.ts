import { isDataUrl } from "../brand/picture.ts";
import { isObject, ownValue, type JsonObject } from "../../../text/json.ts";
import type { Path } from "./located.ts";
import type { FoundProblem } from "./problems.ts";

/** Files that a fixture file names by a path: the logos of brands (`settings.brand`), and the metadata of service providers (`clients[].saml`). */

/** The picture of a file as a data URL, or what is wrong with the file. */
export type FileOfLogo = { readonly url: string } | { readonly problem: string };

/** The text of a file, or what is wrong with it. */
export type FileOfMetadata = { readonly text: string } | { readonly problem: string };

/** A field that names a file. The last step of its path is its name in `owner`. */
interface NamedFile {
  readonly owner: JsonObject;
  readonly path: Path;
  readonly file: string;
}

const field = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);

/** The fixtures of the first issuer, and of those in the section `issuers`, each with its path. */
function fixturesIn(value: unknown): readonly (readonly [Path, unknown])[] {
  const issuers = field(value, "issuers");
  const others = Object.entries(isObject(issuers) ? issuers : {});
  return [[[], value], ...others.map(([name, own]) => [["issuers", name], own] as const)];
}

/** The brands of all issuers, each with its path. */
export const brandsIn = (value: unknown): readonly { readonly brand: JsonObject; readonly path: Path }[] =>
  fixturesIn(value).flatMap(([path, fixtures]) => {
    const brand = field(field(fixtures, "settings"), "brand");
    return isObject(brand) ? [{ brand, path: [...path, "settings", "brand"] }] : [];
  });

/** The logos that are files. */
export const logosIn = (value: unknown): readonly NamedFile[] =>
  brandsIn(value).flatMap(({ brand, path }) => {
    const file = brand["logo"];
    return typeof file === "string" && !isDataUrl(file) ? [{ owner: brand, file, path: [...path, "logo"] }] : [];
  });

/** XML begins with `<`; anything else is a path. */
const isXml = (text: string): boolean => /^\ufeff?\s*</.test(text);

/** The clients of all issuers. */
export const clientsIn = (value: unknown): readonly JsonObject[] =>
  fixturesIn(value).flatMap(([, fixtures]) => {
    const clients = field(fixtures, "clients");
    return Array.isArray(clients) ? clients.filter(isObject) : [];
  });

/** Those that are service providers. */
export const serviceProvidersIn = (
  value: unknown,
): readonly { readonly client_id: string; readonly saml: JsonObject }[] =>
  clientsIn(value).flatMap(({ client_id: id, saml }) =>
    typeof id === "string" && isObject(saml) ? [{ client_id: id, saml }] : [],
  );

/** The metadata of service providers that is a file. */
export const metadataIn = (value: unknown): readonly NamedFile[] =>
  fixturesIn(value).flatMap(([path, fixtures]) => {
    const clients = field(fixtures, "clients");
    return (Array.isArray(clients) ? (clients as unknown[]) : []).flatMap((client, index) => {
      const saml = field(client, "saml");
      const file = field(saml, "metadata");
      if (!isObject(saml) || typeof file !== "string" || file === "" || isXml(file)) return [];
      return [{ owner: saml, file, path: [...path, "clients", index, "saml", "metadata"] }];
    });
  });

/** Puts a file's content in the place of each path to it; the problems of files are returned. */
const place = (
  named: readonly NamedFile[],
  files: Readonly<Record<string, FileOfLogo | FileOfMetadata>>,
): readonly FoundProblem[] =>
  named.flatMap(({ owner, file, path }) => {
    const read = ownValue(files, file);
    if (read === undefined) return [];
    if ("problem" in read) return [{ path, message: `"${file}" ${read.problem}` }];
    Reflect.set(owner, String(path.at(-1)), "url" in read ? read.url : read.text);
    return [];
  });

/** Puts the files that were read in the place of their paths. @param document one that was just read from a text */
export function withFiles<T extends { readonly value: unknown; readonly found: readonly FoundProblem[] }>(
  document: T,
  logos: Readonly<Record<string, FileOfLogo>>,
  metadata: Readonly<Record<string, FileOfMetadata>>,
): T {
  const { value, found } = document;
  return { ...document, found: [...found, ...place(logosIn(value), logos), ...place(metadataIn(value), metadata)] };
}
