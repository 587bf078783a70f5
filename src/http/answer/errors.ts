/*
 * http/answer: everything that is written to a response. errors.ts is the only place where an error becomes one: a redirect, a page or
 * JSON.
 */
import { viewFor } from "../pages/reader.ts";
import type { ErrorRequestHandler, Request, Response } from "express";
import { SwappedCredentialsError } from "../../core/records/clients/authentication.ts";
import { HookError, OAuthError } from "../../core/base/errors.ts";
import { restoreUser } from "../../core/records/fix-commands.ts";
import { InteractionError } from "../../core/sign-in/interactions.ts";
import { SamlStatusError } from "../../core/saml/purpose.ts";
import { OtherUserError } from "../../core/sign-in/user-form.ts";
import { answerClient, errorParameters, RedirectedError } from "../../core/sign-in/response.ts";
import { patternRemarks, sendToClient } from "../oauth/authorize.ts";
import { sendStatus } from "../saml/post.ts";
import { asksForHtml, prefersHtml, sendJson } from "./answer.ts";
import { challengeOf } from "./challenges.ts";
import { cleaned, cleanerFor, noteRegistered } from "./cleaned.ts";
import { answerTo, errorBody, isOfHttp, HttpError, type ErrorAnswer } from "./error-answers.ts";
import { inspectCommand, pageFix } from "../pages/commands.ts";
import { renderEnded, renderError } from "../pages/pages.ts";
import { sendPage } from "../pages/page-writer.ts";
import { routeOf, type RouteRecord } from "../route.ts";
import { privateApiHeaders } from "./security-headers.ts";
import type { EndedView, ErrorView } from "../pages/error-views.ts";
import { issuerUrl, note, noteRefusal, type Web } from "../web.ts";

/**
 * JSON for programs, a page for people. A page route explains to a person why a sign-in was refused, unless the client prefers
 * JSON. A request that HTTP itself refuses may come from a program there too, so its error is a page only if a browser asks.
 */
function choosesPage(req: Request, { kind }: RouteRecord, error: unknown): boolean {
  if (kind === "api") return false;
  return kind === "page" && !isOfHttp(error) ? prefersHtml(req) : asksForHtml(req);
}

/**
 * A 401 asks the sender to authenticate, which a person who follows a link to a page cannot do: 400. The operator, at the control API, may
 * know which function of their program failed.
 */
function forReader({ kind, name }: RouteRecord, error: unknown, answer: ErrorAnswer): ErrorAnswer {
  if (kind === "page" && answer.status === 401) return { ...answer, status: 400 };
  return name === "api" && error instanceof HookError ? { ...answer, message: error.message } : answer;
}

/** @param onUnexpected receives the error that the response says nothing about */
export const errorHandler =
  (web: Web, onUnexpected: (error: unknown) => void): ErrorRequestHandler =>
  async (given: unknown, req: Request, res: Response, next) => {
    if (res.headersSent) {
      next(given);
      return;
    }
    const error = given instanceof SamlStatusError ? await answerStatus(web, req, res, given) : given;
    if (error === null) return;
    const clean = await cleanerFor(web, req, res, error);
    const refused = error instanceof RedirectedError ? error.error : error;
    const answer = cleaned(forReader(routeOf(res), refused, answerTo(refused, web.commandLine)), clean);
    try {
      if (error instanceof RedirectedError) {
        const remarks = patternRemarks(error.target.pattern);
        if (remarks.length > 0) note(res, { outcome: { kind: "refused", remarks } });
        noteRefusal(res, { ...answer, mismatch: null });
        sendToClient(
          web,
          req,
          res,
          answerClient(error.target, errorParameters({ code: error.error.code, message: answer.message })),
        );
        return;
      }
      if (answer.status === 500) onUnexpected(error);
      sendAnswer(web, req, res, error, answer);
    } catch (failure) {
      // The page itself is broken: Express would answer with a stack trace.
      onUnexpected(failure);
      res.status(500).set(privateApiHeaders).type("text").send(`${answer.code}: ${answer.message}\n`);
    }
  };

/** Answers a service provider with a status. @returns why that is not possible, for a page; null: it is done */
async function answerStatus(web: Web, req: Request, res: Response, error: SamlStatusError): Promise<unknown> {
  const { status, message, guidance, target } = error;
  try {
    note(res, { client: target.clientId });
    noteRefusal(res, { code: status.second ?? status.top, message, ...guidance });
    await noteRegistered(web, req, res);
    await sendStatus(web, req, res, error);
    return null;
  } catch (failure) {
    return failure;
  }
}

