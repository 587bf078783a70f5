/**
 * The forms of URIs, client ids and usernames, each one regular expression: the checks run it, and the JSON Schema of fixtures and the
 * OpenAPI document show it. So they use no flags, and no `\d`, `\s` or `\w`, which mean other characters elsewhere.
 */

/** RFC 3986 2: what a URI may be made of. Everything else (spaces, quotes, backslashes, letters beyond ASCII) is to be percent-encoded. */
const uriCharacters = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*$/;

export const hasUriCharacters = (text: string): boolean => uriCharacters.test(text);

/** Whether a URI is absolute and a URL parser can read it. It is never asked about other letters: a host of 50,000 of them takes it a second. */
export const isAbsoluteUri = (text: string): boolean => hasUriCharacters(text) && URL.canParse(text);

/** `http` as `[Hh][Tt][Tt][Pp]`. */
const inAnyCase = (text: string): string => text.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);

const octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
const ipv4 = `${octet}(?:\\.${octet}){3}`;
/** RFC 3986 3.2.2, without IPv4 in it. @param h a group of hexadecimal digits */
const ipv6Of = (h: string): string =>
  [
    `(?:${h}:){7}${h}`,
    ...[1, 2, 3, 4, 5, 6].map((before) => `(?:${h}:){${before}}(?::${h}){1,${7 - before}}`),
    `(?:${h}:){1,7}:`,
    `:(?:(?::${h}){1,7}|:)`,
  ].join("|");
const ipv6 = `${ipv6Of("[0-9A-Fa-f]{1,4}")}|::(?:[Ff]{4}:)?${ipv4}`;
/** A name whose last label is a number is an IPv4 address for a URL parser. */
const name = (letters: string): string =>
  `(?!(?:[^:/?]*\\.)?(?:[0-9]+|0[Xx][0-9A-Fa-f]*)\\.?(?:[:/?]|$))[${letters}]{1,300}`;
const host = `(?:\\[(?:${ipv6})\\]|${ipv4}|${name("A-Za-z0-9._-")})`;
const port = "(?:[1-5][0-9]{0,4}|[6-9][0-9]{0,3}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";
const loopback = `(?:(?:[A-Za-z0-9_-]+\\.)*${inAnyCase("localhost")}|127(?:\\.${octet}){3}|\\[::1\\])`;

const anyHttp = `${inAnyCase("http")}[Ss]?`;
/** Path and query, without the wildcard. */
const rest = "(?:[A-Za-z0-9\\-._~:/?[\\]@!$&'()+,;=]|%[0-9A-Fa-f]{2})*";
/** A browser would rewrite it before it goes there. */
const noDotSegment = "(?!.*/(?:\\.|%2[Ee]){1,2}(?:[/?]|$))";

/** Schemes that no app of a client takes: a browser runs or reads something itself, or does not go there. */
export const takenSchemes =
  "about blob chrome data file filesystem ftp intent jar javascript mailto res resource sms tel urn vbscript view-source ws wss".split(
    " ",
  );
const privateScheme = `(?!(?:${["http", "https", ...takenSchemes].map(inAnyCase).join("|")}):)[A-Za-z][A-Za-z0-9+.-]*:`;

/** A URL on the web with a fixed port. */
const fixed = `${anyHttp}://${host}(?::${port})?(?:[/?]${rest})?`;
const openPort = `${inAnyCase("http")}://${loopback}:\\*(?:[/?]${rest})?`;
const privateUri = `${privateScheme}(?![0-9]+(?:[/?]|$))(?:[A-Za-z0-9\\-._~:/?[\\]@!$&'()+,;=]|%[0-9A-Fa-f]{2})+`;

/** An address that a client may register as a redirect URI. */
export const redirectUriForm = new RegExp(`^(?:${noDotSegment}(?:${fixed}|${openPort})|${privateUri})$`);

const hostLabel = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";

/**
 * A family of redirect URIs: https, one `*` in the leftmost label of the host name, in lower case, and a path. The last label begins with a
 * letter, so that it is no IPv4 address. It is compared as text, so nothing in it may have a second spelling.
 */
export const redirectPatternForm = new RegExp(
  `^${noDotSegment}https://(?=[^/]{1,253}(?:/|$))(?!-|[^*]*\\.)[a-z0-9-]{0,62}\\*(?![^.]*-\\.)[a-z0-9-]{0,62}(?:\\.${hostLabel})*` +
    `\\.[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?(?:/(?:[A-Za-z0-9\\-._~:/[\\]@!$&'()+,;=]|%[0-9A-Fa-f]{2})*)?$`,
);

/** The same on the web and with a fixed port, for what the server itself calls. */
export const logoutUriForm = new RegExp(`^${noDotSegment}${fixed}$`);

/** An address on the web without a fragment, that the server calls or sends a browser to. */
export const endpointForm = new RegExp(`^${anyHttp}://${host}(?::${port})?(?:[/?][^\\x00-\\x20#\\\\\\x7f]*)?$`);

/** An address on the web that is shown, and never parsed here. The host may have letters of any alphabet. */
export const webUrlForm = new RegExp(
  `^${anyHttp}://(?:\\[(?:${ipv6})\\]|[^\\x00-\\x20"#%/:<>?@[\\\\\\]^\`{|}\\x7f]{1,300})(?::${port})?(?:[/?#][^\\x00-\\x20\\\\\\x7f]*)?$`,
);

/** As browsers write it (URL Standard 3.6). */
const ipv6OfBrowsers = ipv6Of("(?:0|[1-9a-f][0-9a-f]{0,3})");

/** An origin as a browser, or a web view with its own scheme, sends it (RFC 6454 6.2): without a default port. */
export const originForm = new RegExp(
  `^(?:(?:http:(?!.*:80$)|https:(?!.*:443$))//(?:\\[(?:${ipv6OfBrowsers})\\]|${ipv4}|${name("a-z0-9._-")})(?::${port})?` +
    `|${privateScheme}//[A-Za-z0-9_.~-]+(?::[0-9]{1,5})?)$`,
);

/**
 * Only characters of a URL (RFC 3986 2), since the issuer begins every address of the metadata. No semicolon: the path of a cookie cannot
 * contain one (RFC 6265 4.1.1). No path that begins with two slashes: its redirects would lead to another host.
 */
export const issuerForm =
  /^https?:\/\/(?:%[\dA-Fa-f]{2}|[!$&-.0-:=A-[\]^-~])+(?:\/(?!\/)(?:%[\dA-Fa-f]{2}|[!$&-:=A-[\]^-~])*)?$/;

/** RFC 6749 A.1, of a length that fits anywhere. `.` and `..` are excluded: HTTP clients remove them from the paths of the control API. */
export const clientIdForm = /^(?!\.{1,2}$)[\x20-\x7e]{1,200}$/;
export const clientIdRule = "1 to 200 characters of ASCII (RFC 6749 A.1), not . or ..";

/** The client that `idp login` uses by default. */
export const loginClient = "idp-cli";

/** The built-in app "Try it" (`core/testing/try-it`). */
export const tryItClientId = "idp-try-it";

/** A username needs no escaping in a path of the control API, in a command, or in an `id` of a page. */
export const usernameForm = /^[A-Za-z0-9_][A-Za-z0-9._@+-]{0,99}$/;

/** The name of an issuer beside the first one. No URL looks like it. */
export const issuerName = /^[A-Za-z0-9_-]{1,64}$/;
