import { OAuthError } from "./errors.ts";

/** Characters: what Node.js takes of a request's line and headers too. */
const most = 16_384;

/**
 * For what is kept until somebody answers it, whoever sent it.
 * @throws {OAuthError} invalid_request where its values are too long together
 */
export function checkLength(values: readonly (string | undefined)[]): void {
  const length = values.reduce((sum, value) => sum + (value?.length ?? 0), 0);
  if (length > most) {
    throw new OAuthError("invalid_request", `the request is ${length} characters long; at most ${most} are taken`);
  }
}
