import { createHash } from "node:crypto";
import { OAuthError } from "../../base/errors.ts";

/** RFC 7636 4.1: a code verifier is 43 to 128 unreserved characters. */
const verifierSyntax = /^[A-Za-z0-9\-._~]{43,128}$/;
/** RFC 7636 4.2: an S256 challenge is the base64url of 32 bytes. */
export const challengeSyntax = /^[A-Za-z0-9\-_]{43}$/;

/** The S256 challenge of a verifier (RFC 7636 4.2). */
export const challengeOf = (verifier: string): string => createHash("sha256").update(verifier).digest("base64url");

const sendS256 = "send code_challenge_method=S256, and the SHA-256 hash of the verifier as code_challenge";

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
      throw new OAuthError("invalid_request", "code_challenge_method was sent without code_challenge", {
        rule: "RFC 7636 4.3",
        parameter: "code_challenge_method",
        fix: "send both, or neither",
      });
    }
    if (required) {
      throw new OAuthError(
        "invalid_request",
        "this client must use PKCE: send code_challenge and code_challenge_method=S256",
        { rule: "RFC 7636 4.3", fix: "turn PKCE on in the OAuth library of the app" },
      );
    }
    return null;
  }
  // RFC 7636 4.3: a request without a method means "plain".
  if (method !== "S256") {
    if (method !== undefined && method !== "plain") {
      throw new OAuthError("invalid_request", `code_challenge_method "${method}" is not supported; use S256`, {
        rule: "RFC 7636 4.4.1",
        parameter: "code_challenge_method",
        fix: sendS256,
      });
    }
    const given =
      method === undefined ? "no code_challenge_method means plain, which" : 'code_challenge_method "plain"';
    throw new OAuthError(
      "invalid_request",
      `${given} is refused: with plain, whoever sees the authorization request can redeem the code; use S256`,
      { rule: "RFC 9700 2.1.1", parameter: "code_challenge_method", fix: sendS256 },
    );
  }
  if (!challengeSyntax.test(challenge)) {
    throw new OAuthError(
      "invalid_request",
      "code_challenge is not the base64url of a SHA-256 hash: 43 characters without padding",
      {
        rule: "RFC 7636 4.2",
        parameter: "code_challenge",
        fix: "send the base64url of the SHA-256 hash of the verifier, without padding",
      },
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
        "code_verifier was sent, but the authorization request had no code_challenge: send both or neither",
        {
          rule: "RFC 9700 2.1.1",
          parameter: "code_verifier",
          fix: "send the code_challenge of the verifier in the authorization request",
        },
      );
    }
    return;
  }
  if (verifier === undefined) {
    throw new OAuthError("invalid_grant", "code_verifier is missing: the authorization request had a code_challenge", {
      rule: "RFC 7636 4.5",
      parameter: "code_verifier",
      fix: "send the verifier whose hash was the code_challenge, from the same sign-in",
    });
  }
  if (!verifierSyntax.test(verifier)) {
    throw new OAuthError("invalid_grant", "code_verifier must be 43 to 128 of the characters A-Z a-z 0-9 - . _ ~", {
      rule: "RFC 7636 4.1",
      parameter: "code_verifier",
      fix: "draw 32 random bytes and send their base64url, 43 characters",
    });
  }
  // The challenge is not a secret, so a plain comparison is enough.
  if (challengeOf(verifier) !== challenge) {
    throw new OAuthError(
      "invalid_grant",
      "code_verifier does not match the code_challenge of the authorization request",
      {
        rule: "RFC 7636 4.6",
        parameter: "code_verifier",
        fix: "keep the verifier of each sign-in until its code is exchanged: a second sign-in has another one",
      },
    );
  }
}
