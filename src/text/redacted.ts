import { decoded } from "./url.ts";

/** Texts that somebody else chose: shortened, copied, and without secrets: those that are known, and what has the form of one. */

/** Characters from which on V8 keeps a slice of a text as a reference to the whole text. */
const minSlice = 13;

/** A copy of a text. What is read from a request is a slice of it: stored, it would keep the whole body or header in memory. */
export const ownText = (text: string): string => (text.length < minSlice ? text : Buffer.from(text).toString());

/** The beginning of a text whose length somebody else chooses, as a text by itself. @param maxLength characters */
export const cut = (text: string, maxLength: number): string =>
  ownText(text.length > maxLength ? `${text.slice(0, maxLength)}…` : text);

/** The same, between two words. Half of a secret would stay where the whole one is taken out. */
export const cutBetween = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${ownText(text.slice(0, maxLength).replace(/[^\s"'<>,;]*$/, ""))}…` : text;

/** The text without these characters at its end. A pattern such as `0+$` would try each of them in turn, and take quadratic time. */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

// Anybody may send a text of 100 kB, so each pattern takes linear time: it either consumes what it began to read, or gives up at once.
/** JSON in base64url, as the parts of a JWT are; and the tokens of GitHub. */
const tokens = /\b(eyJ|gho_)[\w.-]{20,}/g;
/** 24 or 32 random bytes in base64url: codes, cookies, generated secrets, the admin token. */
const randoms = /(?<![\w-])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])(?:[\w-]{32}|[\w-]{43})(?![\w-])/g;
/** The code that a device shows: eight consonants. */
const userCodes = /(?<![\w-])[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}(?![\w-])/g;
const parameters = /\b((?:\w+_)?(?:code|token|hint|assertion|verifier)(?:=|%3D))[\w.~%+/-]{8,}/gi;
const secrets = /\b((?:\w+_)?(?:password|secret)=)[^\s'"&]+/gi;
/** A password in an address (RFC 3986 3.2.1). */
const userinfo = /\b(\w+:\/\/[^\s/:@'"]*:)[^\s/@'"]+(?=@)/g;

/** Every text with one of those forms has one of these, and most texts are plain names. */
const signs = /eyJ|gho_|=|%3[Dd]|:\/\/[^\s/]*@|(?<![\w-])[\w-]{32}|[B-Z]{4}-/;

/**
 * Replaces what has the form of a token or stands where a secret stands: an app that sends `location.href` as its redirect URI also sends the
 * code in it. `code=…` is left to say what it was.
 */
export const redacted = (text: string): string =>
  signs.test(text)
    ? text
        .replaceAll(tokens, "$1…")
        .replaceAll(randoms, "…")
        .replaceAll(userCodes, "…")
        .replaceAll(parameters, "$1…")
        .replaceAll(secrets, "$1…")
        .replaceAll(userinfo, "$1…")
    : text;

/**
 * Takes out texts, the longest first, in each spelling that a text may have in an address or in JSON.
 * @param kept words that stay whole where a text is part of one
 */
export function without(hidden: readonly string[], kept: ReadonlySet<string> = new Set()): (text: string) => string {
  const spelled = hidden.flatMap((one) => [
    one,
    decoded(one),
    encodeURIComponent(Buffer.from(one).toString()),
    JSON.stringify(one).slice(1, -1),
  ]);
  const texts = [...new Set(spelled)].filter((one) => one !== "").sort((a, b) => b.length - a.length);
  return (text) => texts.reduce((left, one) => withoutOne(left, one, kept), text);
}

/** A known secret that is taken out wherever it stands: a shorter one may be a common word. */
export const longEnough = (secret: string | null | undefined): readonly string[] =>
  secret == null || secret.length < 8 ? [] : [secret];

function withoutOne(text: string, one: string, kept: ReadonlySet<string>): string {
  const around = [...kept].filter((word) => word !== one && word.includes(one));
  if (around.length === 0) return text.replaceAll(one, "…");
  const whole = new RegExp(`(?<![\\w-])(?:${around.join("|")})(?![\\w-])`, "g");
  const stay = text.match(whole) ?? [];
  return text
    .split(whole)
    .map((part, index) => part.replaceAll(one, "…") + (stay[index] ?? ""))
    .join("");
}
