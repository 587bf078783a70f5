import type { JWTPayload } from "jose";
import type { Client } from "../../../store/store.ts";
import { assertionAlgorithms } from "./clients.ts";
import type { Context } from "../../context.ts";
import { OAuthError, type Guidance } from "../../base/errors.ts";
import { commandOn } from "../../base/hint.ts";
import { trustIssuer } from "../fix-commands.ts";
import { expired, JwtProblem, problemOf, needsExtension, readJws } from "../keys/jws.ts";
import type { JwkSet } from "../keys/keys.ts";

/**
 * Client authentication by a token that another issuer gave to a workload (RFC 7523 2.2), as with the federated credentials of clouds. The
 * client lists the tokens that may act as it; nothing else about them decides.
 */

/** Seconds that the clock of an issuer may be ahead. */
const clockSkew = 10;

const refuse = (reason: string, guidance: Guidance, cause?: unknown): OAuthError =>
  new OAuthError("invalid_client", `client_assertion is not accepted: ${reason}`, {
    parameter: "client_assertion",
    ...guidance,
    cause,
  });

/** Whether an assertion is of another issuer than the client itself (RFC 7523 3). */
export const isOfAnotherIssuer = (assertion: string, clientId: string): boolean =>
  readJws(assertion)?.payload["iss"] !== clientId;

/** A list with one value is that value (RFC 7519 4.1.3). */
const only = (aud: unknown): unknown => (Array.isArray(aud) && aud.length === 1 ? (aud[0] as unknown) : aud);

/**
 * Proves a client by a token of a workload. The same token passes until it expires: RFC 7523 3 leaves it to the server whether a `jti` passes
 * once, and workloads get one token for many requests, from GitHub as from a Kubernetes volume.
 * @throws {OAuthError} invalid_client with the rule that failed
 */
export async function verifyFederated(
  ctx: Context,
  { client, version }: { readonly client: Client; readonly version: number | undefined },
  assertion: string,
): Promise<void> {
  const token = readJws(assertion);
  if (token === null) {
    const isCritical = needsExtension(assertion);
    const reason = isCritical ? 'its header has "crit", and no extension is known here' : "it is not a JWT";
    throw refuse(reason, {
      rule: isCritical ? "RFC 7515 4.1.11" : "RFC 7519 7.2",
      fix: "send the token of the workload exactly as it was issued",
    });
  }
  const { iss, sub, aud } = token.payload;
  const entry = (client.federated_credentials ?? []).find(
    ({ issuer, subject, audience }) => issuer === iss && subject === sub && audience === only(aud),
  );
  if (entry === undefined) {
    const given = JSON.stringify({ issuer: iss, subject: sub, audience: aud });
    throw refuse(`no entry of federated_credentials of client "${client.client_id}" equals its ${given}`, {
      rule: "RFC 7523 3",
      fix: { text: "To see its entries", command: commandOn(["idp", "clients", "show"], client.client_id) },
    });
  }
  const trusted = await ctx.trusted.find(entry.issuer, "workload");
  if (trusted === null) {
    throw refuse(
      `the keys of ${entry.issuer} are not known: it is not in the setting trusted_issuers with accepts: workload`,
      { rule: "RFC 7523 3", fix: trustIssuer(entry.issuer) },
    );
  }
  try {
    await verifyWorkloadToken(ctx, assertion, trusted.keys, entry);
  } catch (error) {
    const { message, guidance } = problemOf(ctx, error);
    throw refuse(message, guidance, error);
  }
  // Fetching the keys may take long: the client may have been changed in the meantime.
  if ((await ctx.store.read((tx) => tx.version("clients", client.client_id))) !== version)
    throw refuse(`client "${client.client_id}" was changed while it was checked; try again`, {
      rule: "RFC 7523 3",
      fix: "send the request again",
    });
}

/**
 * Verifies signature, type and times of a token of a workload.
 * @throws {JwtProblem} and the errors of jose, which {@link problemOf} reads
 */
export async function verifyWorkloadToken(
  ctx: Context,
  token: string,
  keys: (kid: unknown) => Promise<JwkSet>,
  { issuer, audience }: { readonly issuer: string; readonly audience: string },
): Promise<JWTPayload> {
  const { createLocalJWKSet, jwtVerify } = await import("jose");
  const { keys: known } = await keys(readJws(token)?.header["kid"]);
  const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet({ keys: [...known] }), {
    algorithms: [...assertionAlgorithms.private_key_jwt],
    issuer,
    audience,
    requiredClaims: ["exp", "sub"],
    currentDate: new Date(ctx.now()),
    clockTolerance: clockSkew,
  });
  // RFC 8725 3.11: a token of another kind, such as an ID-JAG, does not stand in for this one.
  const { typ = "JWT" } = protectedHeader;
  if (typ.toUpperCase() !== "JWT")
    throw new JwtProblem(`its typ is "${typ}", which is another kind of token`, {
      rule: "RFC 8725 3.11",
      fix: "send the token that the workload got, with the typ JWT or none",
    });
  if (Number(payload.exp) * 1000 <= ctx.now()) throw expired(ctx, Number(payload.exp));
  if (only(payload.aud) !== audience)
    throw new JwtProblem(`it is for ${JSON.stringify(payload.aud)}, not for ${audience} alone`, {
      rule: "RFC 7523 3",
      fix: `ask the issuer of the workload for a token whose only audience is ${audience}`,
    });
  return payload;
}
