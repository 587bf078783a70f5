import type { Client } from "../../../../store/store.ts";
import { verifyWorkloadToken } from "../../../records/clients/federated.ts";
import { trustIssuer } from "../../../records/fix-commands.ts";
import type { Context } from "../../../context.ts";
import { OAuthError } from "../../../base/errors.ts";
import { problemOf, quoted, readJws, type Jws } from "../../../records/keys/jws.ts";
import { tokenTypes } from "../../../records/keys/signer.ts";
import type { AnyTokenResponse, TokenResult } from "../settle.ts";
import { clientCredentials } from "./client-credentials.ts";
import { acceptIdJag, isIdJag, refuseAssertion } from "./id-jag-accept.ts";
import { grantType, type Values } from "./grant-type.ts";

/** The grant `jwt-bearer` (RFC 7523 2.1): a token of an issuer that the settings trust, in exchange for one of this issuer. */

const parameters = { ...clientCredentials.parameters, assertion: "secret" } as const;

export const jwtBearer = grantType({
  name: "urn:ietf:params:oauth:grant-type:jwt-bearer",
  parameters,
  needs: { what: "authentication", rule: "RFC 7523 2.1" },
  grant: acceptAssertion,
});

/** @throws {OAuthError} invalid_request, invalid_grant, invalid_scope, invalid_target */
async function acceptAssertion(
  ctx: Context,
  client: Client,
  request: Values<typeof parameters>,
  jkt: string | null,
): Promise<TokenResult<AnyTokenResponse>> {
  const { assertion } = request;
  if (assertion === undefined)
    throw new OAuthError("invalid_request", "assertion is missing", {
      rule: "RFC 7523 2.1",
      fix: "send the ID-JAG, or the token of the workload, as assertion",
    });
  const jws = readJws(assertion);
  if (jws === null)
    throw refuseAssertion("it is not a signed JWT, or one with an extension that is not known here", {
      rule: "RFC 7515 4.1.11",
      fix: "send a signed JWT unchanged, as its issuer gave it",
    });
  // The type decides whose checks apply. Another token is never taken for an ID-JAG, nor an ID-JAG for another token.
  if (isIdJag(jws.header)) return acceptIdJag(ctx, client, { ...request, assertion, jws }, jkt);
  await acceptWorkload(ctx, assertion, jws);
  return clientCredentials.grant(ctx, client, request, jkt);
}

/** The token of a workload gives a token without a user. Workloads use theirs again until it expires, so no `jti` is remembered. */
async function acceptWorkload(ctx: Context, assertion: string, { header, payload: { iss } }: Jws): Promise<void> {
  const trusted = await ctx.trusted.find(iss, "workload");
  // A workload of this process may authenticate a client without an entry, but only an entry makes its token a grant.
  if (trusted?.entry == null) {
    const isOther = (await ctx.trusted.find(iss, "id-jag")) !== null;
    throw refuseAssertion(
      isOther
        ? `its typ is ${quoted(header["typ"])}; an ID-JAG has "${tokenTypes.idJag}"`
        : `its issuer is ${quoted(iss)}, which is not in the setting trusted_issuers with accepts: workload`,
      isOther
        ? { rule: "RFC 8725 3.11", fix: "send the ID-JAG, not another token of that issuer" }
        : { rule: "RFC 7523 3", fix: trustIssuer("the issuer") },
    );
  }
  try {
    await verifyWorkloadToken(ctx, assertion, trusted.keys, { issuer: String(iss), audience: ctx.issuer });
  } catch (error) {
    const { message, guidance } = problemOf(ctx, error);
    throw refuseAssertion(message, guidance, error);
  }
}