/** Sends a page or JSON. */
function sendAnswer(web: Web, req: Request, res: Response, error: unknown, answer: ErrorAnswer): void {
  const route = routeOf(res);
  // The log says what exactly happened, where the response must not.
  const detail =
    error instanceof HookError
      ? error.message
      : error instanceof OAuthError && typeof error.cause === "string"
        ? error.cause
        : answer.message;
  if (error instanceof SwappedCredentialsError) note(res, { client: null });
  if (error instanceof OAuthError && error.about !== null) note(res, error.about);
  noteRefusal(res, { ...answer, message: detail });
  if (error instanceof HttpError && error.allow !== null) res.set("Allow", error.allow);
  if (answer.retryAfter != null) res.set("Retry-After", String(answer.retryAfter));
  const authenticate = challengeOf(req, route, error, answer.message);
  if (authenticate !== null) res.set("WWW-Authenticate", authenticate);
  const isOver = error instanceof InteractionError && error.reason !== "csrf";
  if (!isOver && !choosesPage(req, route, error)) {
    sendJson(res, answer.status, errorBody(error, answer));
    return;
  }
  if (isOver) sendEnded(web, req, res, error);
  else sendPage(res, answer.status, renderError(web.renderer, errorView(web, req, res, error, answer)));
}

function errorView(web: Web, req: Request, res: Response, error: unknown, answer: ErrorAnswer): ErrorView {
  // The address of a form leads to its page. In the inspector, the query names the form.
  const formPage = routeOf(res).name === "inspector" ? req.url : req.path;
  return {
    ...viewFor(web, req, res),
    kind: answer.kind,
    code: answer.code,
    message: answer.message,
    ...(answer.fix === null ? { advice: null, fix: null, command: null } : pageFix(web, answer.fix)),
    inspect: inspectCommand(web, req, res),
    rule: answer.rule,
    mismatch: answer.mismatch ?? null,
    status: answer.status,
    retryAfter: answer.retryAfter ?? null,
    otherUser: error instanceof OtherUserError ? { username: error.username } : null,
    formHref: answer.kind === "form" || answer.kind === "other-user" ? formPage : null,
  };
}

function sendEnded(web: Web, req: Request, res: Response, error: InteractionError): void {
  if (error.username !== null) note(res, { user: error.username });
  // Both pages say in the same words that a cookie is missing.
  const { reason } = error;
  const isBarred = reason === "suspended" || reason === "banned";
  const route = routeOf(res).name;
  const step =
    route === "consent" && reason !== "other-browser" ? route : route === "factor" && isBarred ? route : "login";
  const wrongName = reason === "other-browser" ? nameOfIssuer(web, req) : null;
  const shown = viewFor(web, req, res, error.app ?? {});
  const view = {
    ...shown,
    step,
    state: endedState(error, step),
    client: error.app === null ? null : { id: error.app.clientId, name: error.app.name(shown.lang) },
    href: wrongName ?? (error.app === null ? null : startOf(web, error.app)),
    fix: error.username === null ? null : pageFix(web, restoreUser({ username: error.username })).fix,
    inspect: inspectCommand(web, req, res),
    message: error.message,
  } as const;
  const isForm = req.method === "POST";
  const status = isBarred ? 403 : reason === "other-browser" || isForm ? 400 : 404;
  sendPage(res, status, renderEnded(web.renderer, view));
}

function endedState({ reason }: InteractionError, step: EndedView["step"]): EndedView["state"] {
  if (reason === "other-browser") return "no-cookie";
  if (reason === "suspended" || reason === "banned") return reason;
  return step === "consent" && reason === "finished" ? "finished" : "expired";
}

/**
 * The start page of an app: its `initiate_login_uri` (OpenID Connect Core 4), else the origin of its redirect URI; null for a private-use
 * scheme, and for an app of a stranger.
 */
function startOf({ ctx }: Web, app: NonNullable<InteractionError["app"]>): string | null {
  const { initiateLoginUri, redirectUri, isLinked } = app;
  if (!isLinked) return null;
  if (initiateLoginUri !== null) {
    const query = new URLSearchParams({ iss: ctx.issuer }).toString();
    return `${initiateLoginUri}${initiateLoginUri.includes("?") ? "&" : "?"}${query}`;
  }
  return /^https?:/i.test(redirectUri) && URL.canParse(redirectUri) ? `${new URL(redirectUri).origin}/` : null;
}

/** The same page under the issuer's host name, if the browser used another one: cookies are bound to the name. */
function nameOfIssuer(web: Web, req: Request): string | null {
  const { origin, host } = issuerUrl(web);
  return req.headers.host === host ? null : origin + req.originalUrl;
}
