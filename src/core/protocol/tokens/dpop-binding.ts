import type { Client } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { OAuthError } from "../../base/errors.ts";
import { commandOn } from "../../base/hint.ts";
import type { TokenClaims } from "./claims.ts";
import { makeNew, refusal, verifyProof, type Proof } from "./dpop.ts";

/** Checks of the DPoP proof (`dpop.ts`) for tokens, codes and refresh tokens that are bound to its key. */

/**
 * The key that a token request proves to hold: its tokens are bound to that.
 * @returns null: it brought no proof, so its tokens are bearer tokens
 * @throws {OAuthError} invalid_dpop_proof
 */
export async function provenKey(ctx: Context, client: Client, proof: Proof | null): Promise<string | null> {
  if (proof !== null) return verifyProof(ctx, proof, null);
  if (client.dpop_bound_access_tokens === true) {
    throw new OAuthError(
      "invalid_dpop_proof",
      `client "${client.client_id}" has dpop_bound_access_tokens, so a DPoP header is needed with each token request`,
      {
        rule: "RFC 9449 5.2",
        fix: {
          text: "Send a DPoP proof; to let the client have bearer tokens",
          command: commandOn(["idp", "clients", "edit"], client.client_id, ["--set", "dpop_bound_access_tokens=false"]),
        },
      },
    );
  }
  return null;
}

/**
 * A code or refresh token that is bound to a key is valid only with that key.
 * @param bound null: it is not bound
 * @throws {OAuthError} invalid_grant
 */
export function checkBinding(what: "code" | "refresh_token", bound: string | null, proven: string | null): void {
  if (bound === null || bound === proven) return;
  throw new OAuthError(
    "invalid_grant",
    proven === null
      ? `${what} is bound to a key, and the request has no DPoP header that proves it`
      : `${what} is bound to another key than the one of the DPoP proof`,
    {
      rule: what === "code" ? "RFC 9449 10" : "RFC 9449 5",
      parameter: what,
      fix: "make the proof with the key that the sign-in began with",
    },
  );
}

/** An access token as a request presents it. */
export interface PresentedToken {
  readonly token: string;
  readonly scheme: "Bearer" | "DPoP";
  readonly proof: Proof | null;
}

/**
 * Checks that the sender of a token is the client it was issued to (RFC 9449 7.1), and refuses bound tokens sent as bearer tokens (7.2).
 * @param claims of that token, already verified
 * @throws {OAuthError} invalid_token, invalid_dpop_proof; invalid_request if it is unclear how the token is presented
 */
export async function checkSender(
  ctx: Context,
  { cnf }: TokenClaims,
  { token, scheme, proof }: PresentedToken,
): Promise<void> {
  if (scheme === "Bearer") {
    if (cnf !== undefined) {
      throw new OAuthError(
        "invalid_token",
        "the token is bound to a key: send it as Authorization: DPoP <access token>, with a DPoP proof",
        { rule: "RFC 9449 7.2", fix: null },
      );
    }
    if (proof !== null) {
      throw new OAuthError(
        "invalid_request",
        "a DPoP proof beside a bearer token: leave the DPoP header out, or send a token that is bound to its key as Authorization: DPoP",
        {
          rule: "RFC 9449 7.1",
          fix: null,
        },
      );
    }
    return;
  }
  if (cnf === undefined) {
    throw new OAuthError("invalid_token", "the token is bound to no key: send it as Authorization: Bearer", {
      rule: "RFC 9449 7.1",
      fix: "send Authorization: Bearer, or get a bound token with a proof at the token endpoint",
    });
  }
  if (proof === null)
    throw refusal(token)("it is missing; send it in a DPoP header", {
      rule: "RFC 9449 7.1",
      ...makeNew,
    });
  if ((await verifyProof(ctx, proof, token)) !== cnf.jkt) {
    throw new OAuthError("invalid_token", "the token is bound to another key than the one of the DPoP proof", {
      rule: "RFC 9449 7.1",
      fix: "make the proof with the key that the token was issued for",
    });
  }
}
