import { cookieHeader } from "../../../client/app/sign-in-at.ts";
import type { Held, HeldCookie } from "../../../client/app/visit.ts";
import { printableJson } from "../../output/escape.ts";

/** The forms in which a signed-in browser is handed over. */

export const forms = ["storage-state", "cookies", "header"] as const;
export type Form = (typeof forms)[number];

/** A terminal, a line of a file, and a header would take it for something else. */
const isPlain = ({ name, value, path }: HeldCookie): boolean =>
  // eslint-disable-next-line no-control-regex
  ![name, value, path].some((text) => /[\u0000-\u001f\u007f-\u009f]/.test(text));

/** A line of the Netscape cookie file, as curl reads it: https://curl.se/docs/http-cookies.html */
function netscapeLine({ name, value, domain, path, expires, httpOnly, secure }: HeldCookie): string {
  const yes = (is: boolean): string => (is ? "TRUE" : "FALSE");
  const fields = [domain, yes(domain.startsWith(".")), path, yes(secure), String(Math.max(0, expires)), name, value];
  return `${httpOnly ? "#HttpOnly_" : ""}${fields.join("\t")}`;
}

/** @param url where a header would be sent */
export function textOf(form: Form, { cookies, origins }: Held, url: string): string {
  switch (form) {
    case "storage-state":
      return printableJson({ cookies, origins }, 2);
    case "cookies":
      return ["# Netscape HTTP Cookie File", ...cookies.filter(isPlain).map(netscapeLine)].join("\n");
    case "header":
      return `Cookie: ${cookieHeader(cookies.filter(isPlain), url)}`;
  }
}

/** When the first cookie ends, ISO 8601; null: all end with the browser. */
export function firstEnd({ cookies }: Pick<Held, "cookies">): string | null {
  const ends = cookies.map(({ expires }) => expires).filter((expires) => expires !== -1);
  return ends.length === 0 ? null : new Date(Math.min(...ends) * 1000).toISOString();
}
