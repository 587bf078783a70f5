import { isLoopbackHost, type Reach } from "../../net/address.ts";
import { hasUriCharacters, logoutUriForm, redirectUriForm, takenSchemes } from "../base/identifiers.ts";

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

/**
 * The settings that allow a client more addresses: hosts of a container network that are reached by plain http, and
 * open ports for confidential clients.
 */

export interface UriSettings {
  /** Some vendors' endpoints need more of a client. Only their names count. */
  readonly endpoints?: unknown;
  readonly any_loopback_port: boolean;
  /** Null: none can be listed. */
  readonly http_redirect_hosts: readonly string[] | null;
  /** Set where the clients are a tester's: this server sends requests for them only there, as for clients that registered themselves. */
  readonly reach?: Reach | undefined;
}

/** The settings for clients that registered themselves, which the list of hosts does not apply to. */
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

/**
 * Schemes that an operating system opens itself, whatever app registers for them: they lead to no app of a client, and some run what they are
 * given (`ms-msdt:`, `search-ms:`, `x-help-script:`). Whoever registers without an operator may not send a browser there. Sources:
 *
 * - Windows: https://learn.microsoft.com/windows/apps/develop/launch/reserved-uri-scheme-names, and the enumeration URL_SCHEME of shlwapi.h.
 *   Every `ms-…` is Microsoft's, and the names of file types (`htafile`) are schemes to the shell.
 * - Apple: the Apple URL Scheme Reference, and what Launch Services has for the apps that come with macOS and iOS.
 * - Linux: the handlers `x-scheme-handler/…` of desktops (MIME Applications Associations of freedesktop.org) and the schemes of GVfs and KIO.
 * - Android: https://developer.android.com/guide/components/intents-common.
 *
 * Editors (`cursor`, `vscode`) are apps, and sign in by their schemes.
 */
const windows =
  "bing callto dtmf hcp iehistory ierss internetshortcut its jscript knownfolder ldap ldaps local maps mhtml mk mms mmst mmsu mshelp office onenote " +
  "onenote-cmd outlookfeed read rlogin search search-ms shell smb stickynotes telnet tn3270 unknown usertileprovider wallet xbls zune";
const windowsPrefixes =
  "ms- microsoft- microsoft. msi. explorer. application. windows. windowsmediacenter windowsdefender wmp11.";
/** `exefile`, `chm.file`. */
const windowsFileTypes =
  "bat cer chm. cmd com cpl dll drv exe fon hlp hta inf ins jse lnk ocx pif reg scr scriptlet shb shcmd shs sys ttf vbe vbs wsf ws wsh";
const apple =
  "addressbook afp applefeedback applenews applenewss applescript calshow cifs daap facetime facetime-audio facetime-group feed findmy " +
  "help ibooks ical imessage imap iphoto macappstore macappstores message mobilenotes music nfs osascript photos-redirect podcasts pop prefs " +
  "app-prefs shareddocuments shortcuts ssh videos vnc webcal workflow";
const applePrefixes = "x-apple apple- com.apple. x-help- itms x-man-page x-safari- x-web-search";
const linux =
  "admin afc appstream apt apturl archive bluetooth burn camera computer dav davs desktop dns-sd fish ghelp gopher info kdeconnect man mtp network " +
  "recent remote sftp snap trash ymp";
const android = "android-app content geo google.navigation market mmsto package sip smsto voicemail";
/** Schemes of mail, news and remote machines, which every desktop has apps for. */
const everywhere = "ftps mid news nntp rdp rtsp rsh sips skype snews svn+ssh git+ssh tftp wais wtai";

const names = [windows, apple, linux, android, everywhere].flatMap((list) => list.split(" "));
const schemes: ReadonlySet<string> = new Set([...names, ...windowsFileTypes.split(" ").map((type) => `${type}file`)]);
const prefixes: readonly string[] = [windowsPrefixes, applePrefixes].flatMap((list) => list.split(" "));

/** Whether an operating system opens an address itself. */
export function isOfSystem(uri: string): boolean {
  const scheme = uri.slice(0, Math.max(0, uri.indexOf(":"))).toLowerCase();
  return schemes.has(scheme) || prefixes.some((prefix) => scheme.startsWith(prefix));
}
