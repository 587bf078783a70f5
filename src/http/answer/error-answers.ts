import { hintOf, hintText, type CommandLine, type Hint } from "../../core/base/hint.ts";
import {
  HookError,
  inQuotes,
  OAuthError,
  OperationError,
  type Guidance,
  type Mismatch,
  type OperationErrorCode,
  type Paragraph,
} from "../../core/base/errors.ts";
import { DocumentError } from "../../core/records/clients/documents.ts";
import { fixtureBody } from "../../core/base/fixture-files/source.ts";
import type { Route } from "../../core/admin/operations/route.ts";
import { operations } from "../../core/admin/operations/routes.ts";
import { InteractionError } from "../../core/sign-in/interactions.ts";
import { OtherUserError } from "../../core/sign-in/user-form.ts";
import { StorageError } from "../../store/store.ts";
import type { ErrorKind } from "../pages/error-views.ts";
import { redacted } from "../../text/redacted.ts";

interface Refusal {
  readonly code: string;
  /** The name of the error page. */
  readonly kind: ErrorKind;
  /** The paragraph of the standard that requires it; a refusal may name a more exact one. */
  readonly rule: Paragraph;
}

const refusals = {
  400: { code: "invalid_request", kind: "request", rule: "RFC 9110 15.5.1" },
  403: { code: "forbidden", kind: "request", rule: "RFC 9110 15.5.4" },
  404: { code: "not_found", kind: "not-found", rule: "RFC 9110 15.5.5" },
  405: { code: "method_not_allowed", kind: "method", rule: "RFC 9110 15.5.6" },
  413: { code: "invalid_request", kind: "too-large", rule: "RFC 9110 15.5.14" },
  415: { code: "invalid_request", kind: "request", rule: "RFC 9110 15.5.16" },
  503: { code: "temporarily_unavailable", kind: "unavailable", rule: "RFC 9110 15.6.4" },
  421: { code: "misdirected_request", kind: "host", rule: "RFC 9110 15.5.20" },
} as const satisfies Readonly<Record<number, Refusal>>;

/** Refuses a request before core is called: its path, method, host, origin or body is wrong. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: keyof typeof refusals;
  readonly refusal: Refusal;
  /** The methods that the path has. */
  readonly allow: string | null;
  /** Seconds. */
  readonly retryAfter: number | null;
  /** What helps. */
  readonly fix: Hint | null;
  /** More members of the JSON answer. */
  readonly extra: Readonly<Record<string, unknown>>;
  constructor(
    status: keyof typeof refusals,
    message: string,
    help: Pick<Guidance, "fix"> &
      Partial<Guidance> & {
        readonly allow?: string;
        readonly retryAfter?: number;
        readonly extra?: Readonly<Record<string, unknown>>;
      },
  ) {
    super(redacted(message));
    this.status = status;
    this.refusal = { ...refusals[status], ...(help.rule != null && { rule: help.rule }) };
    this.allow = help.allow ?? null;
    this.retryAfter = help.retryAfter ?? null;
    this.fix = help.fix === null ? null : hintOf(help.fix);
    this.extra = help.extra ?? {};
  }
}

/** What a response says about an error, as a page or as JSON. */
export interface ErrorAnswer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly fix: Hint | null;
  readonly kind: ErrorKind;
  /** The paragraph of the standard that requires the refusal; null: none does. */
  readonly rule: Paragraph | null;
  readonly mismatch?: Mismatch | null;
  readonly parameter?: string | undefined;
  /** Seconds. */
  readonly retryAfter?: number | null;
  /** More members of the JSON answer. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

const operationStatus: Readonly<Record<OperationErrorCode, number>> = {
  usage: 422,
  not_found: 404,
  conflict: 409,
  no_server: 503,
  refused: 409,
  forbidden: 403,
  invalid: 422,
};

/** Errors of body parsers and of the router (http-errors). */
const isParserError = (error: unknown): error is Error & { status: number; type?: string } =>
  error instanceof Error &&
  "status" in error &&
  typeof error.status === "number" &&
  error.status >= 400 &&
  error.status < 500;

/** Whether HTTP itself refuses the request (its path, its method, its whole body), whatever it asks for. */
export const isOfHttp = (error: unknown): boolean =>
  error instanceof HttpError || (isParserError(error) && !(error instanceof OAuthError));

/** The operations that take more than other requests: fixtures, and exports. */
const takesMore = (): string =>
  Object.entries(operations as Readonly<Record<string, Pick<Route, "bodyLimit">>>)
    .filter(([, { bodyLimit }]) => bodyLimit === fixtureBody)
    .map(([name]) => name)
    .join(", ");

type Unread = Pick<ErrorAnswer, "message" | "rule" | "fix">;
const unread = (message: string, rule: Paragraph, fix: string): Unread => ({ message, rule, fix: hintOf(fix) });

