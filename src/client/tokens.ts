import { asNumber, type JsonObject } from "../text/json.ts";
import { attempt, Problem, shown, type Report } from "./check.ts";
import { authMethodOf, clientForm, type OAuthClient } from "./client.ts";
import { send, successOf, textIn } from "./http.ts";
import { requireEndpoint, type Provider } from "./provider.ts";

/** What every step of a sign-in needs. */
export interface SignIn {
  readonly provider: Provider;
  readonly client: OAuthClient;
  readonly report: Report;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Random bytes as base64url. */
  readonly random: (bytes: number) => string;
  readonly wait: (milliseconds: number) => Promise<unknown>;
}

/** Checks a successful answer of the token endpoint. @throws {Problem} if a member is missing or wrong (RFC 6749 5.1) */
export function checkTokens(tokens: JsonObject): JsonObject {
  textIn(tokens, "access_token", "the token response");
  const type = textIn(tokens, "token_type", "the token response");
  if (type.toLowerCase() !== "bearer") throw new Problem(`the token_type is ${shown(type)}; Bearer was expected`);
  const life = tokens["expires_in"];
  if (life !== undefined && (asNumber(life) ?? 0) <= 0) {
    throw new Problem(`expires_in of the token response is not a number of seconds: ${shown(life)} (RFC 6749 5.1)`);
  }
  return tokens;
}

/**
 * Requests tokens; the check `token` reports the result.
 * @param what what was exchanged, in words
 * @returns null without tokens
 */
export function requestTokens(
  { provider, client, report }: SignIn,
  parameters: Readonly<Record<string, string>>,
  what: string,
): Promise<JsonObject | null> {
  return attempt(report, "token", async () => {
    const url = requireEndpoint(provider, "token_endpoint");
    const tokens = checkTokens(successOf(await send(clientForm(url, parameters, client, provider))));
    report.check("token", true, `${what}, client authentication ${authMethodOf(client, provider)}`);
    return tokens;
  });
}
