import { cut, redacted } from "../../text/redacted.ts";
import { hintIn, hintOf, type Hint } from "./hint.ts";

/**
 * The errors of the core. Only `http/answer/errors.ts` and `cli/run.ts` turn them into output.
 * A message says what is wrong, what was given, and what to change; never the paragraph (that is `rule`), a secret, a code or a whole token.
 */

/** The stable codes and the status of an answer that carries one (RFC 6749 4.1.2.1, 5.2; RFC 6750 3.1; OpenID Connect Core 3.1.2.6). */
const statuses = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  invalid_scope: 400,
  invalid_target: 400,
  access_denied: 400,
  login_required: 400,
  interaction_required: 400,
  unmet_authentication_requirements: 400,
  consent_required: 400,
  request_not_supported: 400,
  request_uri_not_supported: 400,
  invalid_request_uri: 400,
  authorization_pending: 400,
  slow_down: 400,
  expired_token: 400,
  invalid_dpop_proof: 400,
  use_dpop_nonce: 400,
  invalid_client_metadata: 400,
  invalid_redirect_uri: 400,
  missing_token: 401,
  invalid_token: 401,
  too_many_requests: 429,
  insufficient_scope: 403,
  access_revoked: 403,
  account_suspended: 403,
  account_banned: 403,
} as const;

export type OAuthErrorCode = keyof typeof statuses;

/** A value that had to equal a registered one exactly, and does not. */
export interface Mismatch {
  /** The name of the parameter. */
  readonly parameter: string;
  readonly sent: string;
  readonly registered: readonly string[];
}

/** A paragraph of a standard: "RFC 6749 4.1.3". */
export type Paragraph = `${"RFC" | "OpenID Connect" | "Client ID Metadata Document" | "ID-JAG" | "SAML"} ${string}`;

/** What each refusal says beside its message, which repeats neither. A comment says why a rule is null. */
export interface Guidance {
  /** The paragraph that requires the refusal; null: no standard does, only this server. */
  readonly rule: Paragraph | null;
  /** What the person at the terminal can do: a command, or a sentence; null: the message says it already. No JSON response carries it. */
  readonly fix: string | Hint | null;
}

/** Why a request was refused. Whoever shows it makes the text. */
export interface Refusal {
  /** Null: no standard has a code for it. */
  readonly code: string | null;
  readonly message: string;
  /** The paragraph that requires the refusal. */
  readonly rule: string | null;
  /** What was sent and what is registered, where the two differ. */
  readonly given: Mismatch | null;
  /** The parameter that is wrong; absent: none alone is. */
  readonly parameter?: string;
  /** What repairs it. */
  readonly hint: Hint | null;
}

/** A refusal from what an error says. @param refused `code`: absent if no standard has one */
export const refusalOf = ({
  code = null,
  message,
  rule,
  fix,
  mismatch = null,
  parameter,
}: Pick<Guidance, "fix"> & {
  readonly code?: string | null;
  readonly message: string;
  readonly rule: string | null;
  readonly mismatch?: Mismatch | null;
  readonly parameter?: string | undefined;
}): Refusal => ({
  ...{ code, message, rule, given: mismatch, hint: fix === null ? null : hintOf(fix) },
  ...(parameter !== undefined && { parameter }),
});

/**
 * The form in which descriptions go to clients, in JSON, redirects and challenges (RFC 6749 4.1.2.1, 5.2; RFC 6750 3): printable ASCII without
 * `"` and `\`, whatever was sent.
 */
