/** What answers, pages and logs repeat of what somebody sent. */

/** The beginning of a text whose length somebody else chooses. @param longest characters */
export const cut = (text: string, longest: number): string =>
  text.length > longest ? `${text.slice(0, longest)}…` : text;

const token = /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g;
const parameter = /\b((?:\w+_)?(?:code|token|hint|secret|assertion|password|verifier)(?:=|%3D))[\w.~%+/-]{8,}/gi;

/**
 * Without what is good for anything: an app that sends `location.href` as its redirect URI sends the code in it. What is left says what it was.
 */
export const redacted = (text: string): string => text.replaceAll(token, "eyJ…").replaceAll(parameter, "$1…");
