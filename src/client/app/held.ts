import { Cookie } from "tough-cookie";
import type { HeldCookie } from "./visit.ts";

/** Cookies of an app as Playwright writes them, and as tough-cookie keeps them. */

const sameSites: Readonly<Record<string, HeldCookie["sameSite"]>> = { strict: "Strict", lax: "Lax", none: "None" };

export function heldCookie(cookie: Cookie): HeldCookie {
  const { key: name, value, domain, path, hostOnly, httpOnly, secure, sameSite } = cookie;
  const ends = cookie.expiryTime();
  return {
    ...{ name, value, path: path ?? "/", httpOnly, secure },
    domain: `${hostOnly === true ? "" : "."}${domain ?? ""}`,
    expires: ends === undefined || !Number.isFinite(ends) ? -1 : Math.floor(ends / 1000),
    // As browsers do without the attribute.
    sameSite: sameSites[sameSite ?? ""] ?? "Lax",
  };
}

/** @returns the cookie, and an address that may set it */
export function keptCookie(held: HeldCookie): readonly [cookie: Cookie, url: URL] {
  const { name, value, domain, path, secure, expires, httpOnly, sameSite } = held;
  const host = domain.replace(/^\./, "");
  const cookie = new Cookie({
    ...{ key: name, value, domain: domain === host ? null : host, path, secure, httpOnly },
    sameSite: sameSite.toLowerCase(),
    expires: expires === -1 ? "Infinity" : new Date(expires * 1000),
  });
  return [cookie, new URL(`https://${host}/`)];
}
