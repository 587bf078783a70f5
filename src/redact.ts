/** Shortens and redacts what responses, pages and logs repeat from a request. */

/** The beginning of a text whose length somebody else chooses. @param longest characters */
export const cut = (text: string, longest: number): string =>
  text.length > longest ? `${text.slice(0, longest)}…` : text;

// Anybody may send a text of 100 kB, so each pattern takes linear time: it either consumes what it began to read, or gives up at once.
/** JSON in base64url, as the parts of a JWT are. */
const tokens = /\beyJ[\w.-]{20,}/g;
const parameters = /\b((?:\w+_)?(?:code|token|hint|assertion|verifier)(?:=|%3D))[\w.~%+/-]{8,}/gi;
const secrets = /\b((?:\w+_)?(?:password|secret)=)[^\s'"&]+/gi;
/** A password in an address (RFC 3986 3.2.1). */
const userinfo = /\b(\w+:\/\/[^\s/:@'"]*:)[^\s/@'"]+(?=@)/g;

/**
 * Removes secrets: an app that sends `location.href` as its redirect URI also sends the code in it. `code=…` is left to say what it was.
 */
export const redacted = (text: string): string =>
  text.replaceAll(tokens, "eyJ…").replaceAll(parameters, "$1…").replaceAll(secrets, "$1…").replaceAll(userinfo, "$1…");