export const inQuotes = (text: string): string =>
  text
    .replaceAll("…", "...")
    .replaceAll(/[^\x20-\x7e]/gu, "?")
    .replaceAll(/["\\]/g, "'");

/** The longest description, in characters. It may repeat a value of any length, and Node.js allows 16 kB for a redirect's headers. */
const maxLength = 2000;

/** Whose token or code a refused request sent. Only the ledger shows it, no response. */
export interface About {
  /** Absent: the one that the request authenticated. */
  readonly client?: string;
  /** Username; null: the client speaks for itself, or the user is gone. */
  readonly user: string | null;
}

/** A refusal in the words of OAuth. */
export class OAuthError extends Error {
  override readonly name = "OAuthError";
  readonly code: OAuthErrorCode;
  readonly status: number;
  readonly rule: Paragraph | null;
  /** For the log and the error page. */
  readonly fix: Hint | null;
  /** What was sent beside what is registered, for the page that marks the difference. */
  readonly mismatch: Mismatch | null;
  /** The parameter that is wrong; undefined: none alone is. */
  readonly parameter: string | undefined;
  /** Seconds until the same request may pass; null: that is not known, or never. */
  readonly retryAfter: number | null;
  readonly about: About | null;
  /**
   * @param code stable code of the standard
   * @param description the rule that failed and what to change; goes to the client as `error_description`
   * @param options `rule` and `fix`: see {@link Guidance}; `cause`: for the operator only; `status`: where it is not the usual one of the code; `mismatch`: where a value is not the registered one; `parameter`: the one that is wrong, where no mismatch names it; `retryAfter`: seconds; `about`: whose token it is
   */
  constructor(
    code: OAuthErrorCode,
    description: string,
    options: Guidance & {
      readonly cause?: unknown;
      readonly status?: number;
      readonly mismatch?: Mismatch;
      readonly parameter?: string;
      readonly retryAfter?: number;
      readonly about?: About;
    },
  ) {
    super(cut(redacted(description), maxLength), "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.status = options.status ?? statuses[code];
    this.rule = options.rule;
    this.fix = options.fix === null ? null : hintIn(hintOf(options.fix), redacted);
    this.mismatch =
      options.mismatch === undefined ? null : { ...options.mismatch, sent: redacted(options.mismatch.sent) };
    this.parameter = options.parameter ?? options.mismatch?.parameter;
    this.retryAfter = options.retryAfter ?? null;
    this.about = options.about ?? null;
  }
}

/** What kind of refusal an operation (command line, control API, library) gives. Decides the HTTP status and the exit code. */
export type OperationErrorCode = "usage" | "not_found" | "conflict" | "no_server" | "refused" | "forbidden" | "invalid";

/** One thing that is wrong with a value somebody gave, and where. */
export interface Problem {
  /** Position in the file, where there is one: line and column from 1. */
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** `users[2].email` */
  readonly path: string;
  readonly message: string;
  /** Other fields that the message names. */
  readonly fields?: readonly string[];
}

/** `file:line:column path message`, which editors and CI systems understand; without a file `path message`. */
export function problemText({ file, line, column, path, message }: Problem): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(":");
  // "$" is the whole file, for which the position is enough.
  return [place, path, message].filter((part) => part !== "" && part !== "$").join(" ");
}

/** Problems in one line: "users[2].email is missing; clients[0] …". */
export const listed = (problems: readonly Problem[]): string =>
  problems.map(({ path, message }) => `${path} ${message}`).join("; ");

/** "1 problem", "3 problems". */
export const countOf = ({ length }: readonly Problem[]): string => (length === 1 ? "1 problem" : `${length} problems`);

/** A key that nobody knows, or a value in the wrong place, may be a secret. */
const redactedProblem = (problem: Problem): Problem => ({
  ...problem,
  path: redacted(problem.path),
  message: redacted(problem.message),
});

/** A refusal of an operation on users, clients, grants, fixtures: with the next step in `hint`. */
export class OperationError extends Error {
  override readonly name = "OperationError";
  readonly code: OperationErrorCode;
  readonly hint: Hint | null;
  readonly problems: readonly Problem[];
  /** The message without the problems, for whoever lists those apart. */
  readonly summary: string;
  constructor(
    code: OperationErrorCode,
    message: string,
    options: { hint?: string | Hint; problems?: readonly Problem[]; summary?: string; cause?: unknown } = {},
  ) {
    super(redacted(message), "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    const hint = options.hint === undefined ? null : hintOf(options.hint);
    // Its command has to run as it stands, and names what is registered.
    this.hint = hint === null ? null : { ...hint, text: redacted(hint.text) };
    this.problems = (options.problems ?? []).map(redactedProblem);
    this.summary = redacted(options.summary ?? message);
  }
}

/** A refusal of a running server, the same as the operation gives on a folder. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  readonly code: string;
  readonly hint: Hint | null;
  readonly problems: readonly Problem[];
  constructor(code: string, message: string, hint: Hint | null, problems: readonly Problem[]) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.problems = problems;
  }
}

/**
 * A function that a program gave `createIdp` failed. An answer of OAuth says nothing of it (500); the ledger, the library and the control API
 * name the function.
 */
export class HookError extends OperationError {
  /** @param name of the option of `createIdp` */
  constructor(name: string, cause: unknown) {
    const hint = `correct the function ${name} that the program gave createIdp, or what it needs`;
    super("refused", `${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { hint, cause });
  }
}
