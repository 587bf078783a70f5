import type { Context } from "./context.ts";
import { decodeToken } from "./decode.ts";
import { isDead, tokenState } from "./token-state.ts";
import { signatureProblem } from "./accepted-tokens.ts";
import type { TokenClaims } from "./tokens.ts";

/** Every check of a token, not the first that fails only. */

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface Verification {
  readonly valid: boolean;
  readonly checks: readonly Check[];
}

const kinds: Readonly<Record<string, string>> = {
  "at+jwt": "an access token",
  "rt+jwt": "a refresh token",
  JWT: "an ID token",
};

const when = (time: number): string => new Date(time * 1000).toISOString();

/**
 * Verifies a token of this server: signature, kind, issuer, times, audience where one is named, and what became of it.
 * @throws {OperationError} refused where the text is no JWT at all
 */
export async function verifyToken(
  ctx: Context,
  input: { readonly token: string; readonly audience?: string | undefined },
): Promise<Verification> {
  const { header, payload } = decodeToken(input.token, ctx.now());
  const now = ctx.now() / 1000;
  const checks: Check[] = [];
  const check = (name: string, ok: boolean, detail: string): void => {
    checks.push({ name, ok, detail });
  };

  const problem = await signatureProblem(ctx, input.token);
  check(
    "signature",
    problem === null,
    problem ?? `${String(header["alg"])}, key ${String(header["kid"])} of this server`,
  );
  const kind = typeof header["typ"] === "string" ? kinds[header["typ"]] : undefined;
  check("typ", kind !== undefined, kind ?? `"${String(header["typ"])}" is no kind of token that this server issues`);
  const issuer = payload["iss"];
  check(
    "iss",
    issuer === ctx.issuer,
    issuer === ctx.issuer ? ctx.issuer : `expected ${ctx.issuer}, the token has ${JSON.stringify(issuer ?? null)}`,
  );
  if (input.audience !== undefined) {
    const audiences = [payload["aud"]].flat();
    const ok = audiences.includes(input.audience);
    check(
      "aud",
      ok,
      ok ? input.audience : `expected ${input.audience}, the token has ${JSON.stringify(payload["aud"] ?? null)}`,
    );
  }
  const { exp, iat, nbf } = payload;
  const lives = typeof exp === "number" && exp > now;
  check(
    "exp",
    lives,
    typeof exp !== "number" ? "the token has no exp" : `${lives ? "expires" : "expired"} ${when(exp)}`,
  );
  const begun = (typeof iat !== "number" || iat <= now) && (typeof nbf !== "number" || nbf <= now);
  check(
    "iat",
    begun,
    typeof iat !== "number" ? "the token has no iat" : `issued ${when(iat)}${begun ? "" : ", which is in the future"}`,
  );
  if (problem === null && typeof payload["jti"] === "string" && typeof payload["client_id"] === "string") {
    const state = await ctx.store.read((tx) => tokenState(tx, payload as unknown as TokenClaims));
    check("state", !isDead(state), isDead(state) ? state.detail : "not revoked, the user's account is in order");
  }
  return { valid: checks.every(({ ok }) => ok), checks };
}
