import type { Command, Flags, FlagsOf, None } from "../../commander.ts";
import type { TokenFlaw } from "../../../core/controls/faults/token-flaws.ts";

/** The flags that make a token bad on purpose. */

export type FlawFlags = FlagsOf<typeof withFlaws<[], None, None>>;

/** By the names of the operation's fields. */
export const flawsOf = (flags: FlawFlags): Readonly<Record<TokenFlaw, true | undefined>> => ({
  expired: flags.expired,
  not_yet_valid: flags.notYetValid,
  wrong_issuer: flags.wrongIssuer,
  wrong_audience: flags.wrongAudience,
  missing_issuer: flags.missingIssuer,
  missing_audience: flags.missingAudience,
  missing_expiry: flags.missingExpiry,
  issuer_prefix: flags.issuerPrefix,
  issuer_slash: flags.issuerSlash,
  audience_contains: flags.audienceContains,
  wrong_type: flags.wrongType,
  crit: flags.crit,
  bad_signature: flags.badSignature,
  unknown_kid: flags.unknownKid,
  alg_none: flags.algNone,
});

/** Adds the flags. @param group the heading in the help */
export const withFlaws = <A extends unknown[], F extends Flags, G extends Flags>(
  command: Command<A, F, G>,
  group: string,
) =>
  command
    .optionsGroup(group)
    .option("--expired", "exp an hour ago")
    .option("--not-yet-valid", "nbf an hour from now")
    .option("--wrong-issuer", "another iss")
    .option("--wrong-audience", "another aud")
    .option("--missing-issuer", "no iss")
    .option("--missing-audience", "no aud")
    .option("--missing-expiry", "no exp")
    .option("--issuer-prefix", "iss with more behind it")
    .option("--issuer-slash", "iss with a slash at its end")
    .option("--audience-contains", "aud within a longer one")
    .option("--wrong-type", "typ of a refresh token")
    .option("--crit", "an unknown extension in the header crit")
    .option("--bad-signature", "one bit of the signature is wrong")
    .option("--unknown-kid", "signed with a key that is not published")
    .option("--alg-none", "not signed");
