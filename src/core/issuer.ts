import type { Context } from "./context.ts";
import { OperationError } from "./errors.ts";
import { addressBefore } from "./layout/layout.ts";

/** What an issuer looks like, and how it changes while a server runs. */

/**
 * Only characters of a URL (RFC 3986 2), since the issuer begins every address of the metadata. No semicolon: the path of a cookie cannot
 * contain one (RFC 6265 4.1.1). No path that begins with two slashes: its redirects would lead to another host.
 */
export const issuerForm =
  /^https?:\/\/(?:%[\dA-Fa-f]{2}|[!$&-.0-:=A-[\]^-~])+(?:\/(?!\/)(?:%[\dA-Fa-f]{2}|[!$&-:=A-[\]^-~])*)?$/;

/** An issuer is a URL that is used exactly as given (RFC 8414 2). @throws {OperationError} usage */
export function checkIssuer(issuer: string): void {
  if (issuerForm.test(issuer) && URL.canParse(issuer)) return;
  throw new OperationError(
    "usage",
    `issuer "${issuer}" is not an http or https URL like http://host:port/path, percent-encoded, without query, fragment, user and semicolon`,
    { hint: "For example: http://localhost:4370" },
  );
}

/** `/tenant` of `https://idp.test/tenant`, as it is written. */
const pathOf = (issuer: string): string => issuer.replace(/^https?:\/\/[^/]+/, "");

/**
 * Changes scheme, host and port, for an outside port that is known only later (CONTRACT 1). Every token names its issuer, so those of the
 * previous one are no longer accepted.
 * @throws {OperationError} usage
 */
export function changeIssuer(ctx: Context, issuer: string): void {
  checkIssuer(issuer);
  const address = addressBefore(issuer, ctx.layout);
  if (pathOf(address) !== pathOf(ctx.address)) {
    throw new OperationError("usage", `issuer "${issuer}" has another path than ${ctx.issuer}`, {
      hint: "Only scheme, host and port can change while the server runs. For another path, start it with --issuer",
    });
  }
  ctx.address = address;
}
