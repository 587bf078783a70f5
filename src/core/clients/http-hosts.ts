import { isLoopbackHost, type Reach } from "../../net/address.ts";
import { checkEndpointUri } from "./redirect-uri.ts";

/**
 * The settings that allow a client more addresses: hosts of a container network that are reached by plain http, and
 * open ports for confidential clients.
 */

export interface UriSettings {
  readonly any_loopback_port: boolean;
  /** Null: none can be listed. */
  readonly http_redirect_hosts: readonly string[] | null;
  /** Set where the clients are a tester's: this server sends requests for them only there, as for clients that registered themselves. */
  readonly reach?: Reach | undefined;
}

/** For clients that registered themselves: the list is not for them. */
export const withoutHosts = (settings: UriSettings): UriSettings => ({ ...settings, http_redirect_hosts: null });

const label = "[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?";

/** A host name, or all names below one that has two labels at least. */
export const httpHostForm = new RegExp(`^(?:\\*\\.${label}(?:\\.${label})+|${label}(?:\\.${label})*)$`);

/** Why a host cannot be listed; null if it can. */
export function httpHostProblem(host: string): string | null {
  if (httpHostForm.test(host)) return null;
  if (/^\*(?:\.[^.]*)?$/.test(host))
    return `"${host}" would allow every host, or a whole top-level domain; name the hosts`;
  return `"${host}" is not a host name such as app or app.internal, or *.app.internal for all names below it`;
}

function isListed(host: string, hosts: readonly string[]): boolean {
  const name = host.toLowerCase();
  return hosts.some((listed) =>
    listed.startsWith("*.") ? name.endsWith(listed.slice(1).toLowerCase()) : name === listed.toLowerCase(),
  );
}

/**
 * Plain http is for loopback and for listed hosts.
 * @param uri one that may be registered otherwise, or an origin
 * @returns null, or the sentence that says what is wrong and what to write
 */
export function checkHttpHost(
  uri: string,
  { http_redirect_hosts: hosts }: Pick<UriSettings, "http_redirect_hosts">,
): string | null {
  const host = /^http:\/\/(\[[^\]]*\]|[^:/?#]*)/i.exec(uri)?.[1];
  if (host === undefined || isLoopbackHost(host) || isListed(host, hosts ?? [])) return null;
  const wrong = `"${uri}" is http on a host that is not loopback; use https, or localhost, 127.0.0.1 or [::1]`;
  return hosts === null ? wrong : `${wrong}, or list "${host}" in the setting http_redirect_hosts`;
}

/** Whether a redirect URI has a fixed port on loopback or on a listed host: only such a URI may be registered by a click. */
export function staysNear(
  uri: string,
  { http_redirect_hosts: hosts }: Pick<UriSettings, "http_redirect_hosts">,
): boolean {
  const host = /^https?:\/\/(\[[^\]]*\]|[^:/?#]*)/i.exec(uri)?.[1];
  if (host === undefined || checkEndpointUri(uri) !== null) return false;
  return isLoopbackHost(host) || isListed(host, hosts ?? []);
}
