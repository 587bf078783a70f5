import { parse, serialize } from "cookie";
import type { Request, Response } from "express";
import { inspectorMarker, inspectorPath } from "../../core/inspector/access.ts";
import type { Browser } from "../../core/sign-in/interactions.ts";
import { isForeignPart } from "./form-origin.ts";
import type { Web } from "../web.ts";

/** The cookies: `…_browser` binds a sign-in to the browser that began it, `…_session` says who signed in there; `…_language` and `…_theme` were chosen, `…_try` is of “Try it”, `…_inspector` of the inspector, `…_inside` of its marker. */

/** What a person chose for every page: kept in the browser, beside what their account says. */
type Preference = "language" | "theme";

type CookieKind = "browser" | "session" | "try" | "inspector" | "inside" | Preference;

/** A cookie of the first issuer comes with the requests of the others too: its name has none of theirs in it. */
const nameOf = ({ port, name }: Web, kind: CookieKind): string =>
  ["idp", port(), ...(name === null ? [] : [name]), kind].join("_");

/** Of an issuer with a name, with the slash: no other path begins like it (CONTRACT 11). */
const pathOf = ({ base, name }: Web): string => (name === null && base !== "" ? base : `${base}/`);

const attributes = (web: Web) =>
  ({
    httpOnly: true,
    // Lax: sent with the navigation that a client's redirect is, never with a form of a foreign page.
    sameSite: "lax",
    secure: web.ctx.issuer.startsWith("https:"),
    path: pathOf(web),
  }) as const;

/** The source of a request. Forwarded headers do not count, because any sender can forge them. */
export const addressOf = (req: Request): string => req.socket.remoteAddress ?? "";

/** The values that the browser sent. */
export function readBrowser(web: Web, req: Request): Browser {
  const { cookie } = req.headers;
  const address = addressOf(req);
  if (cookie === undefined) return { id: null, session: null, address };
  const values = parse(cookie);
  return { id: values[nameOf(web, "browser")] ?? null, session: values[nameOf(web, "session")] ?? null, address };
}

/** The browser, with a new id if it sent none: the caller sets the cookie when it shows a page. */
export function knownBrowser(web: Web, req: Request): Browser & { readonly id: string; readonly isNew: boolean } {
  const browser = readBrowser(web, req);
  return { isNew: browser.id === null, ...browser, id: browser.id ?? web.ctx.random(16) };
}

/** @param maxAge seconds; absent: until the browser is closed */
function setCookie(web: Web, res: Response, kind: CookieKind, value: string, maxAge?: number): void {
  const cookie = { name: nameOf(web, kind), value, ...attributes(web) };
  res.appendHeader("Set-Cookie", serialize(maxAge === undefined ? cookie : { ...cookie, maxAge }));
}

export const setBrowserCookie = (web: Web, res: Response, value: string): void => {
  setCookie(web, res, "browser", value);
};

export const setSessionCookie = (web: Web, res: Response, value: string): void => {
  setCookie(web, res, "session", value, web.ctx.settings.session_ttl);
};

export const readPreference = (web: Web, req: Request, name: Preference): string | null =>
  parse(req.headers.cookie ?? "")[nameOf(web, name)] ?? null;

/** Kept for a year. A request that a foreign page makes by itself sets nothing. */
export const setPreference = (web: Web, res: Response, name: Preference, value: string): void => {
  if (!isForeignPart(res.req)) setCookie(web, res, name, value, 31_536_000);
};

export const clearSessionCookie = (web: Web, res: Response): void => {
  setCookie(web, res, "session", "", 0);
};

/** What “Try it” keeps until the response to its request; "" removes it. */
export const setTryItCookie = (web: Web, res: Response, value: string): void => {
  setCookie(web, res, "try", value, value === "" ? 0 : 3600);
};

export const readTryItCookie = (web: Web, req: Request): string =>
  parse(req.headers.cookie ?? "")[nameOf(web, "try")] ?? "";

/** Opens the inspector until the server or the browser ends. Strict, and for its pages alone: no link, and no other server here, gets it sent. */
export const setInspectorCookie = (web: Web, res: Response, value: string): void => {
  const path = web.base + inspectorPath;
  const cookie = { ...attributes(web), sameSite: "strict", name: nameOf(web, "inspector"), value, path } as const;
  res.appendHeader("Set-Cookie", serialize(cookie));
  // Another port of localhost is the same site, so the marker comes with an app's redirect from there. From another site it does not come,
  // and the page is as for everybody else.
  const marker = { ...attributes(web), sameSite: "strict", name: nameOf(web, "inside") } as const;
  res.appendHeader("Set-Cookie", serialize({ ...marker, value: inspectorMarker(value) }));
};

export const readMarkerCookie = (web: Web, req: Request): string | null =>
  parse(req.headers.cookie ?? "")[nameOf(web, "inside")] ?? null;

export const readInspectorCookie = (web: Web, req: Request): string | null =>
  parse(req.headers.cookie ?? "")[nameOf(web, "inspector")] ?? null;
