import { movedClock, type Clock } from "../clock.ts";
import { OAuthError, type Guidance } from "../errors.ts";
import { relative } from "../time.ts";

/** Why a JWT that somebody else made is not accepted: assertions of clients, tokens of workloads, ID-JAGs, DPoP proofs. */

/** The message is about "it"; whoever refuses the JWT says what that is. */
export class JwtProblem extends Error {
  override readonly name = "JwtProblem";
  readonly guidance: Guidance;
  constructor(message: string, guidance: Guidance, cause?: unknown) {
    super(message, { cause });
    this.guidance = guidance;
  }
}

interface Timed {
  readonly clock: Clock;
  now(): number;
}

/** A time that is not accepted. Its maker uses the real time, so a clock that was moved may be the reason, and is named. */
export function timeProblem(ctx: Timed, reason: string, rule: Guidance["rule"], cause?: unknown): JwtProblem {
  const moved = movedClock(ctx);
  const fix = moved?.fix ?? "make a new one, and compare the clocks of both machines";
  return new JwtProblem(moved === null ? reason : `${reason}; ${moved.note}`, { rule, fix }, cause);
}

/** @param exp seconds since 1970 */
export const expired = (ctx: Timed, exp: number, cause?: unknown): JwtProblem =>
  timeProblem(ctx, `it expired ${relative(exp - ctx.now() / 1000)} ("exp")`, "RFC 7519 4.1.4", cause);

/** RFC 7519 4.1 has a paragraph for each of these claims; the one of a missing claim is its own too. */
const claims: Readonly<Record<string, Guidance>> = {
  iss: { rule: "RFC 7519 4.1.1", fix: "set iss to the issuer that this server expects" },
  sub: { rule: "RFC 7519 4.1.2", fix: "set sub to the subject that this server expects" },
  aud: { rule: "RFC 7519 4.1.3", fix: "set aud to the issuer of this server" },
  exp: { rule: "RFC 7519 4.1.4", fix: "set exp to a time soon after the request" },
  iat: { rule: "RFC 7519 4.1.6", fix: "set iat to the time at which it was made" },
  jti: { rule: "RFC 7519 4.1.7", fix: "set jti to a new random text for each one" },
  typ: { rule: "RFC 8725 3.11", fix: "set typ in its header as the standard of this kind of token says" },
};

/** The errors of jose, by their codes. */
const codes: Readonly<Record<string, Guidance>> = {
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: {
    rule: "RFC 7515 5.2",
    fix: "sign it with the key that is registered here, and send it unchanged",
  },
  ERR_JWKS_NO_MATCHING_KEY: {
    rule: "RFC 7515 4.1.4",
    fix: "sign it with a key of the registered key set, and name that key in kid",
  },
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: {
    rule: "RFC 7515 4.1.4",
    fix: "name the key in kid: several keys of the set would do",
  },
  ERR_JOSE_ALG_NOT_ALLOWED: { rule: "RFC 8725 3.1", fix: "sign it with an algorithm that discovery lists" },
};

/** What jose, or a check of ours, found. */
export function problemOf(ctx: Timed, error: unknown): JwtProblem {
  if (error instanceof JwtProblem) return error;
  if (error instanceof OAuthError) {
    return new JwtProblem(error.message, { rule: error.rule, fix: error.fix }, error);
  }
  const { code, claim, reason, payload } = Object(error) as Readonly<Record<string, unknown>>;
  const { exp, nbf } = Object(payload) as { readonly exp?: unknown; readonly nbf?: unknown };
  if (reason === "check_failed" && claim === "exp" && typeof exp === "number") return expired(ctx, exp, error);
  if (reason === "check_failed" && claim === "nbf" && typeof nbf === "number") {
    const when = relative(nbf - ctx.now() / 1000);
    return timeProblem(ctx, `it becomes valid ${when} ("nbf")`, "RFC 7519 4.1.5", error);
  }
  const message = error instanceof Error ? error.message : "it cannot be verified";
  const guidance = claims[String(claim)] ??
    codes[String(code)] ?? { rule: "RFC 7519 7.2", fix: "send a signed JWT as RFC 7515 7.1 writes it" };
  return new JwtProblem(message, guidance, error);
}
