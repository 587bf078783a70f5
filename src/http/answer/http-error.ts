import type { Guidance, Paragraph } from "../../core/errors.ts";
import { hintOf, type Hint } from "../../core/hint.ts";
import { redacted } from "../../text/redacted.ts";
import type { ErrorKind } from "../pages/error-views.ts";

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
  constructor(
    status: keyof typeof refusals,
    message: string,
    help: Pick<Guidance, "fix"> & Partial<Guidance> & { readonly allow?: string; readonly retryAfter?: number },
  ) {
    super(redacted(message));
    this.status = status;
    this.refusal = { ...refusals[status], ...(help.rule != null && { rule: help.rule }) };
    this.allow = help.allow ?? null;
    this.retryAfter = help.retryAfter ?? null;
    this.fix = help.fix === null ? null : hintOf(help.fix);
  }
}
