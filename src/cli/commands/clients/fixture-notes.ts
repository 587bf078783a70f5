import { existsSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve } from "node:path";
import type { ClientView } from "../../../core/records/clients/admin.ts";
import { OperationError, RemoteError } from "../../../core/base/errors.ts";
import type { OperationOutput } from "../../../core/admin/operations/table.ts";
import { isObject } from "../../../text/json.ts";
import { printableJson } from "../../output/escape.ts";
import type { Target } from "../../target/target.ts";

/** What to write in the fixture file after a change to a client, because a reset goes back to what the file says. */

type Files = OperationOutput<"fixtures.list">;

/** None if they cannot be read: the change is already made, so the command must not fail. */
const filesOf = (target: Target): Promise<Files> =>
  target.call("fixtures.list", {}).catch((error: unknown): Files => {
    if (error instanceof OperationError || error instanceof RemoteError) return [];
    throw error;
  });

/** Replaces a secret, because no note prints one. */
const someSecret = "<its secret>";

/** A field as a note has it: `env` is shown without its values, and metadata as the file with it. */
function noted(name: string, value: unknown, metadata: string): unknown {
  if (!isObject(value)) return value;
  if (name === "env") return Object.fromEntries(Object.keys(value).map((variable) => [variable, "<its value>"]));
  return name === "saml" && value["metadata"] !== undefined ? { ...value, metadata } : value;
}

/** Where a fixture file finds metadata that a command read. @param from a file; an address or standard input has no name */
function metadataPath(fixtures: string, from: string | undefined): string {
  if (from === undefined || from === "-" || /^https?:/i.test(from)) return "./sp.xml";
  const path = relative(dirname(resolve(fixtures)), resolve(from)).replaceAll("\\", "/");
  return path.startsWith(".") || isAbsolute(path) ? path : `./${path}`;
}

/** The lines of a client, in the form of the file. JSON values are YAML too. */
function lines(
  file: string,
  fields: readonly (readonly [name: string, value: unknown])[],
  from?: string,
): readonly string[] {
  const quote = file.endsWith(".json") ? JSON.stringify : String;
  return fields.map(([name, value]) =>
    value === undefined
      ? `remove ${quote(name)}`
      : `${quote(name)}: ${printableJson(noted(name, value, metadataPath(file, from)), 0)}`,
  );
}

const nameOf = (file: string): string => (/\.\w+$/.test(file) ? file : "The fixtures");

/** Whether keys or tokens of workloads prove who the client is. */
const provesOtherwise = (client: Readonly<Record<string, unknown>>): boolean =>
  client["token_endpoint_auth_method"] === "private_key_jwt" || client["federated_credentials"] !== undefined;

/** The whole entry of a client that no file has. */
function newEntry(
  files: Files,
  { public: isPublic, client_secret: _, client_id, redirect_uris, ...others }: ClientView,
  from: string | undefined,
): string {
  const { file = "" } = files.find(({ clients }) => clients.length > 0) ?? files[0] ?? {};
  const fields = Object.entries({
    client_id,
    ...(!isPublic && !provesOtherwise(others) && others["saml"] === undefined && { client_secret: someSecret }),
    ...(redirect_uris.length > 0 && { redirect_uris }),
    ...others,
  });
  const [first = "", ...rest] = lines(file, fields, from);
  const entry = file.endsWith(".json")
    ? [`  { ${[first, ...rest].join(", ")} }`]
    : [`  - ${first}`, ...rest.map((line) => `    ${line}`)];
  return [
    `${nameOf(file)} does not have this client yet, and idp reset removes it. To keep it, add it to clients:`,
    ...entry,
    ...(from !== undefined &&
    metadataPath(file, from) === "./sp.xml" &&
    !existsSync(resolve(dirname(resolve(file)), "sp.xml"))
      ? ["Save the metadata as sp.xml beside it."]
      : []),
  ].join("\n");
}

/**
 * What a change to a client leaves to do in the fixture file; nothing if no file is in use.
 * @param change `before`: absent if the client was added; `after`: absent if it was removed; `secret`: whether it has a new one; `metadata`: where that of a service provider was read
 */
export async function fixtureNotes(
  target: Target,
  {
    before,
    after,
    secret = false,
    metadata,
  }: {
    readonly before?: ClientView;
    readonly after?: ClientView;
    readonly secret?: boolean;
    readonly metadata?: string | undefined;
  },
): Promise<readonly string[]> {
  const id = after?.client_id ?? before?.client_id ?? "";
  const files = await filesOf(target);
  const file = files.find(({ clients }) => clients.includes(id))?.file;
  if (after === undefined) {
    return file === undefined
      ? []
      : [`${nameOf(file)} still has ${id}, and idp reset brings it back. Remove it there too.`];
  }
  if (file === undefined) return files.length === 0 ? [] : [newEntry(files, after, metadata)];
  const isChanged = (name: string): boolean => JSON.stringify(before?.[name]) !== JSON.stringify(after[name]);
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])].filter(
    (name) => name !== "public" && name !== "client_secret" && isChanged(name),
  );
  const fields = [
    ...names.map((name) => [name, after[name]] as const),
    ...(secret ? [["client_secret", someSecret] as const] : []),
  ];
  if (fields.length === 0) return [];
  return [
    [
      `${nameOf(file)} does not have this change yet, and idp reset undoes it. To keep it, change client ${id} there:`,
      ...lines(file, fields).map((line) => `  ${line}`),
    ].join("\n"),
  ];
}
