import type { Context } from "../../context.ts";
import { OAuthError } from "../../base/errors.ts";
import { isAbsoluteUri } from "../../base/identifiers.ts";

/** Resource indicators (RFC 8707): for which API an access token is meant. Clients send them as `resource` or `audience`. */

/** The most values of a request. They are kept with each code, and many short strings take ten times the memory of their characters. */
const maxResources = 20;

/** The targets of a request. With the endpoints of a vendor they may be any text. @throws {OAuthError} invalid_target */
export function checkResources({ layout }: Pick<Context, "layout">, sent: readonly string[]): readonly string[] {
  // A parameter without a value counts as not sent (RFC 6749 3.1).
  const values = sent.filter((value) => value !== "");
  if (values.length > maxResources) {
    throw new OAuthError(
      "invalid_target",
      `resource and audience have ${values.length} values; at most ${maxResources} are accepted`,
      // A limit of this server.
      { rule: null, fix: null },
    );
  }
  for (const value of layout.anyAudience === true ? [] : values) {
    if (!isAbsoluteUri(value) || value.includes("#")) {
      throw new OAuthError(
        "invalid_target",
        `resource "${value}" must be an absolute URI without a fragment, also when it is sent as audience`,
        { rule: "RFC 8707 2", parameter: "resource", fix: "send the URI of the API, such as https://api.example.com" },
      );
    }
  }
  return [...new Set(values)];
}

/**
 * The resources of a token request, which may narrow those that were granted (RFC 8707 2.2).
 * @throws {OAuthError} invalid_target
 */
export function narrowResources(
  ctx: Pick<Context, "layout">,
  granted: readonly string[],
  values: readonly string[],
): readonly string[] {
  const asked = checkResources(ctx, values);
  if (asked.length === 0) return granted;
  // If the authorization request named none, the token request may still choose.
  const foreign = granted.length === 0 ? [] : asked.filter((value) => !granted.includes(value));
  if (foreign.length > 0) {
    throw new OAuthError(
      "invalid_target",
      `resource "${foreign.join(" ")}" is not one of the authorization request: ${granted.join(" ")}`,
      { rule: "RFC 8707 2.2", parameter: "resource", fix: "send it in the authorization request too, or leave it out" },
    );
  }
  return asked;
}
