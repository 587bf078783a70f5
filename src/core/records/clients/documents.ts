import type { Client, ReadTx } from "../../../store/store.ts";
import { findClient, presentClient } from "./clients.ts";
import type { Context } from "../../context.ts";
import type { Named, Peer } from "./document-types.ts";
import { OAuthError, type Guidance } from "../../base/errors.ts";
import { isLoopbackUrl } from "../../../net/address.ts";

/**
 * Clients that nobody registered: their `client_id` is the URL of a document with their metadata (OAuth Client ID Metadata Document). Who reads the
 * document is handed in (`core/admin/register/documents.ts`), because that applies the rules of fixtures.
 */

/** The refusal of a client for what its `client_id` or its document says. */
export class DocumentError extends OAuthError {
  constructor(message: string, rule: Guidance["rule"]) {
    super("invalid_client", message, { rule, fix: "correct the document at the address that is the client_id" });
  }
}

/** Any other `client_id` is one of a registered client. */
const isUrl = (clientId: string): boolean => /^https?:/i.test(clientId);

/**
 * What is wrong with a URL as a `client_id`, before anything is read. It is compared letter by letter, so only the spelling passes that a URL
 * parser leaves as it is: without dot segments, with the host in small letters, and an IP address in its usual form.
 * @returns null, or the rule that it breaks
 */
function documentUrlProblem(url: string, { client_metadata_loopback: loopback }: Context["settings"]): string | null {
  if (!URL.canParse(url)) return "is not a valid URL";
  const { href, protocol, username, password } = new URL(url);
  if (url.includes("#")) return "has a fragment";
  if (username !== "" || password !== "") return "has user info";
  if (/^https?:\/\/[^/?]*(?:\?|$)/i.test(url)) return "has no path";
  if (/(?:\/|\\)(?:\.|%2e){1,2}(?:[/\\]|$)/i.test(url.split("?")[0] ?? "")) return "has a dot segment in its path";
  if (href !== url) return `is not in its usual form, "${href}"`;
  if (protocol === "https:" || (loopback && isLoopbackUrl(url))) return null;
  return loopback ? "is http on a host that is not loopback" : "is not https; http needs --client-metadata-loopback";
}

/** Whether a client ID may be shown to anybody, because it is the URL of a document. */
export const isDocumentUrl = (clientId: string, { settings }: Pick<Context, "settings">): boolean =>
  settings.client_metadata_documents && isUrl(clientId) && documentUrlProblem(clientId, settings) === null;

/**
 * The client of a metadata document, for a request that begins: as the document is now, or for a request that may not read it as it was read last.
 * @returns undefined: the id is not the URL of a document, so the client has to be registered
 * @throws {OAuthError} invalid_client with the rule that the URL or the document breaks; too_many_requests
 */
export async function documentClient(ctx: Context, clientId: unknown, peer: Peer): Promise<Client | undefined> {
  if (typeof clientId !== "string" || !isUrl(clientId)) return undefined;
  const known = await ctx.store.read((tx) => tx.get("clients", clientId));
  if (known !== undefined && known.fromDocument === undefined) return undefined;
  if (!ctx.settings.client_metadata_documents) {
    throw new OAuthError(
      "invalid_client",
      `client_id "${clientId}" is not registered here, and metadata documents are off`,
      {
        rule: "RFC 6749 2.2",
        parameter: "client_id",
        fix: { text: "To read them", command: ["idp", "start", "--client-metadata-documents"] },
      },
    );
  }
  const problem = documentUrlProblem(clientId, ctx.settings);
  if (problem !== null) {
    throw new DocumentError(`client_id "${clientId}" ${problem}`, "Client ID Metadata Document 3");
  }
  if (peer.mayRead) return ctx.documents.read(clientId, peer);
  if (known !== undefined) return known;
  // No standard says when a document may be read.
  throw new OAuthError(
    "invalid_client",
    `the metadata document of client "${clientId}" was not read yet, and a request that a page sends by itself does not read it`,
    { rule: null, fix: "begin with a sign-in that a person opens" },
  );
}

/**
 * The client of a sign-in: as it is registered now, or by the document that the sign-in began with.
 * @throws {OAuthError} invalid_client if it was removed
 */
export const clientOf = (tx: ReadTx, { clientId, document }: Named, redirectUri?: string): Client =>
  document === undefined ? findClient(tx, clientId, redirectUri) : presentClient(tx, document);
