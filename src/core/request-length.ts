import { OAuthError } from "./errors.ts";

/** Characters: what Node.js takes of a request's line and headers too. */
const most = 16_384;

/**
 * For what is kept until somebody answers it, whoever sent it.
 * @param texts all that is kept: values, and names where those are the sender's
 * @throws {OAuthError} invalid_request where they are too long together
 */
export function checkLength(texts: readonly (string | undefined)[]): void {
  const length = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  if (length > most) {
    throw new OAuthError("invalid_request", `the request is ${length} characters long; at most ${most} are taken`);
  }
}
