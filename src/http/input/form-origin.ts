import type { Request } from "express";
import { InteractionError } from "../../core/sign-in/interactions.ts";
import { hostStanding } from "./host-check.ts";
import { issuerUrl, type Web } from "../web.ts";

/**
 * Whether a page of another origin loads this by itself, as an image, in a frame or by a script (Fetch Metadata), without a user's click.
 * Another localhost port is the same site, so such a request carries our cookies. A link that a user follows is a "document".
 */
export const isForeignPart = (req: Request): boolean =>
  /^(cross|same)-site$/.test(req.get("sec-fetch-site") ?? "") && req.get("sec-fetch-dest") !== "document";

/**
 * Whether a page of any site sends this by itself, or a browser in advance (Fetch Metadata): as an image, in a frame, by a script. A link that a
 * user follows is a "document", and programs say nothing.
 */
export const isByPage = (req: Request): boolean =>
  (req.get("sec-fetch-dest") ?? "document") !== "document" || isInAdvance(req);

/** Whether a browser loads this before a person asks for it: a prefetch or a prerender. */
export const isInAdvance = (req: Request): boolean =>
  req.get("sec-purpose") !== undefined || req.get("purpose") !== undefined;

/** Whether this origin is ours: the issuer's, or that of another of our names, under which the page was opened. */
export function isOwnOrigin(web: Web, req: Request, origin: string): boolean {
  const { host = "" } = req.headers;
  const issuer = issuerUrl(web);
  if (origin === issuer.origin) return true;
  if (hostStanding(web, host) !== "own") return false;
  return origin === `${issuer.protocol}//${host}` || origin === `${req.protocol}://${host}`;
}

/**
 * A form of our pages comes from our origin. `SameSite` does not ensure that: another localhost port is the same site.
 * Without any `Origin`, as from curl, the form's `csrf` value decides alone.
 * @throws {InteractionError} csrf
 */
export function requireOwnOrigin(web: Web, req: Request): void {
  const { origin, host } = req.headers;
  if (origin === undefined) return;
  if (origin === "null" && req.headers["sec-fetch-site"] === "same-origin" && hostStanding(web, host) === "own") return;
  if (isOwnOrigin(web, req, origin)) return;
  throw new InteractionError("csrf");
}
