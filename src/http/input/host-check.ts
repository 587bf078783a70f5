import { relyingParty, worksAt } from "../../core/records/step-up/proofs.ts";
import type { Request, RequestHandler } from "express";
import { allowHost } from "../../core/records/fix-commands.ts";
import { isAddress, isLoopbackHost } from "../../net/address.ts";
import { HttpError } from "../answer/error-answers.ts";
import { routeOf } from "../route.ts";
import { issuerUrl, type Web } from "../web.ts";
import { InteractionError } from "../../core/sign-in/interactions.ts";

/** Against DNS rebinding: a foreign page may point its own name at this machine, but the browser then sends that name as `Host`. */

/** The host name of a `Host` header, without its port. */
const hostName = (host: string): string => host.replace(/:\d*$/, "").toLowerCase();

/** `own`: forms and the control API accept pages of this name as ours. `allowed`: requests are answered, such pages are not accepted. */
type HostTrust = "own" | "allowed" | "foreign";

/** How the server treats the `Host` of a request. HTTP/1.0 may leave it out. No foreign page can make a browser send an IP address. */
export function hostTrust(web: Web, host: string | undefined): HostTrust {
  if (host === undefined) return "own";
  const name = hostName(host);
  // The issuer last: it is parsed each time.
  if (isAddress(name) || isLoopbackHost(name) || name === issuerUrl(web).hostname) return "own";
  const listed = web.allowedHosts.map((given) => given.toLowerCase());
  if (listed.includes(name)) return "own";
  const isBelow = (given: string): boolean => given.startsWith(".") && `.${name}`.endsWith(given);
  return name !== "" && listed.some((given) => given === "*" || isBelow(given)) ? "allowed" : "foreign";
}

/**
 * What `--allow-host` takes: a name, `.name` for that name and all names below it, an IP address, or `*`. No name ends in a number (URL
 * Standard 3.5).
 */
export const isAllowable = (given: string): boolean =>
  given === "*" ||
  isAddress(given) ||
  /^\.?(?:[a-z\d_](?:[a-z\d_-]*[a-z\d_])?\.)*(?!\d+$)[a-z\d_](?:[a-z\d_-]*[a-z\d_])?$/i.test(given);

/** Headers that may be sent only once: of two, Node.js uses the first, and a proxy in front may use the last. */
const onceOnly = /^(host|authorization)$/i;

/** @throws {HttpError} 400 if one of them is sent twice, or a request of HTTP/1.1 has no Host (RFC 9112 3.2; RFC 9110 5.3) */
function requireOneEach({ rawHeaders, headers, httpVersion }: Request): void {
  if (headers.host === undefined && httpVersion === "1.1")
    throw new HttpError(400, "the header Host is missing", { rule: "RFC 9112 3.2", fix: "send a Host header" });
  const seen: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] ?? "";
    if (!onceOnly.test(given)) continue;
    const name = given.toLowerCase();
    if (seen.includes(name))
      throw new HttpError(400, `the header ${given} is sent twice; send it once`, {
        rule: "RFC 9110 5.3",
        fix: null,
      });
    seen.push(name);
  }
}

/** Answers 421 to a foreign `Host`, but not at `/health`: an orchestrator may probe it under any name. */
export const hostCheck =
  (web: Web): RequestHandler =>
  (req, res, next) => {
    requireOneEach(req);
    const { host } = req.headers;
    if (hostTrust(web, host) !== "foreign" || routeOf(res).name === "health") {
      next();
      return;
    }
    throw new HttpError(421, `Host "${host ?? ""}" is not a name of this server; --allow-host adds it`, {
      fix: allowHost((host ?? "").replace(/:\d*$/, "")) ?? "use a host name of this server",
    });
  };

/**
 * The address at which passkeys work, where a page was opened at another one of this machine: they belong to the issuer's host (WebAuthn 5.1.2).
 * Null: they work here, or nowhere. A proxy may change the host of an issuer with a public name, so that says nothing.
 */
export function passkeysElsewhere({ ctx }: Web, { headers: { host = "" } }: Request): string | null {
  const { id, origin } = relyingParty(ctx.address);
  const name = hostName(host);
  return worksAt(ctx.address) && isLoopbackHost(id) && isLoopbackHost(name) && name !== id ? origin : null;
}

/** The base of the back-channel endpoints under the `Host` of a request, which the check has accepted; null: the issuer's. */
export function backchannelOf(web: Web, req: Request): string | null {
  const { backchannel, base } = web;
  const { host } = req.headers;
  if (backchannel === "off" || host === undefined || host === issuerUrl(web).host) return null;
  return `${req.protocol}://${host}${base}`;
}

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
const isInAdvance = (req: Request): boolean => req.get("sec-purpose") !== undefined || req.get("purpose") !== undefined;

/** Whether this origin is ours: the issuer's, or that of another of our names, under which the page was opened. */
export function isOwnOrigin(web: Web, req: Request, origin: string): boolean {
  const { host = "" } = req.headers;
  const issuer = issuerUrl(web);
  if (origin === issuer.origin) return true;
  if (hostTrust(web, host) !== "own") return false;
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
  if (origin === "null" && req.headers["sec-fetch-site"] === "same-origin" && hostTrust(web, host) === "own") return;
  if (isOwnOrigin(web, req, origin)) return;
  throw new InteractionError("csrf");
}
