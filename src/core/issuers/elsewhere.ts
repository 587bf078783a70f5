import type { ReadTx } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { OAuthError, type OAuthErrorCode } from "../errors.ts";
import { issuerOf } from "../layout/layout.ts";

const ofOther = (ctx: Pick<Context, "issuer">, code: OAuthErrorCode, what: string, issuer: string): OAuthError =>
  new OAuthError(code, `${what} is one of the issuer ${issuer}; this is ${ctx.issuer}`, {
    rule: code === "invalid_request_uri" ? "RFC 9126 4" : "RFC 6749 5.2",
    fix: `send it to the issuer that it belongs to, ${issuer}`,
  });

/**
 * Two issuers of a vendor have the same data. A code, pushed request or device code belongs to the one whose endpoint it came by.
 * @param what it is, as in "code" @returns the refusal at the other one; null: it belongs to this one
 */
export function refuseOfOther(
  ctx: Pick<Context, "address" | "issuer" | "layout">,
  { issuerPath }: { readonly issuerPath: string },
  code: OAuthErrorCode,
  what: string,
): OAuthError | null {
  if (issuerPath === ctx.layout.issuer) return null;
  const issuer = issuerOf(ctx.address, { issuer: issuerPath });
  return ofOther(ctx, code, what, issuer);
}

/**
 * Codes and request URIs do not say whose they are, as a JWT does. So a refused one is looked for at the other issuers of the process, and
 * the refusal names the one that it belongs to.
 * @param what is refused, as in "code" @param has whether an issuer has it
 * @returns the error to throw instead
 */
export async function namingIssuer<E>(
  ctx: Pick<Context, "issuer" | "issuers" | "store">,
  refusal: E,
  what: string,
  has: (tx: ReadTx) => boolean,
): Promise<E | OAuthError> {
  if (!(refusal instanceof OAuthError)) return refusal;
  for (const {
    ctx: { issuer, store },
  } of ctx.issuers.open()) {
    if (store === ctx.store || !(await store.read(has))) continue;
    return ofOther(ctx, refusal.code, what, issuer);
  }
  return refusal;
}
