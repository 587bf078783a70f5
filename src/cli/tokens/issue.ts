/*
 * cli/tokens: the `token` commands, one file each.
 */
import { userOr, clientOr } from "../input/ask.ts";
import type { Invocation } from "../invocation.ts";
import { targetUnder, type IssueFlags } from "../issue.ts";
import { answer, type Outcome } from "../output/print.ts";
import { scopeNotes } from "../output/scope-notes.ts";
import type { SetFields } from "../program/set-field.ts";
import type { Target } from "../target/target.ts";

export interface TokenIssueFlags extends IssueFlags {
  readonly issuer?: string;
  readonly type: "access" | "id" | "refresh";
  readonly claim?: SetFields;
  readonly expiresIn?: number;
  readonly audience?: string;
  readonly expired?: true;
  readonly notYetValid?: true;
  readonly wrongIssuer?: true;
  readonly wrongAudience?: true;
  readonly missingIssuer?: true;
  readonly missingAudience?: true;
  readonly missingExpiry?: true;
  readonly wrongType?: true;
  readonly dpopJkt?: string;
  readonly badSignature?: true;
  readonly unknownKid?: true;
  readonly algNone?: true;
}

/** `idp token issue`: prints one bare token and nothing else, for `$(…)`. */
export async function tokenIssue(cli: Invocation, flags: TokenIssueFlags): Promise<Outcome> {
  const target = await targetUnder(cli, flags.issuer);
  const client = await clientOr(cli, target, flags.client);
  const { scope, type, audience, expired, claim: claims, expiresIn: expires_in } = flags;
  const issued = await target.call("token.issue", {
    ...{ client, scope, type, audience, claims, expires_in, expired },
    user: await userFor(cli, target, client, flags),
    not_yet_valid: flags.notYetValid,
    wrong_issuer: flags.wrongIssuer,
    wrong_audience: flags.wrongAudience,
    missing_issuer: flags.missingIssuer,
    missing_audience: flags.missingAudience,
    missing_expiry: flags.missingExpiry,
    wrong_type: flags.wrongType,
    dpop_jkt: flags.dpopJkt,
    bad_signature: flags.badSignature,
    unknown_kid: flags.unknownKid,
    alg_none: flags.algNone,
  });
  const warnings = issued.warnings.map((warning) => `Warning: ${warning}.`);
  return answer(issued, ({ token }) => token, {
    notes: [...warnings, ...(await scopeNotes(target, scope)), target.where],
  });
}

/** The user, whom a client with client credentials does not need. */
async function userFor(
  cli: Invocation,
  target: Target,
  client: string,
  flags: IssueFlags,
): Promise<string | undefined> {
  if (flags.user !== undefined) return flags.user;
  const { grant_types: grantTypes } = await target.call("clients.show", { client_id: client });
  const speaksForItself = Array.isArray(grantTypes) && grantTypes.includes("client_credentials");
  return speaksForItself ? undefined : userOr(cli, target, undefined);
}
