import type { JsonObject } from "../text/json.ts";
import { checkIdToken } from "./id-token.ts";
import type { SignIn } from "./tokens.ts";
import { checkUserInfo } from "./userinfo.ts";

/** The result of a sign-in, beside its checks. */
export interface Result {
  /** The token response. */
  readonly tokens: JsonObject | null;
  /** The claims of the ID token. */
  readonly claims: JsonObject | null;
  readonly userinfo: JsonObject | null;
  /** `error` and `error_description` of the provider, if it refused. */
  readonly refusal: JsonObject | null;
}

export const nothing: Result = { tokens: null, claims: null, userinfo: null, refusal: null };

/** What the tokens of a user must match. */
interface TokensOfUser {
  readonly nonce: string | null;
  readonly maxAge: number | null;
  readonly acr: readonly string[];
  /** Whether `openid` was requested: then there must be an ID token, and UserInfo answers. */
  readonly openid: boolean;
}

/** Checks what says who signed in: the ID token and UserInfo. */
export async function finish(run: SignIn, tokens: JsonObject | null, expected: TokensOfUser): Promise<Result> {
  if (tokens === null) return nothing;
  const accessToken = String(tokens["access_token"]);
  const idToken = tokens["id_token"];
  if (!expected.openid && idToken === undefined) return { ...nothing, tokens };
  const claims = await checkIdToken(run, idToken, { ...expected, accessToken });
  const userinfo = expected.openid ? await checkUserInfo(run, accessToken, claims?.["sub"]) : null;
  return { ...nothing, tokens, claims, userinfo };
}
