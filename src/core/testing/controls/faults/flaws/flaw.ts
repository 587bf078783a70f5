import type { JsonObject } from "../../../../../text/json.ts";
import type { FaultEndpoint } from "../endpoints.ts";

/*
 * core/testing/controls/faults/flaws: what a response can have wrong, a row for each flaw, in the file of its place: id-token.ts, response.ts, saml.ts, and
 * json.ts for the token response, UserInfo, keys and discovery; access-token.ts has what `token issue` makes wrong. `faults flaws`, the docs,
 * ../spoil.ts and the cases of the checks read the rows. A row signs nothing and imports nothing: spoil.ts does what `apply` says.
 */

/** The response, or the part of one, that has the flaw. */
export type FlawPlace = "response" | "id-token" | "id-jag" | "token" | "userinfo" | "keys" | "discovery" | "saml";

/** The parameters of a response. */
type Pairs = readonly (readonly [name: string, value: string])[];

/** What is done to a response. A function returns null where the response cannot have the flaw. */
export type Apply =
  /** The parameters of an authorization response that has `needs` among them. */
  | { readonly kind: "parameters"; readonly needs: string; readonly change: (pairs: Pairs) => Pairs }
  /** The JSON of a response. */
  | { readonly kind: "body"; readonly change: (body: JsonObject) => JsonObject | null }
  /** The claims of the token in it, which is signed again. */
  | { readonly kind: "claims"; readonly change: (claims: JsonObject) => JsonObject | null }
  /** How that token is signed, or its header. `other-typ`: with the type of an ID token. */
  | {
      readonly kind: "signature";
      readonly how:
        | "one-bit"
        | "none"
        | "other-key"
        | "no-kid"
        | "unknown-crit"
        | "other-typ"
        | "public-as-secret"
        | "client-secret";
    }
  /** The published keys: none, others in their place, or others beside them with the same kid. */
  | { readonly kind: "keys"; readonly how: "none" | "others" | "same-kid" }
  /** A message of SAML: core/testing/saml-flaws has each by its name. */
  | { readonly kind: "saml" };

/** What an app must do. `refuse`: it signs nobody in. `work`: it signs the user in. `either`: it may do either. `optional`: it should refuse, but need not. */
type Must = "refuse" | "work" | "either" | "optional";

export interface FlawRow {
  readonly name: string;
  readonly endpoint: FaultEndpoint;
  readonly place: FlawPlace;
  /** The response, in words that "signs a user in" may follow: "an ID token of another issuer". */
  readonly wrong: string;
  /** What should be seen: "refuse the ID token, and sign nobody in". */
  readonly should: string;
  readonly must: Must;
  /** What must not happen, where it is something else than that it signs a user in. */
  readonly mustNot?: string;
  /** The checks have a case of another name for it. */
  readonly hasOwnCase?: true;
  readonly rule: string;
  /** The usual line to change. */
  readonly fix: string;
  readonly apply: Apply;
}

/** Names that never resolve (RFC 6761 6.4). */
export const wrongNames = {
  issuer: "https://wrong-issuer.invalid",
  audience: "https://wrong-audience.invalid",
  acs: "https://wrong-recipient.invalid/acs",
};

/** Seconds: more than clocks differ, and more than verifiers tolerate. */
export const distance = 3600;

/** Another random value of the same form. */
export const another = (value: unknown): string => `${String(value).slice(1)}x`;

/** Without a member. */
export const leaveOut =
  (name: string) =>
  (body: JsonObject): JsonObject | null => {
    const { [name]: left, ...rest } = body;
    return left === undefined ? null : rest;
  };

/** With another value of a member that is there. */
export const put =
  (name: string, value: (old: unknown, body: JsonObject) => unknown) =>
  (body: JsonObject): JsonObject | null =>
    body[name] === undefined ? null : { ...body, [name]: value(body[name], body) };

/** What a row says beside its name and where its flaw is. */
export type FlawWords = Omit<FlawRow, "name" | "endpoint" | "place">;

/** A row with its name as a type. */
export interface Named<N extends string> extends FlawRow {
  readonly name: N;
}

/** The flaws of one place. */
export const flawsOf = <const N extends string>(
  endpoint: FaultEndpoint,
  place: FlawPlace,
  rows: readonly (FlawWords & { readonly name: N })[],
): readonly Named<N>[] => rows.map((row) => ({ endpoint, place, ...row }));
