import { clientIdForm } from "../../base/identifiers.ts";
import { isDocumentUrl } from "../../records/clients/documents.ts";
import { allowanceFor } from "../../records/clients/redirect-patterns.ts";
import { staysNear } from "../../records/redirect-uri.ts";
import type { Context } from "../../context.ts";
import type { KeptRequest } from "./ledger.ts";

/** What the button of the inspector does about a refused request, and whether somebody did it since. */

/** What repairs a refused request. */
interface Fix {
  readonly kind: "add-redirect-uri" | "create-client" | "restore";
  /** A client id or a username. */
  readonly target: string;
  /** The redirect URI; null: the fix needs none. */
  readonly uri: string | null;
  /** Whether somebody made it since. */
  readonly isMade: boolean;
}

/** A parameter as it was sent; null where the ledger recorded less than all of it. */
function sent({ parameters }: KeptRequest, name: string): string | null {
  const value = parameters[name];
  return typeof value === "string" && !value.includes("…") ? value : null;
}

/** Whether the fix that the ledger recorded is a command with these words. */
const proposes = ({ refusal }: KeptRequest, ...words: readonly string[]): boolean =>
  words.every((word) => refusal?.hint?.command?.includes(word) === true);

/** The fix, by the records as they are now; null: there is none. */
export const fixOf = (ctx: Context, record: KeptRequest): Promise<Fix | null> =>
  ctx.store.read((tx) => {
    const user = record.user === null ? undefined : tx.find("users", "username", record.user);
    if (user !== undefined && (user.status !== "active" || proposes(record, "users", "restore")))
      return { kind: "restore", target: user.username, uri: null, isMade: user.status === "active" };
    const [clientId, uri] = [sent(record, "client_id") ?? record.client, sent(record, "redirect_uri")];
    // Anybody can send a request, and a click must not let its sender receive codes at another host.
    if (clientId === null || uri === null || !staysNear(uri, ctx.settings)) return null;
    const client = tx.get("clients", clientId);
    // Only the client can change its metadata document.
    if (client?.fromDocument === true || (client === undefined && isDocumentUrl(clientId, ctx))) return null;
    if (client === undefined) {
      return clientIdForm.test(clientId) ? { kind: "create-client", target: clientId, uri, isMade: false } : null;
    }
    const isRegistered = allowanceFor(ctx, client, uri) !== null;
    const wasProposed = proposes(record, "--add-redirect-uri") || proposes(record, "clients", "add");
    if (isRegistered && !wasProposed) return null;
    return { kind: "add-redirect-uri", target: clientId, uri, isMade: isRegistered };
  });
