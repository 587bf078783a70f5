import { OAuthError } from "../errors.ts";

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
