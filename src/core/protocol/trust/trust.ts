/*
 * core/protocol/trust: other issuers whose tokens count here, by the setting `trusted_issuers`. trusted-issuers.ts finds one and its keys, schema.ts says
 * what fixtures may name. clients/federated.ts and tokens/grant-types/ verify the tokens, each kind by its own rules.
 */

import type { JwkSet } from "../../records/keys/keys.ts";

/** What a token of another issuer may be: an ID-JAG, which speaks for a user; or a token of a workload, which speaks for a client. */
export const acceptedKinds = ["id-jag", "workload"] as const;
type AcceptedKind = (typeof acceptedKinds)[number];

/** An entry of the setting. */
export interface TrustedIssuerSetting {
  /** A URL; the name of another issuer of the process; or `/`, the first one. */
  readonly issuer: string;
  /** Neither for an issuer of the process. */
  readonly jwks_uri?: string | undefined;
  readonly jwks?: { readonly keys: readonly TrustedKey[] } | undefined;
  /** Absent: `id-jag`. */
  readonly accepts?: AcceptedKind | undefined;
  /** How a user is found beside `federated`. Absent: not at all. */
  readonly match?: "email" | undefined;
}

/** RFC 7517 4. */
interface TrustedKey {
  readonly kty: string;
  readonly kid?: string | undefined;
  readonly [member: string]: unknown;
}

interface TrustedIssuer {
  /** Null: a workload of this process, which needs no entry. */
  readonly entry: TrustedIssuerSetting | null;
  /**
   * Its public keys.
   * @param kid the one that is needed
   * @throws {Error} with a sentence for the developer, if they cannot be had
   */
  readonly keys: (kid: unknown) => Promise<JwkSet>;
}

export interface TrustedIssuers {
  /** The issuer of a token, if its tokens of this kind count here; null if not. An issuer of the same records never does. */
  readonly find: (iss: unknown, kind: AcceptedKind) => Promise<TrustedIssuer | null>;
  /** The identifiers of an issuer that is named as in the setting: a vendor's layout may have two. */
  readonly identifiersOf: (named: string) => Promise<readonly string[]>;
}

/** Whether an issuer is named by its URL. */
export const isUrl = (named: string): boolean => named.includes(":");
