import { isLoopbackHost } from "../../net/address.ts";
import { hasUriCharacters, logoutUriForm, redirectUriForm, takenSchemes } from "../uri.ts";

/**
 * Redirect URIs: which may be registered, and which of them a request names (RFC 6749 3.1.2, RFC 8252).
 * Nothing here parses and writes anew: a URL parser turns `http:localhost:3000/cb` or `/x/../cb` into the registered URI.
 */

const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/;

/** Scheme, host, port and what follows, of a URI with an authority and without user info. */
const webUri = /^https?:\/\/(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([^/?]*))?([/?].*)?$/i;

/** A path that a browser would rewrite before it goes there. */
const dotSegment = /\/(?:\.|%2e){1,2}(?:[/?]|$)/i;

const isPort = (text: string): boolean => /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535;

/**
 * Whether a redirect URI may be registered: {@link redirectUriForm} decides, and the rest finds the reason.
 * @returns null, or the sentence that says what is wrong and what to write
 */
export function checkRedirectUri(uri: string): string | null {
  if (redirectUriForm.test(uri)) return isParsable(uri) ? null : `"${uri}" is not a valid URL`;
  if (uri === "") return "is empty; write the whole address, such as http://localhost:3000/callback";
  if (!hasUriCharacters(uri)) {
    return `"${uri}" holds a character that a URI cannot have; percent-encode it (RFC 3986 2)`;
  }
  if (uri.includes("#")) return `"${uri}" has a fragment; leave out "#" and what follows (RFC 6749 3.1.2)`;
  const name = scheme.exec(uri)?.[1]?.toLowerCase();
  if (name === undefined && uri.includes("*")) return wildcard(uri);
  if (name === undefined)
    return `"${uri}" is not absolute; write the whole address, such as http://localhost:3000/callback`;
  return name === "http" || name === "https" ? webUriProblem(uri, name) : privateUriProblem(uri, name);
}

/** What no regular expression can say: an encoded name (`xn--`) must stand for letters. */
const isParsable = (uri: string): boolean => !/^https?:/i.test(uri) || URL.canParse(uri.replace(":*", ":1"));

/**
 * Whether an address may be registered to which the server itself sends something: a redirect URI on the web with a fixed port.
 * @returns null, or the sentence that says what is wrong and what to write
 */
export function checkEndpointUri(uri: string): string | null {
  if (!/^https?:/i.test(uri)) return `"${uri}" is not an http or https URL`;
  const problem = checkRedirectUri(uri);
  return problem === null && !logoutUriForm.test(uri) ? `"${uri}" leaves the port open; write the port` : problem;
}

/** Compared as text, a pattern matches nothing. */
const wildcard = (uri: string): string =>
  `"${uri}" has a wildcard, which matches nothing: redirect URIs are compared letter by letter. Register each address by itself`;

function webUriProblem(uri: string, name: "http" | "https"): string {
  const authority = /^https?:\/\/([^/?]*)/i.exec(uri)?.[1] ?? "";
  if (authority.includes("@")) return `"${uri}" has user info; leave out what stands before "@"`;
  const parts = webUri.exec(uri);
  if (parts === null) {
    return authority.includes("*") ? wildcard(uri) : `"${uri}" is not an address of the form ${name}://host/path`;
  }
  const [, host = "", port, rest = ""] = parts;
  if (port !== undefined && !isPort(port)) {
    if (port !== "*") return `"${uri}" has the port "${port}"; a port is a number from 1 to 65535`;
    if (name === "https" || !isLoopbackHost(host)) {
      return `"${uri}" leaves the port open; port "*" is for http on loopback only (RFC 8252 7.3)`;
    }
  }
  if (rest.includes("*")) return wildcard(uri);
  if (dotSegment.test(rest))
    return `"${uri}" has "." or ".." in its path, which browsers rewrite; write the plain path`;
  return `"${uri}" is not a valid URL`;
}

/** RFC 8252 7.1 asks for a reversed domain name; many apps have a single word (`myapp://callback`). */
function privateUriProblem(uri: string, name: string): string {
  if (/^[^:]+:\d+(?:[/?]|$)/.test(uri)) return `"${uri}" is not absolute; write http:// or https:// in front of it`;
  if (takenSchemes.includes(name)) {
    return `"${uri}" has the scheme "${name}", which leads to no app; use https, http on loopback, or a private-use scheme, such as com.example.app:/callback (RFC 8252 7.1)`;
  }
  if (uri.includes("*")) return wildcard(uri);
  return `"${uri}" has nothing after its scheme; write it as com.example.app:/callback`;
}

/** A loopback address, not a name, without a port. */
const withoutPort = /^(http:\/\/(?:\[::1\]|127(?:\.\d{1,3}){3}))([/?].*)?$/i;

const openPort = /^(http:\/\/(?:\[[^\]]*\]|[^/?:[\]]+)):\*([/?].*)?$/i;

/** Whether a registered redirect URI leaves its port open: a loopback URI with port `*` (RFC 8252 7.3). */
export const hasOpenPort = (registered: string): boolean => openPort.test(registered);

/** The same with a port. */
const withPort = /^(http:\/\/(?:\[::1\]|127(?:\.\d{1,3}){3})):\d+([/?].*)?$/i;

/** Agents on terminals register it so, and listen on any port. */
const localhostWithoutPort = /^(http:\/\/localhost)([/?].*)?$/i;

/**
 * Which registered URIs match any port, and none (RFC 8252 7.3): with `open` a loopback URI with port `*`, and one on a loopback address
 * without a port; with `every` also one on a loopback address with another port, and one on `localhost` without a port.
 */
export type OpenPorts = "none" | "open" | "every";

const patterns = { none: [], open: [withoutPort], every: [withoutPort, withPort, localhostWithoutPort] } as const;

/** Whether a request's URI is the registered one: letter by letter (RFC 9700 2.1), except for the port where that is open. */
export function matchRedirectUri(registered: string, asked: string, ports: OpenPorts): boolean {
  const found = [openPort, ...patterns[ports]].map((pattern) => pattern.exec(registered));
  const open = found.find((parts) => parts !== null);
  if (open === undefined) return registered === asked;
  const [, before = "", after = ""] = open;
  if (ports === "none" || asked.length < before.length + after.length) return false;
  if (!asked.startsWith(before) || !asked.endsWith(after)) return false;
  const port = asked.slice(before.length, asked.length - after.length);
  return port === "" || (port.startsWith(":") && isPort(port.slice(1)));
}
