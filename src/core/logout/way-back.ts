import { describesItself, type Client, type ReadTx } from "../../store/store.ts";
import { clientName, wasAllowed, type ClientName } from "../clients/clients.ts";
import { hasOpenPort } from "../clients/redirect-uri.ts";
import type { EndedSessions } from "../sessions/backchannel.ts";

/** After a sign-out: where the page leads, and who does not know of it. */

/**
 * The page links only to an address that the client registered, and never to a `javascript:` URL: where it comes back to after a sign-out, else
 * the start of the app, as far as its redirect URI says where that is.
 */
export function wayBack(
  tx: ReadTx,
  client: Client | null,
): { readonly name: ClientName; readonly href: string } | null {
  if (client === null) return null;
  // Anybody can make such a client, and a link to it.
  if (describesItself(client) && !wasAllowed(tx, client.client_id)) return null;
  const usable = (uris: readonly string[] = []): string | undefined =>
    uris.find((uri) => /^https?:/i.test(uri) && !hasOpenPort(uri) && URL.canParse(uri));
  const redirectUri = usable(client.redirect_uris);
  const href = usable(client.post_logout_redirect_uris) ?? (redirectUri && `${new URL(redirectUri).origin}/`);
  return href === undefined ? null : { name: clientName(client), href };
}

/** The service providers of SAML that took part in sessions. @param but who asked for the end */
export function othersOf(tx: ReadTx, ended: EndedSessions, but: string | null = null): readonly ClientName[] {
  const ids = new Set(ended.flatMap(({ session }) => (session.serviceProviders ?? []).map(({ clientId }) => clientId)));
  return [...ids].flatMap((id) => {
    const client = id === but ? undefined : tx.get("clients", id);
    return client === undefined ? [] : [clientName(client)];
  });
}
