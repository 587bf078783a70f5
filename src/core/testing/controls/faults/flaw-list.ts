import { type FaultEndpoint } from "./endpoints.ts";
import type { FlawRow, Named } from "./flaws/flaw.ts";
import { idTokenFlaws } from "./flaws/id-token.ts";
import { documentFlaws, idJagFlaws, tokenResponseFlaws, userinfoFlaws } from "./flaws/json.ts";
import { responseFlaws } from "./flaws/response.ts";
import { samlFlaws } from "./flaws/saml.ts";

type NameIn<L extends readonly FlawRow[]> = L[number]["name"];

export type FlawName =
  | NameIn<typeof responseFlaws>
  | NameIn<typeof idTokenFlaws>
  | NameIn<typeof tokenResponseFlaws>
  | NameIn<typeof idJagFlaws>
  | NameIn<typeof userinfoFlaws>
  | NameIn<typeof documentFlaws>
  | NameIn<typeof samlFlaws>;

/** Every flaw that a response can have. */
export const flawList: readonly Named<FlawName>[] = [
  ...responseFlaws,
  ...idTokenFlaws,
  ...tokenResponseFlaws,
  ...idJagFlaws,
  ...userinfoFlaws,
  ...documentFlaws,
  ...samlFlaws,
];

export const flawNames: readonly FlawName[] = [...new Set(flawList.map(({ name }) => name))];

/** The flaw of an endpoint. */
export const flawAt = (endpoint: FaultEndpoint, flaw: FlawName): FlawRow | undefined =>
  flawList.find((one) => one.endpoint === endpoint && one.name === flaw);

const samlNames = (carries: (kind: (typeof samlFlaws)[number]["carries"]) => boolean): readonly string[] =>
  samlFlaws.filter((one) => carries(one.carries)).map(({ name }) => name);

/** The flaws that carry the identity of somebody else beside a signature that is valid. */
export const forgingFlaws = samlNames((kind) => kind === "forged");
/** The flaws that put the identity of the user `forge` into the response. */
export const flawsWithForge = samlNames((kind) => kind !== "said");
/** Those for which the NameID of the user has to begin with the forged one. */
export const prefixFlaws = forgingFlaws.filter((name) => /^(?:comment|pi)-/.test(name));

/** The flaws that an endpoint can have. */
export const flawsAt = (endpoint: string): readonly FlawName[] =>
  flawList.filter((flaw) => flaw.endpoint === endpoint).map(({ name }) => name);

/** The flaws that concern how an ID token is signed with a key that is published. */
const ofPublishedKeys: readonly unknown[] = ["kid-unknown", "kid-missing", "alg-hs256-public", "alg-hs256-secret"];

interface Signing {
  readonly id_token_signed_response_alg?: string | undefined;
  readonly client_secret?: string | undefined;
}

/** Why no response to a client can have a flaw; null if one can. */
export function flawProblem(flaw: unknown, client: Signing | undefined): string | null {
  if (client === undefined) return null;
  const never = `"${String(flaw)}" cannot happen to this client`;
  if (client.id_token_signed_response_alg === "HS256" && ofPublishedKeys.includes(flaw)) {
    return `${never}: HS256 signs its ID tokens with its secret, which has no kid`;
  }
  return flaw === "alg-hs256-secret" && client.client_secret === undefined ? `${never}: it has no secret` : null;
}

type ListedMember = "name" | "endpoint" | "place" | "wrong" | "should" | "rule";

/** Every flaw, as `idp faults flaws` and the control API list it. */
export const listFlaws = () =>
  flawList.map(({ name, endpoint, place, wrong, should, rule }: Readonly<Record<ListedMember, string>>) => ({
    ...{ name, endpoint, place, wrong, should, rule },
  }));
