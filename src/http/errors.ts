import type { ErrorRequestHandler, Request, Response } from "express";
import { endpoints } from "../core/endpoints.ts";
import { OAuthError, OperationError, type Mismatch, type OperationErrorCode } from "../core/errors.ts";
import { InteractionError } from "../core/interactions.ts";
import { answerClient, errorParameters, RedirectedError } from "../core/redirect-response.ts";
import { StorageError } from "../store/store.ts";
import { sendToClient } from "./authorize.ts";
import { challenge } from "./challenges.ts";
import { MisdirectedError } from "./host-check.ts";
import { renderEnded, renderError } from "./pages.ts";
import { sendPage } from "./page-writer.ts";
import { BodyError } from "./params.ts";
import { privateApiHeaders } from "./security-headers.ts";
import type { EndedView, ErrorKind, ErrorView } from "./views.ts";
import { viewFor } from "./reader.ts";
import { note, wantsPage, type Web } from "./web.ts";

/** The one place where an error becomes an HTTP answer: a redirect, a page or JSON, by what is proven about the request. */

/** A refusal of HTTP itself: no such path, not this method. */
export class RouteError extends Error {
  override readonly name = "RouteError";
  readonly status: 404 | 405;
  readonly allow: string | null;
  constructor(status: 404 | 405, message: string, allow: string | null = null) {
    super(message);
    this.status = status;
    this.allow = allow;
  }
}

/** What an answer says, whatever its form. */
interface Answer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly fix: string | null;
  readonly kind: ErrorKind;
  readonly mismatch?: Mismatch | null;
  /** More members of the JSON answer. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

const operationStatus: Readonly<Record<OperationErrorCode, number>> = {
  usage: 422,
  not_found: 404,
  conflict: 409,
  no_server: 503,
  refused: 422,
  invalid: 422,
};

/** Errors that body parsers throw (http-errors). */
const isHttpError = (error: unknown): error is Error & { status: number; type?: string } =>
  error instanceof Error &&
  "status" in error &&
  typeof error.status === "number" &&
  error.status >= 400 &&
  error.status < 500;

const bodyMessages: Readonly<Record<string, string>> = {
  "entity.too.large": "the body is too large: at most 102,400 bytes are taken (64 MB by seed and import)",
  "entity.parse.failed": "the body cannot be read as its Content-Type says",
  "encoding.unsupported": "the Content-Encoding of the body is not supported",
  "charset.unsupported": "the charset of the body is not supported; send UTF-8",
};

/** What of an error may be told. Whatever nobody expected says nothing of itself. */
function answerTo(error: unknown): Answer {
  if (error instanceof OAuthError) {
    const { status, code, message, fix, mismatch } = error;
    const forbidden = code === "access_revoked" || code === "account_suspended" || code === "account_banned";
    const kind = mismatch !== null ? "redirect-uri" : code === "invalid_client" ? "client" : "request";
    return { status, code, message, fix, kind, mismatch, ...(forbidden && { extra: { message } }) };
  }
  if (error instanceof OperationError) {
    const { code, message, hint, problems } = error;
    const extra = { ...(hint !== null && { hint }), ...(problems.length > 0 && { problems }) };
    return { status: operationStatus[code], code, message, fix: hint, kind: "request", extra };
  }
  if (error instanceof InteractionError) {
    return {
      status: error.reason === "csrf" ? 403 : 400,
      code: "invalid_request",
      message: error.message,
      fix: null,
      kind: "form",
    };
  }
  if (error instanceof RouteError) {
    const [code, kind] =
      error.status === 404 ? (["not_found", "not-found"] as const) : (["method_not_allowed", "method"] as const);
    return { status: error.status, code, message: error.message, fix: null, kind };
  }
  if (error instanceof MisdirectedError) {
    const fix = `idp start --allow-host ${error.host.replace(/:\d*$/, "")}`;
    return { status: 421, code: "misdirected_request", message: error.message, fix, kind: "host" };
  }
  if (error instanceof BodyError) {
    return { status: error.status, code: "invalid_request", message: error.message, fix: null, kind: "request" };
  }
  if (error instanceof StorageError) {
    const message = `the change could not be written and was not made: ${error.message}`;
    return { status: 503, code: "temporarily_unavailable", message, fix: null, kind: "unavailable" };
  }
  if (isHttpError(error)) {
    const message = bodyMessages[error.type ?? ""] ?? "the request cannot be read";
    const kind = error.status === 413 ? "too-large" : "request";
    return { status: error.status, code: "invalid_request", message, fix: null, kind };
  }
  return {
    status: 500,
    code: "server_error",
    message: "something went wrong here; the log of idp says what",
    fix: null,
    kind: "server",
  };
}

