import { addressBehind } from "../../net/trusted-proxies.ts";
import { parse, serialize } from "cookie";
import type { Request, Response } from "express";
import type { Browser } from "../../core/sign-in/interactions.ts";
import { isByPage, isForeignPart } from "./host-check.ts";
import type { Peer } from "../../core/records/clients/document-types.ts";
import { note, type Web } from "../web.ts";

/** What a person chose for every page. It is kept in the browser, beside what their account says. */
type Preference = "language" | "theme";

/**
 * - `browser`: the browser that began a sign-in
 * - `session`: who signed in there
 * - `try`: a request of “Try it”
 * - `inspector`: the session of the inspector
 */
type CookieKind = "browser" | "session" | "try" | "inspector" | Preference;

/** Every issuer has its own names, because the cookies of the first issuer also come with the requests to the others. */
const nameOf = ({ port, name }: Web, kind: CookieKind): string =>
  ["idp", port, ...(name === null ? [] : [name]), kind].join("_");

/** The path of a named issuer ends with a slash, so that no other path begins with it. */
const pathOf = ({ base, name }: Web): string => (name === null && base !== "" ? base : `${base}/`);

const attributes = (web: Web) =>
  ({
    httpOnly: true,
    // Lax: sent when a client redirects the browser here, never with a form of a foreign page.
    sameSite: "lax",
    secure: web.ctx.issuer.startsWith("https:"),
    path: pathOf(web),
  }) as const;

/** The source of a request. Any sender can forge forwarded headers, so they count from trusted proxies only. */
export const addressOf = ({ trustsProxy }: Web, req: Request): string =>
  addressBehind(trustsProxy, req.socket.remoteAddress ?? "", req.get("x-forwarded-for"));

/** Who causes the read of a metadata document. The ledger gets the document. */
export const peerOf = (web: Web, req: Request): Peer => ({
  address: addressOf(web, req),
  mayRead: !isByPage(req),
  sawDocument: (document) => {
    if (req.res !== undefined) note(req.res, { document });
  },
});

/** The value of a cookie that the browser sent. */
const readCookie = (web: Web, req: Request, kind: CookieKind): string | null =>
  parse(req.headers.cookie ?? "")[nameOf(web, kind)] ?? null;

/** The words of a User-Agent that name a program or a system, the telling ones first: most browsers name several. */
const programs = [
  [/\bEdg/, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\bHeadlessChrome\//, "Headless Chrome"],
  [/\bChrom(?:e|ium)\/|\bCriOS\//, "Chrome"],
  [/\bSafari\//, "Safari"],
] as const;
const systems = [
  [/\bAndroid\b/, "Android"],
  [/\biP(?:hone|ad)\b/, "iOS"],
  [/\bMac OS X\b/, "macOS"],
  [/\bWindows\b/, "Windows"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
] as const;

/** "Firefox, Linux": words of ours, since a request may send any text; null: none is known. */
function programOf(userAgent: string): string | null {
  const found = [programs, systems].flatMap((words) => words.find(([form]) => form.test(userAgent))?.[1] ?? []);
  return found.length === 0 ? null : found.join(", ");
}

export const readBrowser = (web: Web, req: Request): Browser => ({
  id: readCookie(web, req, "browser"),
  session: readCookie(web, req, "session"),
  program: programOf(req.headers["user-agent"] ?? ""),
  ...peerOf(web, req),
});

/** The browser, with a new id if it sent none. The caller sets the cookie when it shows a page. */
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

export const readPreference = (web: Web, req: Request, name: Preference): string | null => readCookie(web, req, name);

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

export const readTryItCookie = (web: Web, req: Request): string | null => readCookie(web, req, "try");

/**
 * Opens the inspector until the server or the browser ends. The cookie is strict, so it comes with no link from another site. Cookies ignore
 * ports: a server on another port of this host gets every cookie of a path that one of its own pages requests. Nobody else knows this path.
 */
export const setInspectorCookie = (web: Web, res: Response, value: string): void => {
  const path = web.base + web.ctx.inspector.pathOf(web.inspectorOf ?? "admin");
  const cookie = { ...attributes(web), sameSite: "strict", name: nameOf(web, "inspector"), value, path } as const;
  res.appendHeader("Set-Cookie", serialize(cookie));
};

export const readInspectorCookie = (web: Web, req: Request): string | null => readCookie(web, req, "inspector");
