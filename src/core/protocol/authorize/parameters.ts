import { OAuthError, type Guidance } from "../../base/errors.ts";

/** Parameters of a request as they were sent. The value of a name that was sent twice is a list. */
export type RawParameters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The single value of a parameter; one without a value counts as not sent (RFC 6749 3.1). */
export function single(raw: RawParameters, name: string): string | undefined {
  const value = Object.hasOwn(raw, name) ? raw[name] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}

const singleNames = [
  ...(["response_type", "response_mode", "client_id", "redirect_uri", "scope", "state", "nonce", "prompt"] as const),
  ...(["max_age", "display", "ui_locales", "claims_locales", "claims", "acr_values"] as const),
  ...(["login_hint", "id_token_hint", "code_challenge", "code_challenge_method", "dpop_jkt"] as const),
  ...(["request", "request_uri"] as const),
  // Google's: whether a refresh token is wanted, and whose users the picker shows.
  ...(["access_type", "hd"] as const),
];

/** RFC 8707 2; `audience` is what Auth0's apps send for it. */
const listNames = ["resource", "audience"] as const;

/** The parameters of an authorization request. Any other has no effect (RFC 6749 3.1). */
export const authorizeParameters: readonly string[] = [...singleNames, ...listNames];

/** An authorization request as it was sent, read once. Nothing in it is checked. */
export interface SentRequest {
  /** Undefined: not sent, sent without a value, or sent more than once. */
  readonly values: Readonly<Partial<Record<(typeof singleNames)[number], string | undefined>>>;
  readonly resources: readonly string[];
  /** How many times each parameter came that may come only once, in the order of the request. */
  readonly repeated: ReadonlyMap<string, number>;
  /** All names and values. */
  readonly texts: readonly (string | undefined)[];
}

export function readRequest(raw: RawParameters): SentRequest {
  const repeated = Object.entries(raw).flatMap(([name, value]): [string, number][] =>
    typeof value !== "object" || listNames.some((one) => one === name) ? [] : [[name, value.length]],
  );
  return {
    values: Object.fromEntries(singleNames.map((name) => [name, single(raw, name)])),
    resources: listNames.flatMap((name) => raw[name] ?? []),
    repeated: new Map(repeated),
    texts: Object.entries(raw).flat(2),
  };
}

/**
 * Refuses a parameter that came more than once (RFC 6749 3.1).
 * @param names of the parameters that may not; by default all
 * @throws {OAuthError} invalid_request
 */
export function refuseRepeated(
  { repeated }: SentRequest,
  fix: Guidance["fix"],
  names: Iterable<string> = repeated.keys(),
): void {
  for (const name of names) {
    const times = repeated.get(name);
    if (times === undefined) continue;
    throw new OAuthError("invalid_request", `${name} was sent ${times} times; send it once`, {
      rule: "RFC 6749 3.1",
      parameter: name,
      fix,
    });
  }
}

/** Characters: as much as Node.js accepts in a request's line and headers. */
const ofRequests = 16_384;

/** Characters of what is kept with a code and its tokens: there may be a hundred thousand codes. */
const ofCodes = 4096;

/**
 * Limits what is kept until a person answers it.
 * @param texts all that is kept: values, and names if the sender chose them
 * @throws {OAuthError} invalid_request if they are too long together
 */
export function checkLength(texts: readonly (string | undefined)[]): void {
  refuseLonger(texts, ofRequests, "the request is");
}

/**
 * Limits what is kept with a code.
 * @throws {OAuthError} invalid_request if they are too long together
 */
export function checkCodeLength(texts: readonly (string | undefined)[]): void {
  refuseLonger(texts, ofCodes, "nonce, claims and resource are together");
}

function refuseLonger(texts: readonly (string | undefined)[], max: number, what: string): void {
  const length = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  if (length > max) {
    throw new OAuthError("invalid_request", `${what} ${length} characters long; at most ${max} are accepted`, {
      // A limit of this server.
      rule: null,
      fix: "send shorter or fewer parameters",
    });
  }
}
