import { clientIdForm } from "../identifiers.ts";
import { isDocumentUrl } from "../clients/documents.ts";
import { openPortsOf } from "../clients/clients.ts";
import { staysNear, matchRedirectUri } from "../clients/redirect-uri.ts";
import type { Context } from "../context.ts";
import type { RequestRecord } from "./record.ts";

/** What repairs a refused request. */
export interface Fix {
  readonly kind: "add-redirect-uri" | "create-client" | "restore";
  /** A client id or a username. */
  readonly target: string;
  /** The redirect URI; null: the fix needs none. */
  readonly uri: string | null;
  /** Whether somebody made it since. */
  readonly isMade: boolean;
}

/** A parameter as it was sent; null where the ledger recorded less than all of it. */
function sent({ parameters }: RequestRecord, name: string): string | null {
  const value = parameters[name];
  return typeof value === "string" && !value.includes("…") ? value : null;
}

/** What the command of the fix, which the ledger has, would do. */
const proposes = ({ fix }: RequestRecord, words: string): boolean => fix?.includes(words) === true;

/** The fix, by the records as they are now; null: there is none. */
export const fixOf = (ctx: Context, record: RequestRecord): Promise<Fix | null> =>
  ctx.store.read((tx) => {
    const user = record.user === null ? undefined : tx.find("users", "username", record.user);
    if (user !== undefined && (user.status !== "active" || proposes(record, " users restore ")))
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
    const ports = openPortsOf(ctx, client);
    const isRegistered = client.redirect_uris.some((registered) => matchRedirectUri(registered, uri, ports));
    const wasProposed = proposes(record, " --add-redirect-uri") || proposes(record, " clients add ");
    if (isRegistered && !wasProposed) return null;
    return { kind: "add-redirect-uri", target: clientId, uri, isMade: isRegistered };
  });
