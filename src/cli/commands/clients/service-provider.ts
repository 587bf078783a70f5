import { send } from "../../../client/http.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { readProviderMetadata, SeveralEntities } from "../../../core/records/service-providers/metadata.ts";
import { XmlProblem } from "../../../core/base/xml/parse.ts";
import { isObject } from "../../../text/json.ts";
import { readAll, readNamedFile } from "../../input/read.ts";
import { needed } from "../../input/ask.ts";
import type { Invocation } from "../../invocation.ts";

/** A client that is a service provider of SAML: by its metadata, which is read once, or by the address that it names. */

interface ProviderFlags {
  readonly samlMetadata?: string;
  readonly samlAcs?: readonly string[];
  /** Its other fields, of `--set saml`. */
  readonly saml?: unknown;
}

/** @throws {OperationError} usage, invalid */
export async function providerEntry(
  cli: Invocation,
  name: string | undefined,
  { samlMetadata, samlAcs, saml }: ProviderFlags,
) {
  const others = isObject(saml) ? saml : {};
  if (samlMetadata === undefined) {
    if (name === undefined)
      throw needed("the entityID", {
        text: "Give it",
        command: ["idp", "clients", "add", "http://localhost:3000/saml/metadata", "--saml-acs", ...(samlAcs ?? [])],
      });
    return { client_id: name, saml: { ...others, acs: samlAcs ?? [] } };
  }
  const text = await metadataText(cli, samlMetadata);
  const entityId = entityIdOf(samlMetadata, text);
  if (name !== undefined && name !== entityId)
    throw new OperationError("usage", `the metadata is that of "${entityId}", not of "${name}"`, {
      hint: "Leave the name out",
    });
  return { client_id: entityId, saml: { ...others, metadata: text, ...(samlAcs !== undefined && { acs: samlAcs }) } };
}

async function metadataText(cli: Invocation, from: string): Promise<string> {
  if (from === "-") return readAll(cli.stdin);
  const hint = "Name a file or an address with the metadata of one service provider, or - for standard input";
  if (!/^https?:/i.test(from))
    return readNamedFile(from, { code: "invalid", what: `--saml-metadata ${from}`, hint }).toString("utf8");
  try {
    return await fetched(from);
  } catch (error) {
    if (error instanceof OperationError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new OperationError("invalid", `the metadata cannot be read: ${why}`, {
      hint,
      cause: error,
    });
  }
}

async function fetched(url: string): Promise<string> {
  const headers = { accept: "application/samlmetadata+xml, application/xml, text/xml, */*" };
  const { status, text } = await send({ method: "GET", url, headers });
  if (status === 200) return text;
  throw new OperationError("invalid", `${url} answered ${status}`, { hint: "Open the address in a browser" });
}

function entityIdOf(from: string, text: string): string {
  try {
    return readProviderMetadata(text).entityId;
  } catch (error) {
    if (!(error instanceof XmlProblem)) throw error;
    const isSeveral = error instanceof SeveralEntities;
    throw new OperationError(
      isSeveral ? "usage" : "invalid",
      `${from === "-" ? "standard input" : from}: ${error.message}`,
      {
        hint: "Give the metadata of one service provider",
        cause: error,
      },
    );
  }
}

/** The fields of a service provider with more addresses. */
export function withAcs(saml: unknown, added: readonly string[]): Readonly<Record<string, unknown>> {
  const fields = isObject(saml) ? saml : {};
  const known = Array.isArray(fields["acs"]) ? (fields["acs"] as readonly unknown[]) : ofMetadata(fields["metadata"]);
  return { ...fields, acs: [...known, ...added.filter((one) => !known.includes(one))] };
}

/** The addresses of the metadata, which the field replaces. */
const ofMetadata = (metadata: unknown): readonly unknown[] =>
  typeof metadata === "string"
    ? readProviderMetadata(metadata).acs.map(({ url, index }) => (index === null ? url : { url, index }))
    : [];
