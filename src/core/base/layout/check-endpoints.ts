import * as z from "zod";
import { discoveryPath, endpointNames, endpoints, metadataPath, type EndpointName, devicePath } from "../endpoints.ts";
import { presetNames } from "./presets.ts";

/** What the setting `endpoints` may hold. */

/** No characters that are special to a router, no empty segments, and no dot segments, which clients resolve (RFC 3986 5.2.4). */
const pathForm = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/;

const path = z.string().regex(pathForm, {
  error: (issue) =>
    `"${String(issue.input)}" is not a path such as /oauth/token: letters, digits and . _ ~ - between slashes`,
});

const pathsSchema = z.strictObject(
  Object.fromEntries(endpointNames.map((name) => [name, path.optional()])) as Record<
    EndpointName,
    z.ZodOptional<typeof path>
  >,
);
const presetSchema = z.enum(presetNames);

/** The setting for JSON Schema and types; {@link endpointsSchemaOf} gives the better sentence. */
export const endpointsSchema = z
  .union([presetSchema, pathsSchema])
  .describe("Where the endpoints are: paths by their names, or those of a vendor");

/** The part of the schema that a value is checked by. */
export const endpointsSchemaOf = (value: unknown): z.ZodType =>
  typeof value === "string" ? presetSchema : pathsSchema;

/** Paths that other routes use; `/i` has the other issuers, `/w` those of workloads. */
const taken = ["/_idp", "/i", "/w", "/saml", "/interaction", "/account", devicePath, discoveryPath, metadataPath];

const isAtOrBelow = (path: string, above: string): boolean => path === above || path.startsWith(`${above}/`);

/** A registered client's own entry is one step below `register` (RFC 7592). */
const clash = (name: EndpointName, path: string, other: EndpointName, otherPath: string): boolean =>
  path === otherPath ||
  (name === "register" && isAtOrBelow(otherPath, path)) ||
  (other === "register" && isAtOrBelow(path, otherPath));

/** Paths that clash with other paths, each pair once; a schema cannot say this. @param given already checked by the schema */
export function endpointProblems(
  given: Readonly<Partial<Record<EndpointName, string>>>,
): readonly { readonly name: EndpointName; readonly message: string }[] {
  return endpointNames.flatMap((name, at) => {
    const own = given[name];
    if (own === undefined) return [];
    const page = taken.find((above) => isAtOrBelow(own, above));
    if (page !== undefined) return [{ name, message: `"${own}" clashes with ${page}, which is taken` }];
    const others = endpointNames.filter((one, before) => one !== name && (given[one] === undefined || before < at));
    const other = others.find((one) => clash(name, own, one, given[one] ?? endpoints[one]));
    if (other === undefined) return [];
    return [{ name, message: `"${own}" clashes with the path of ${other}, "${given[other] ?? endpoints[other]}"` }];
  });
}
