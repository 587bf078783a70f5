import type { ClientView } from "../../../core/clients/admin.ts";
import { OperationError, RemoteError } from "../../../core/errors.ts";
import type { OperationOutput } from "../../../core/operations/table.ts";
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

/** A field as a note has it: `env` is shown without its values. */
const noted = (name: string, value: unknown): unknown =>
  name === "env" && isObject(value)
    ? Object.fromEntries(Object.keys(value).map((variable) => [variable, "<its value>"]))
    : value;

/** The lines of a client, in the form of the file. JSON values are YAML too. */
function lines(file: string, fields: readonly (readonly [name: string, value: unknown])[]): readonly string[] {
  const quote = file.endsWith(".json") ? JSON.stringify : String;
  return fields.map(([name, value]) =>
    value === undefined ? `remove ${quote(name)}` : `${quote(name)}: ${printableJson(noted(name, value), 0)}`,
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
): string {
  const { file = "" } = files.find(({ clients }) => clients.length > 0) ?? files[0] ?? {};
  const fields = Object.entries({
    client_id,
    ...(!isPublic && !provesOtherwise(others) && { client_secret: someSecret }),
    ...(redirect_uris.length > 0 && { redirect_uris }),
    ...others,
  });
  const [first = "", ...rest] = lines(file, fields);
  const entry = file.endsWith(".json")
    ? [`  { ${[first, ...rest].join(", ")} }`]
    : [`  - ${first}`, ...rest.map((line) => `    ${line}`)];
  return [
    `${nameOf(file)} does not have this client yet, and idp reset removes it. To keep it, add it to clients:`,
    ...entry,
  ].join("\n");
}

/**
 * What a change to a client leaves to do in the fixture file; nothing if no file is in use.
 * @param change `before`: absent if the client was added; `after`: absent if it was removed; `secret`: whether it has a new one
 */
export async function fixtureNotes(
  target: Target,
  {
    before,
    after,
    secret = false,
  }: { readonly before?: ClientView; readonly after?: ClientView; readonly secret?: boolean },
): Promise<readonly string[]> {
  const id = after?.client_id ?? before?.client_id ?? "";
  const files = await filesOf(target);
  const file = files.find(({ clients }) => clients.includes(id))?.file;
  if (after === undefined) {
    return file === undefined
      ? []
      : [`${nameOf(file)} still has ${id}, and idp reset brings it back. Remove it there too.`];
  }
  if (file === undefined) return files.length === 0 ? [] : [newEntry(files, after)];
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