/** What the parsers of bodies refuse, by the type of their error. */
const bodyRefusals: Readonly<Record<string, () => Unread>> = {
  "entity.too.large": () =>
    unread(
      `the body is too large: at most 102,400 bytes are accepted (64 MB by the operations ${takesMore()})`,
      "RFC 9110 15.5.14",
      "send a shorter body",
    ),
  "entity.parse.failed": () =>
    unread(
      "the body cannot be read as its Content-Type says",
      "RFC 9110 15.5.1",
      "send JSON as application/json, and a form as application/x-www-form-urlencoded",
    ),
  "encoding.unsupported": () =>
    unread("the Content-Encoding of the body is not supported", "RFC 9110 8.4", "send the body as it is, or with gzip"),
  "parameters.too.many": () =>
    unread("the body holds more than 1,000 parameters", "RFC 9110 15.5.1", "send each parameter once"),
  "charset.unsupported": () =>
    unread("the charset of the body is not supported; send UTF-8", "RFC 9110 15.5.16", "encode the body as UTF-8"),
};

const badPath = unread(
  "the path cannot be decoded: it holds a % that does not begin a UTF-8 character",
  "RFC 3986 2.5",
  "percent-encode the bytes of its UTF-8 form",
);
const badRequest = unread("the request cannot be read", "RFC 9110 15.5.1", "send a whole request");

/** The JSON of a refusal (RFC 6749 5.2). A refusal of an operation goes to an operator, in the words of the command line. */
export const errorBody = (
  error: unknown,
  { code, message, extra }: ErrorAnswer,
): Readonly<Record<string, unknown>> => ({
  error: code,
  error_description: error instanceof OperationError ? message : inQuotes(message),
  ...extra,
});

const withHint = ({ rule, fix }: Guidance): Pick<ErrorAnswer, "rule" | "fix"> => ({
  rule,
  fix: fix === null ? null : hintOf(fix),
});

const unwritten: Pick<ErrorAnswer, "rule" | "fix"> = {
  rule: "RFC 9110 15.6.4",
  fix: { text: "To see what is wrong with the data", command: ["idp", "doctor"] },
};

const ownFailure: ErrorAnswer = {
  status: 500,
  code: "server_error",
  message: "something went wrong here; the log of idp says what",
  // A mistake of ours or of a hook, not a refusal.
  rule: null,
  fix: hintOf("look at the log of idp: it has the error"),
  kind: "server",
};

/** What a response may say about an error. It reveals nothing of an unexpected one. @param commandLine writes the commands in hints */
export function answerTo(error: unknown, commandLine: CommandLine): ErrorAnswer {
  if (error instanceof OAuthError) {
    const { status, code, message, rule, fix, mismatch, parameter, retryAfter } = error;
    const forbidden = code === "access_revoked" || code === "account_suspended" || code === "account_banned";
    if (code === "too_many_requests") {
      return { status, code, message, fix, kind: "too-many", rule, retryAfter };
    }
    if (error instanceof DocumentError) return { status, code, message, fix, rule, kind: "document" };
    const kind = code === "invalid_client" ? "client" : mismatch !== null ? "redirect-uri" : "request";
    return { status, code, message, fix, rule, kind, mismatch, parameter, ...(forbidden && { extra: { message } }) };
  }
  if (error instanceof HookError) return { ...ownFailure, fix: error.hint };
  if (error instanceof OperationError) {
    const { code, message, hint } = error;
    const status = operationStatus[code];
    // A problem of the whole input has no path, but belongs to the list too.
    const problems = status === 422 && error.problems.length === 0 ? [{ path: "", message }] : error.problems;
    const extra = {
      ...(hint !== null && { hint: hintText(hint, commandLine) }),
      ...(hint?.command !== undefined && { next: hint }),
      ...(problems.length > 0 && { problems }),
    };
    // A refusal of an operator, which no standard is about.
    return { status, code, message, fix: hint, rule: null, kind: "request", extra };
  }
  if (error instanceof InteractionError) {
    return {
      status: error.reason === "csrf" ? 403 : 400,
      code: "invalid_request",
      message: error.message,
      ...withHint(error.guidance),
      kind: "form",
    };
  }
  if (error instanceof OtherUserError) {
    return {
      status: 403,
      code: "invalid_request",
      message: error.message,
      ...withHint(error.guidance),
      kind: "other-user",
    };
  }
  if (error instanceof HttpError) {
    const { status, refusal, message, fix, retryAfter, extra } = error;
    return { status, message, fix, retryAfter, extra, ...refusal };
  }
  if (error instanceof StorageError) {
    const { partly, away } = error;
    const message =
      partly || away ? error.message : `the change could not be written and was not made: ${error.message}`;
    const retryAfter = partly ? null : 1;
    return { status: 503, code: "temporarily_unavailable", message, ...unwritten, kind: "unavailable", retryAfter };
  }
  if (isParserError(error)) {
    const refusal = error instanceof URIError ? badPath : (bodyRefusals[error.type ?? ""]?.() ?? badRequest);
    // 400, not 413: the body has too many parameters, but is not too large.
    const status = error.type === "parameters.too.many" ? 400 : error.status;
    return {
      status,
      code: "invalid_request",
      kind: error.type === "entity.too.large" ? "too-large" : "request",
      ...refusal,
    };
  }
  return ownFailure;
}
