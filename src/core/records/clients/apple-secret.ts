import type { Client } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { OAuthError, type Guidance } from "../../base/errors.ts";
import { problemOf, quoted, readJws, timeProblem, type JwtProblem } from "../keys/jws.ts";

/**
 * The secret of a client at Apple: a JWT that the client signs with its ES256 key. It is no assertion of RFC 7523: it is sent as `client_secret`,
 * and again and again until it expires.
 * https://developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret
 */

/** Seconds: six months, as Apple counts them. */
const maxLife = 15_777_000;

/** What libraries have as `aud`, whatever the address of the issuer is. */
const appleAudience = "https://appleid.apple.com";

/** The rules are Apple's, so no paragraph of a standard requires them. */
const refuse = (reason: string, fix: Guidance["fix"], cause?: unknown): OAuthError =>
  new OAuthError("invalid_client", `client_secret is not accepted: ${reason}`, {
    rule: null,
    parameter: "client_secret",
    fix,
    cause,
  });

const refuseFor = ({ message, guidance, cause }: JwtProblem): OAuthError => refuse(message, guidance.fix, cause);

/**
 * Proves a client by its secret.
 * @throws {OAuthError} invalid_client, which names the claim that is wrong
 */
export async function verifyAppleSecret(ctx: Context, client: Client, secret: string): Promise<void> {
  const jws = readJws(secret);
  if (jws === null)
    throw refuse("it is not a JWT that the client signed with its key", "sign a JWT with the client's ES256 key");
  const { iss, sub, aud, exp } = jws.payload;
  const wanted = [ctx.issuer, appleAudience];
  if (iss !== client.apple_team)
    throw refuse(`its iss is ${quoted(iss)}, which is not the client's apple_team`, "set iss to the apple_team");
  if (sub !== client.client_id)
    throw refuse(`its sub is ${quoted(sub)}; it must be the client_id`, `set sub to "${client.client_id}"`);
  if (![aud].flat().some((one) => wanted.includes(String(one))))
    throw refuse(`its aud is ${quoted(aud)}; it must be ${wanted.join(" or ")}`, `set aud to ${appleAudience}`);
  const { createLocalJWKSet, jwtVerify } = await import("jose");
  try {
    await jwtVerify(secret, createLocalJWKSet({ keys: [...(client.jwks?.keys ?? [])] }), {
      algorithms: ["ES256"],
      requiredClaims: ["iat", "exp"],
      currentDate: new Date(ctx.now()),
      clockTolerance: 10,
    });
  } catch (error) {
    throw refuseFor(problemOf(ctx, error));
  }
  if (Number(exp) * 1000 - ctx.now() > maxLife * 1000)
    throw refuseFor(timeProblem(ctx, `its exp is more than six months (${maxLife} s) ahead`, null));
}
