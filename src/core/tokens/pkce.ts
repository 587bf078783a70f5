import { createHash } from "node:crypto";
import { OAuthError } from "../errors.ts";

/** RFC 7636 4.1: a code verifier is 43 to 128 unreserved characters. */
const verifierSyntax = /^[A-Za-z0-9\-._~]{43,128}$/;
/** RFC 7636 4.2: an S256 challenge is the base64url of 32 bytes. */
export const challengeSyntax = /^[A-Za-z0-9\-_]{43}$/;

/** The S256 challenge of a verifier (RFC 7636 4.2). */
export const challengeOf = (verifier: string): string => createHash("sha256").update(verifier).digest("base64url");

/**
 * The code challenge of an authorization request (RFC 7636 4.3).
 * @param required whether the client must use PKCE
 * @returns null if the request uses no PKCE
 * @throws {OAuthError} invalid_request
 */
export function checkChallenge(
  challenge: string | undefined,
  method: string | undefined,
  required: boolean,
): string | null {
  if (challenge === undefined) {
    if (method !== undefined) {
      throw new OAuthError("invalid_request", "code_challenge_method was sent without code_challenge (RFC 7636 4.3)");
    }
    if (required) {
      throw new OAuthError(
        "invalid_request",
        "this client must use PKCE: send code_challenge and code_challenge_method=S256 (RFC 7636 4.3)",
      );
    }
    return null;
  }
  // RFC 7636 4.3: a request without a method means "plain".
  if (method !== "S256") {
    const given =
      method === undefined ? "no code_challenge_method means plain, which" : `code_challenge_method "${method}"`;
    throw new OAuthError(
      "invalid_request",
      `${given} is refused: with plain, whoever sees the authorization request can redeem the code; use S256 (RFC 9700 2.1.1)`,
    );
  }
  if (!challengeSyntax.test(challenge)) {
    throw new OAuthError(
      "invalid_request",
      "code_challenge is not the base64url of a SHA-256 hash: 43 characters without padding (RFC 7636 4.2)",
    );
  }
  return challenge;
}

/**
 * The code verifier of a token request against the challenge of the authorization request (RFC 7636 4.6).
 * @throws {OAuthError} invalid_grant
 */
export function checkVerifier(challenge: string | null, verifier: string | undefined): void {
  if (challenge === null) {
    // RFC 9700 2.1.1: a verifier without a challenge is the sign of a PKCE downgrade.
    if (verifier !== undefined) {
      throw new OAuthError(
        "invalid_grant",
        "code_verifier was sent, but the authorization request had no code_challenge: send both or neither (RFC 9700 2.1.1)",
      );
    }
    return;
  }
  if (verifier === undefined) {
    throw new OAuthError(
      "invalid_grant",
      "code_verifier is missing: the authorization request had a code_challenge (RFC 7636 4.5)",
    );
  }
  if (!verifierSyntax.test(verifier)) {
    throw new OAuthError(
      "invalid_grant",
      "code_verifier must be 43 to 128 of the characters A-Z a-z 0-9 - . _ ~ (RFC 7636 4.1)",
    );
  }
  // The challenge is not a secret, so a plain comparison is enough.
  if (challengeOf(verifier) !== challenge) {
    throw new OAuthError(
      "invalid_grant",
      "code_verifier does not match the code_challenge of the authorization request (RFC 7636 4.6)",
      { fix: "keep the verifier of each sign-in until its code is exchanged: a second sign-in has another one" },
    );
  }
}
