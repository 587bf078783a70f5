import type { Request, RequestHandler, Response } from "express";
import type { RawParameters } from "../../core/protocol/authorize/parameters.ts";
import { inspectorCsrf, isCurrent, type Opener } from "../../core/records/inspector/access.ts";
import { operations, type OperationName } from "../../core/admin/operations/routes.ts";
import { may, type Role } from "../../core/records/operators/roles.ts";
import { sameSecret } from "../../core/base/secrets.ts";
import { flowForm } from "../../core/testing/ledger/filter.ts";
import { InteractionError } from "../../core/sign-in/interactions.ts";
import { viewFor } from "../pages/reader.ts";
import { redirect } from "../answer/answer.ts";
import { readInspectorCookie, setInspectorCookie } from "../input/cookies.ts";
import { isByPage, isOwnOrigin, hostTrust } from "../input/host-check.ts";
import { bodyParameters, queryParameters, single } from "../input/params.ts";
import { pageCommand } from "../pages/commands.ts";
import { sendPage, writerOf, type Page } from "../pages/page-writer.ts";
import type { Renderer } from "../pages/templates/render.ts";
import type { View } from "../pages/views.ts";
import { plainPageHeaders } from "../answer/security-headers.ts";
import type { Web } from "../web.ts";

/** Who may use the inspector: a browser that has its cookie and asks under one of our host names. */

/**
 * Reads the session's cookie.
 * @returns the csrf value of the session's forms, and who opened the session; null if the cookie is missing or comes from another process, or if
 *   the host name is not ours: where every host name is allowed (`*`), a foreign site may point its name at this machine
 */
function sessionOf(web: Web, req: Request): { readonly csrf: string; readonly opener: Opener } | null {
  const secret = readInspectorCookie(web, req);
  if (secret === null || hostTrust(web, req.headers.host) !== "own") return null;
  const opener = web.ctx.inspector.openerOf(secret, roleOf(web));
  // A session ends with the token that opened it.
  if (opener === null || !isCurrent(web.controlTokens(), opener)) return null;
  return { csrf: inspectorCsrf(secret), opener };
}

/** Who opened the inspector in this browser; null: nobody. */
export const operatorOf = (web: Web, req: Request): Opener | null => sessionOf(web, req)?.opener ?? null;

/** The same routes, for the person who asks. Behind {@link insidersOnly}. */
export function asAsked(web: Web, req: Request): Web {
  const operator = operatorOf(web, req);
  return operator === null ? web : { ...web, operator };
}

const roleOf = ({ inspectorOf = "admin" }: Web): Role => inspectorOf;

/** Whether the person who asks may do what an operation needs. */
export function mayHere({ ctx, operator }: Web, name: OperationName): boolean {
  const { role, ofProcess, showsSecrets } = operations[name];
  return operator !== undefined && may(ctx, operator, { role, ofProcess: ofProcess || showsSecrets });
}

/** The tabs in their order, with their paths below `/_idp/`. */
export const tabs = {
  "sign-ins": "",
  users: "users",
  clients: "clients",
  grants: "grants",
  tokens: "tokens",
  testing: "testing",
  fixtures: "fixtures",
} as const;
export type Tab = keyof typeof tabs;

/** Below the issuer's address, as browsers ask for it. @param path below the inspector */
export const inspectorHref = (web: Web, path = ""): string => web.base + web.ctx.inspector.pathOf(roleOf(web)) + path;

/** Whether a person opens the page. A prefetch, or a frame of a foreign page, must not use up a key. */
const isVisit = (web: Web, req: Request): boolean =>
  req.method === "GET" && !isByPage(req) && hostTrust(web, req.headers.host) === "own";

/**
 * The address in the file that `idp open` gives a browser says so: over plain http to a host that is not loopback, browsers do not say where
 * a request comes from.
 */
const isFromFile = (query: RawParameters): boolean => single(query, "from") === "file";

/** Whether a page of another site led here. A redirect then does not send the Strict cookie. */
const isFromElsewhere = (req: Request, query: RawParameters): boolean =>
  req.get("sec-fetch-site") === "cross-site" || isFromFile(query);

