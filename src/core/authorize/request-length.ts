import { OAuthError } from "../errors.ts";

/** Characters: what Node.js takes of a request's line and headers too. */
const ofRequests = 16_384;

/** Characters of what goes into a code and its tokens: a hundred thousand codes are kept. */
const ofCodes = 4096;

/**
 * For what is kept until somebody answers it, whoever sent it.
 * @param texts all that is kept: values, and names where those are the sender's
 * @throws {OAuthError} invalid_request where they are too long together
 */
export function checkLength(texts: readonly (string | undefined)[]): void {
  refuseLonger(texts, ofRequests, "the request is");
}

/**
 * For what a code remembers of its request, beside what the server has made of it.
 * @throws {OAuthError} invalid_request where they are too long together
 */
export function checkCodeLength(texts: readonly (string | undefined)[]): void {
  refuseLonger(texts, ofCodes, "nonce, claims and resource are together");
}

function refuseLonger(texts: readonly (string | undefined)[], most: number, what: string): void {
  const length = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  if (length > most) {
    throw new OAuthError("invalid_request", `${what} ${length} characters long; at most ${most} are taken`);
  }
}
