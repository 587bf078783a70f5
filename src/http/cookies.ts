import { parse, serialize } from "cookie";
import type { Request, Response } from "express";
import type { Browser, Web } from "./web.ts";

/** The cookies: `…_browser` binds a sign-in to the browser that began it, `…_session` says who signed in there; `…_language` and `…_theme` were chosen. */

/** What a person chose for every page: kept in the browser, beside what their account says. */
type Preference = "language" | "theme";

const nameOf = (web: Web, kind: "browser" | "session" | Preference): string => `idp_${web.port()}_${kind}`;

const attributes = (web: Web) =>
  ({
    httpOnly: true,
    // Lax: sent with the navigation that a client's redirect is, never with a form of a foreign page.
    sameSite: "lax",
    secure: web.ctx.issuer.startsWith("https:"),
    path: web.base === "" ? "/" : web.base,
  }) as const;

/** Where a request comes from. Forwarded headers say what their sender likes, so they do not count. */
export const addressOf = (req: Request): string => req.socket.remoteAddress ?? "";

/** The values that the browser sent. */
export function readBrowser(web: Web, req: Request): Browser {
  const { cookie } = req.headers;
  const address = addressOf(req);
  if (cookie === undefined) return { id: null, session: null, address };
  const values = parse(cookie);
  return { id: values[nameOf(web, "browser")] ?? null, session: values[nameOf(web, "session")] ?? null, address };
}

/** The browser, known from here on: one that has no cookie is given one when a page is shown to it. */
export function knownBrowser(web: Web, req: Request): Browser & { readonly id: string; readonly isNew: boolean } {
  const browser = readBrowser(web, req);
  return { isNew: browser.id === null, ...browser, id: browser.id ?? web.ctx.random(16) };
}

export const setBrowserCookie = (web: Web, res: Response, value: string): void => {
  res.append("Set-Cookie", serialize(nameOf(web, "browser"), value, attributes(web)));
};

export const setSessionCookie = (web: Web, res: Response, value: string): void => {
  const maxAge = web.ctx.settings.session_ttl;
  res.append("Set-Cookie", serialize(nameOf(web, "session"), value, { maxAge, ...attributes(web) }));
};

export const readPreference = (web: Web, req: Request, name: Preference): string | null =>
  req.headers.cookie?.includes(nameOf(web, name)) === true
    ? (parse(req.headers.cookie)[nameOf(web, name)] ?? null)
    : null;

/** Kept for a year. */
export const setPreference = (web: Web, res: Response, name: Preference, value: string): void => {
  res.append("Set-Cookie", serialize(nameOf(web, name), value, { maxAge: 31_536_000, ...attributes(web) }));
};

export const clearSessionCookie = (web: Web, res: Response): void => {
  res.append("Set-Cookie", serialize(nameOf(web, "session"), "", { maxAge: 0, ...attributes(web) }));
};
