import * as z from "zod";
import { wantsSecret } from "../../../records/clients/clients.ts";
import { clientProblems } from "../../../protocol/client-metadata/rules.ts";
import { clientSchema, translatedField } from "../../../protocol/client-metadata/schema.ts";
import { faultProblems, faultSchema } from "../../../testing/controls/faults/schema.ts";
import { jsonValue } from "../../../records/fields.ts";
import { fixtureFileSchema } from "../../fixtures/schema.ts";
import { userSchema } from "../../../records/users/schema.ts";
import { notKeepable } from "../../../base/fixture-files/source.ts";
import { clientExtras, recordSchemas } from "../../transfer/schema.ts";
import { stateFormat, stateVersion } from "../../../testing/state/state.ts";
import { reservedInTokens, reservedInWorkloads } from "../../../records/scopes/claim-table.ts";
import { notBeside } from "./rules.ts";

/** What operations take beyond plain fields: users, clients, faults and documents. The rules are those of fixtures. */

type Refine = Pick<z.RefinementCtx, "addIssue">;

/** Adds an issue for each value that JSON does not have, or would not keep. */
function refuseUnkeepable(value: unknown, issues: Refine): void {
  for (const { path, message, more } of notKeepable(value))
    if (more === undefined) issues.addIssue({ code: "custom", path: [...path], message });
}

/** What is shown and not set may be sent back. */
const computed = "Computed; accepted if it has the right value";

export const userInput = userSchema
  .extend({ hasPassword: z.boolean().optional().describe(computed) })
  .superRefine(refuseUnkeepable);

const { username: newName, ...userFields } = userSchema.shape;
export const userPatch = z
  .strictObject({
    username: z.string(),
    new_username: newName.optional().describe("Another name for the user"),
    ...userFields,
    hasPassword: z.boolean().optional().describe(computed),
  })
  .superRefine(refuseUnkeepable);

const anySettings = { http_redirect_hosts: null, any_loopback_port: true };

/** Accepts `client_name#tr` beside the fields. @param isPatch null takes a field away */
const withTranslations =
  (isPatch: boolean) =>
  (value: Readonly<Record<string, unknown>>, issues: Refine): void => {
    for (const [name, one] of Object.entries(value)) {
      if (Object.hasOwn(isPatch ? patchFields : inputFields, name)) continue;
      const schema = translatedField(name);
      if (schema === null) issues.addIssue({ code: "unrecognized_keys", keys: [name], path: [], input: value });
      else if (one !== null || !isPatch) {
        for (const issue of schema.safeParse(one).error?.issues ?? []) {
          issues.addIssue({ ...issue, path: [name, ...issue.path] });
        }
      }
    }
    refuseUnkeepable(value, issues);
  };

const inputFields = { ...clientSchema.shape, public: z.boolean().optional().describe(computed) };
/** A new client: without a secret it gets one, unless its method needs none. */
export const clientInput = z
  .looseObject(inputFields)
  .superRefine(withTranslations(false))
  .superRefine((client, issues) => {
    const withSecret = wantsSecret(client) ? { ...client, client_secret: "generated" } : client;
    for (const { field, below = [], message, conflictsWith } of clientProblems(withSecret, anySettings)) {
      // The settings in force are known only where the client is added.
      if (conflictsWith === "settings") continue;
      issues.addIssue({ code: "custom", path: [field, ...below], message });
    }
  });

const { client_id: clientId, ...otherMetadata } = clientSchema.shape;
type Metadata = typeof otherMetadata;
const patchFields = {
  client_id: z.string(),
  new_client_id: clientId.optional().describe("The same as in the path"),
  ...(Object.fromEntries(Object.entries(otherMetadata).map(([name, schema]) => [name, schema.nullable()])) as {
    [N in keyof Metadata]: z.ZodNullable<Metadata[N]>;
  }),
  public: z.boolean().optional().describe(computed),
};
/** Null takes a field away. */
export const clientPatch = z.looseObject(patchFields).superRefine(withTranslations(true));

