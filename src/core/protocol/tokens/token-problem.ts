import { cut } from "../../../text/redacted.ts";
import type { Context } from "../../context.ts";
import type { Paragraph } from "../../base/errors.ts";
import type { Hint } from "../../base/hint.ts";
import { needsExtension, type Jws } from "../../records/keys/jws.ts";

/** Why a token is not accepted, in a sentence for the developer. Never repeats the token. */
export class TokenProblem extends Error {
  override readonly name = "TokenProblem";
  /** Seconds since 1970, if the token is only expired; else null. */
  readonly expiredAt: number | null;
  readonly rule: Paragraph;
  readonly fix: string | Hint;
  constructor(
    message: string,
    { rule, fix, expiredAt = null }: { rule: Paragraph; fix: string | Hint; expiredAt?: number | null },
  ) {
    super(message);
    this.rule = rule;
    this.fix = fix;
    this.expiredAt = expiredAt;
  }
}

/** The rules that several problems share, and what to do about them. */
export const asGiven = "send the token exactly as the token response gave it";

/** The refusal of a text that is not read as a token. */
export const unreadable = (text: string): TokenProblem =>
  needsExtension(text)
    ? new TokenProblem('the token\'s header has "crit", and no extension is known here', {
        rule: "RFC 7515 4.1.11",
        fix: asGiven,
      })
    : new TokenProblem("the value is not a token of this server", { rule: "RFC 7519 7.2", fix: asGiven });

export const ofIssuer = {
  rule: "RFC 7519 4.1.1",
  fix: "send it to the issuer that it names, or get a token from this one",
} as const;

/** The refusal of a token of another issuer; null if it names this one or none. The `iss` claim is not verified. */
export function foreign(ctx: Pick<Context, "issuer">, { payload }: Jws): TokenProblem | null {
  const { iss } = payload;
  if (typeof iss !== "string" || iss === ctx.issuer) return null;
  return new TokenProblem(`the token is one of the issuer ${cut(iss, 200)}; this is ${ctx.issuer}`, ofIssuer);
}