/**
 * `?key=…`: uses up the key, and leads to the page without it: the list of sign-ins, or the one that `flow` names. By HEAD, the command that
 * made the file asks whether the key can still be used.
 */
export const takeKey =
  (web: Web): RequestHandler =>
  async (req, res, next) => {
    const query = queryParameters(req);
    const key = single(query, "key");
    if (key === undefined) {
      next();
      return;
    }
    const secret = isVisit(web, req) ? await web.ctx.inspector.redeem(key, roleOf(web)) : null;
    if (secret !== null) setInspectorCookie(web, res, secret);
    // A used key, for example after the back button, changes nothing for a browser that is signed in.
    const href = inspectorHref(web, pageOf(query));
    const isLive = req.method === "HEAD" && isFromFile(query) && web.ctx.inspector.isKey(key, roleOf(web));
    if (isLive || (secret !== null && isFromElsewhere(req, query))) sendOpened(web, req, res, href);
    else if (secret !== null || sessionOf(web, req) !== null) redirect(res, href);
    else sendClosed(web, req, res, "key");
  };

/** Below the inspector. */
export const signInPath = "sign-ins/";

function pageOf(query: RawParameters): string {
  const flow = single(query, "flow");
  return flow !== undefined && flowForm.test(flow) ? signInPath + flow : "";
}

/** Lets a browser pass that is signed in to the inspector, and shows nothing to others. */
export const insidersOnly =
  (web: Web): RequestHandler =>
  (req, res, next) => {
    if (sessionOf(web, req) === null) sendClosed(web, req, res, "cookie");
    else next();
  };

/** For a browser that may not see the inspector. */
export type ClosedView = ReturnType<typeof closedView>;

/** @param why the browser sent no cookie of this process, or a key that is used up or expired */
const closedView = (web: Web, req: Request, res: Response, why: "cookie" | "key") => ({
  ...viewFor(web, req, res),
  keptQuery: "",
  why,
  /** The command that prints a new key. */
  command: pageCommand(web, ["idp", "open"]).command,
  /** To try again: a browser does not send the cookie after a link on another site. */
  href: inspectorHref(web),
});

export function renderClosed(renderer: Renderer, view: ClosedView): Page {
  const { page, say } = writerOf(renderer, view);
  const heading = { name: "inspector", state: "forbidden", title: say("inspector.closed"), failed: true };
  const sentence = say(`inspector.closed-${view.why}`);
  return page("inspector/closed", heading, { ...view, sentence }, plainPageHeaders);
}

function sendClosed(web: Web, req: Request, res: Response, why: ClosedView["why"]): void {
  sendPage(res, 403, renderClosed(web.renderer, closedView(web, req, res, why)));
}

/** For a browser that a page of another site led here with a key. */
export interface OpenedView extends View {
  /** Where the page goes on to. */
  readonly href: string;
}

export function renderOpened(renderer: Renderer, view: OpenedView): Page {
  const { page, say } = writerOf(renderer, view);
  const heading = { name: "inspector", state: "opened", title: say("inspector.opened") };
  return page("inspector/opened", heading, view, { ...plainPageHeaders, Refresh: `0; url=${view.href}` });
}

/** Goes on to a page of the inspector by itself, as a request of our own site. */
function sendOpened(web: Web, req: Request, res: Response, href: string): void {
  sendPage(res, 200, renderOpened(web.renderer, { ...viewFor(web, req, res), keptQuery: null, href }));
}

/** Behind {@link insidersOnly}. */
export const csrfOf = (web: Web, req: Request): string => sessionOf(web, req)?.csrf ?? "";

/**
 * The body of a form of the inspector. Another localhost port is the same site, so the cookie alone proves nothing. Unlike the forms of
 * other pages, these need an `Origin`.
 * @throws {InteractionError} csrf
 */
export function changeOf(web: Web, req: Request): RawParameters {
  const { origin } = req.headers;
  const body = bodyParameters(req);
  const csrf = sessionOf(web, req)?.csrf ?? null;
  const isOurs = csrf !== null && origin !== undefined && isOwnOrigin(web, req, origin);
  if (!isOurs || !sameSecret(single(body, "csrf") ?? "", csrf)) throw new InteractionError("csrf");
  return body;
}
