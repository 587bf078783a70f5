import { wrongNames } from "./flaw.ts";

/** Flaws of a token that `token issue` makes: the fields of the operation, and the flags of the command. Those of a fault: id-token.ts. */

type Claims = Readonly<Record<string, unknown>>;

interface TokenFlawRow {
  /** At most one of each group: two would contradict each other. */
  readonly group: "time" | "issuer" | "audience" | "type" | "header" | "signature";
  /** For the help: "exp an hour ago". */
  readonly flag: string;
  /** For the warning: "it expired an hour ago". */
  readonly is: string;
  /** The claims that are otherwise; absent: what is wrong is the time of issue, the type, the header or the signature. JSON has no undefined. */
  readonly apply?: (claims: Claims, later: { readonly nbf: number; readonly exp: number }) => Claims;
}

/** More text behind a value that an API may compare in part only. */
const withMore = (value: unknown): string => `${String(value).replace(/\/$/, "")}/more`;

/** The slash at the end of an issuer is part of it (RFC 8414 3.3). */
const withOtherSlash = (issuer: unknown): string =>
  String(issuer).endsWith("/") ? String(issuer).slice(0, -1) : `${String(issuer)}/`;

export const tokenFlawRows = {
  expired: { group: "time", flag: "exp an hour ago", is: "it expired an hour ago" },
  expired_10m: { group: "time", flag: "exp ten minutes ago", is: "it expired ten minutes ago" },
  not_yet_valid: {
    ...{ group: "time", flag: "nbf an hour from now", is: "its nbf is an hour from now" },
    apply: (_claims, { nbf, exp }) => ({ nbf, exp }),
  },
  wrong_issuer: {
    ...{ group: "issuer", flag: "another iss", is: `its iss is ${wrongNames.issuer}` },
    apply: () => ({ iss: wrongNames.issuer }),
  },
  wrong_audience: {
    ...{ group: "audience", flag: "another aud", is: `its aud is ${wrongNames.audience}` },
    apply: () => ({ aud: wrongNames.audience }),
  },
  missing_issuer: { group: "issuer", flag: "no iss", is: "it has no iss", apply: () => ({ iss: undefined }) },
  missing_audience: { group: "audience", flag: "no aud", is: "it has no aud", apply: () => ({ aud: undefined }) },
  missing_expiry: { group: "time", flag: "no exp", is: "it has no exp", apply: () => ({ exp: undefined }) },
  issuer_prefix: {
    ...{ group: "issuer", flag: "iss with more behind it", is: "its iss is the issuer with more behind it" },
    apply: ({ iss }) => ({ iss: withMore(iss) }),
  },
  issuer_slash: {
    ...{ group: "issuer", flag: "iss with a slash at its end" },
    is: "its iss differs from the issuer in the slash at its end",
    apply: ({ iss }) => ({ iss: withOtherSlash(iss) }),
  },
  audience_contains: {
    ...{ group: "audience", flag: "aud within a longer one", is: "its aud is the audience with more behind it" },
    apply: ({ aud }) => ({ aud: Array.isArray(aud) ? aud.map(withMore) : withMore(aud) }),
  },
  wrong_type: { group: "type", flag: "typ of a refresh token", is: "its typ is that of another kind of token" },
  crit: {
    ...{ group: "header", flag: "an unknown extension in the header crit" },
    is: "its header crit names an extension that nobody knows",
  },
  bad_signature: {
    ...{ group: "signature", flag: "one bit of the signature is wrong" },
    is: "one bit of its signature is wrong",
  },
  unknown_kid: {
    ...{ group: "signature", flag: "signed with a key that is not published" },
    is: "it is signed with a key that is not published",
  },
  alg_none: { group: "signature", flag: "not signed", is: "it is not signed" },
} as const satisfies Readonly<Record<string, TokenFlawRow>>;

export type TokenFlaw = keyof typeof tokenFlawRows;
export const tokenFlaws = Object.keys(tokenFlawRows) as TokenFlaw[];
export const tokenFlawRow = (flaw: TokenFlaw): TokenFlawRow => tokenFlawRows[flaw];

const groups = [...new Set(tokenFlaws.map((flaw) => tokenFlawRows[flaw].group))];

/** The flaws of which a token can have one at most. */
export const excludingFlaws = groups
  .map((group) => tokenFlaws.filter((flaw) => tokenFlawRows[flaw].group === group))
  .filter(({ length }) => length > 1);