/** Pages of people, whatever they accept; all else answers JSON unless a browser asks. */
const isPagePath = (web: Web, req: Request): boolean => {
  const path = req.path.slice(web.base.length);
  return (
    /^\/(interaction|account|device)(\/|$)/.test(path) || path === endpoints.authorize || path === endpoints.logout
  );
};

const isApiPath = (web: Web, req: Request): boolean => /^\/(api|_idp)\//.test(req.path.slice(web.base.length));

function choosesPage(web: Web, req: Request): boolean {
  if (isPagePath(web, req)) return req.accepts(["html", "json"]) !== "json";
  return !isApiPath(web, req) && wantsPage(req);
}

/** A 401 asks the sender to authenticate, which a person who follows a link to a page cannot (CONTRACT 2.1: 400). */
const forPerson = (isPage: boolean, answer: Answer): Answer =>
  isPage && answer.status === 401 ? { ...answer, status: 400 } : answer;

/** @param onUnexpected is told what no answer says: the error itself */
export const errorHandler =
  (web: Web, onUnexpected: (error: unknown) => void): ErrorRequestHandler =>
  async (error: unknown, req: Request, res: Response, next) => {
    if (res.headersSent) {
      next(error);
      return;
    }
    if (error instanceof RedirectedError) {
      note(res, { error: `${error.error.code}: ${error.error.message}`, fix: error.error.fix });
      await sendToClient(web, req, res, answerClient(web.ctx.issuer, error.target, errorParameters(error.error)));
      return;
    }
    const answer = forPerson(isPagePath(web, req), answerTo(error));
    if (answer.status === 500) onUnexpected(error);
    // The operator is told what exactly happened, where the answer must not say it.
    const detail = error instanceof OAuthError && typeof error.cause === "string" ? error.cause : answer.message;
    note(res, { error: `${answer.code}: ${detail}`, fix: answer.fix });
    if (error instanceof RouteError && error.allow !== null) res.set("Allow", error.allow);
    const authenticate = challenge(req, error);
    if (authenticate !== null) res.set("WWW-Authenticate", authenticate);
    if (!choosesPage(web, req)) {
      const { code, message, extra } = answer;
      res
        .status(answer.status)
        .set(privateApiHeaders)
        .json({ error: code, error_description: message, ...extra });
      return;
    }
    try {
      if (error instanceof InteractionError && error.reason !== "csrf") await sendEnded(web, req, res, error);
      else sendPage(res, answer.status, await renderError(web.renderer, errorView(web, req, res, answer)));
    } catch (failure) {
      // The page itself is broken: Express would answer with a stack trace.
      onUnexpected(failure);
      res.status(500).set(privateApiHeaders).type("text").send(`${answer.code}: ${answer.message}\n`);
    }
  };

function errorView(web: Web, req: Request, res: Response, answer: Answer): ErrorView {
  return {
    ...viewFor(web, req, res),
    kind: answer.kind,
    code: answer.code,
    message: answer.message,
    fix: answer.fix,
    mismatch: answer.mismatch ?? null,
    status: answer.status,
  };
}

async function sendEnded(web: Web, req: Request, res: Response, error: InteractionError): Promise<void> {
  // A cookie that did not come is told in the same words on either page.
  const step = req.path.endsWith("/consent") && error.reason !== "other-browser" ? "consent" : "login";
  const wrongName = error.reason === "other-browser" ? nameOfIssuer(web, req) : null;
  const view = {
    ...viewFor(web, req, res),
    step,
    state: endedState(error, step, req.method),
    client: error.app === null ? null : { id: error.app.clientId, name: error.app.name },
    href: wrongName ?? originOf(error.app?.redirectUri),
  } as const;
  const status =
    error.reason === "suspended" ? 403 : error.reason !== "other-browser" && req.method === "GET" ? 404 : 400;
  sendPage(res, status, await renderEnded(web.renderer, view));
}

function endedState({ reason }: InteractionError, step: EndedView["step"], method: string): EndedView["state"] {
  if (reason === "other-browser") return "no-cookie";
  if (reason === "suspended") return "suspended";
  // What is gone altogether was most likely answered, where somebody just now pressed a button.
  return step === "consent" && (reason === "finished" || method === "POST") ? "finished" : "expired";
}

/** Where an app begins, as far as its redirect URI tells; null for a private-use scheme. */
function originOf(redirectUri: string | undefined): string | null {
  if (redirectUri === undefined || !/^https?:/i.test(redirectUri) || !URL.canParse(redirectUri)) return null;
  return `${new URL(redirectUri).origin}/`;
}

/** The same page under the issuer's own name, where the browser came by another: cookies do not cross names. */
function nameOfIssuer(web: Web, req: Request): string | null {
  const { origin, host } = new URL(web.ctx.issuer);
  return req.headers.host === host ? null : origin + req.originalUrl;
}