/** A fault, with the rules between its fields. */
export const faultInput = faultSchema.superRefine((fault, issues) => {
  for (const { field, message, fields } of faultProblems(fault)) {
    issues.addIssue({ code: "custom", path: field === null ? [] : [field], message, params: { fields } });
  }
});

/** A document whose content is checked where it is read, because problems there have the line of their file. @param schema what it holds */
const readLater = <T>(isDocument: (value: object) => boolean, schema: z.ZodType) => {
  const later = z.custom<T>((value) => typeof value === "object" && value !== null && isDocument(value));
  contents.set(later, schema);
  return later;
};

/** What the documents hold that are checked later; the OpenAPI document describes them by it. */
export const contents = new Map<unknown, z.ZodType>();

/** A file that was read. Each of its problems repeats its name, which is no longer than a path (Linux). */
const file = z.strictObject({ name: z.string().max(4096), text: z.string() });
const logos = z
  .record(
    z.string(),
    z.union([
      z.strictObject({ url: z.string().describe("The picture, as a data URL") }),
      z.strictObject({ problem: z.string().describe("Why it could not be read") }),
    ]),
  )
  .describe("The logos that the text names, by their paths as it writes them");
const metadata = z
  .record(
    z.string(),
    z.union([
      z.strictObject({ text: z.string().describe("The XML") }),
      z.strictObject({ problem: z.string().describe("Why it could not be read") }),
    ]),
  )
  .describe("The metadata of service providers that the text names, by their paths as it writes them");
const sources = z
  .array(file.extend({ logos: z.exactOptional(logos), metadata: z.exactOptional(metadata) }))
  .describe("Files that were read");

const isObject = (value: object): boolean => !Array.isArray(value);
/** @param field that a document does not have */
const besideFiles = (field: string) => ({
  error: ({ code }: { readonly code?: string }) =>
    code === "unrecognized_keys" ? `is given beside ${field}: give one of them, not both` : undefined,
});

/** Either fixtures, or files. */
const error = "must be fixtures, or { sources: [{ name, text }] }, not both";
export const seedInput = z.union(
  [
    z.strictObject({ sources }, besideFiles("sources")),
    readLater<Document & { readonly sources?: undefined }>(
      (value) => isObject(value) && !("sources" in value),
      fixtureFileSchema,
    ),
  ],
  { error },
);

type Document = Readonly<Record<string, unknown>>;

/** Fixtures, or the files that they were read from. */
export const fixtureFields = {
  fixtures: readLater<object>(isObject, fixtureFileSchema).optional(),
  sources: sources.optional(),
};
/** Not both of {@link fixtureFields}. */
export const oneOfThem = notBeside("sources", ["fixtures"], "are given beside fixtures: give one of them, not both");

/** A whole record of an export. */
export const clientRecord = clientSchema.extend(clientExtras.shape);
const exported = z.strictObject({
  format: z.literal(stateFormat),
  schemaVersion: z.literal(stateVersion),
  ...Object.fromEntries(
    Object.entries({ ...recordSchemas, clients: clientRecord }).map(([name, schema]) => [name, z.array(schema)]),
  ),
});
export const importInput = z.union(
  [
    z.strictObject({ source: file }, besideFiles("source")),
    readLater<Document & { readonly source?: undefined }>((value) => isObject(value) && !("source" in value), exported),
  ],
  { error: "must be an export, or { source: { name, text } }, not both" },
);

/** Claims to put into a token, but for those with a reserved name. @param why a reserved one cannot be set, as the end of a sentence */
const claimsBut = (reserved: readonly string[], why: string) =>
  z
    .record(
      z.string().regex(new RegExp(`^(?!(?:${reserved.join("|")})$)`), {
        error: ({ input }) => {
          const flag = reservedInTokens.get(String(input));
          return `"${String(input)}" cannot be set${why}${flag === undefined ? "" : `. There is a flag for it: --${flag}`}`;
        },
      }),
      jsonValue,
    )
    .superRefine(refuseUnkeepable);

export const ownTokenClaims = claimsBut(
  [...reservedInTokens.keys()],
  ": this server uses it to decide what the token may do",
);
export const ownWorkloadClaims = claimsBut(reservedInWorkloads, " in the token of a workload");
