import { assertionAlgorithms } from "../../records/clients/clients.ts";
import { grantTypeNames, grantTypesThatNeed } from "../tokens/grant-types/list.ts";
import type { JsonObject } from "../../../text/json.ts";
import { idTokenAlgorithms } from "./schema.ts";

/** The rules of rules.ts that JSON Schema can say, for editors and the OpenAPI document. */

type Constraints = Readonly<Record<string, JsonObject | boolean>>;

const metadata = (properties: Constraints, ...required: readonly string[]): JsonObject => ({
  properties,
  ...(required.length > 0 && { required }),
});
const oneOf = (all: readonly string[], but: readonly string[]): JsonObject => ({
  enum: all.filter((name) => !but.includes(name)),
});

/** What a method of authentication requires. A `required` method is not the default one. */
const method = (names: readonly string[], properties: Constraints, ...required: readonly string[]): JsonObject =>
  metadata({ token_endpoint_auth_method: { enum: names }, ...properties }, ...required);
const named = "token_endpoint_auth_method";
const keyed = { token_endpoint_auth_signing_alg: { enum: assertionAlgorithms.private_key_jwt } };
const hashed = { token_endpoint_auth_signing_alg: { enum: assertionAlgorithms.client_secret_jwt } };
/** HS256 signs with the secret (OpenID Connect Core 10.1). */
const noSecret = {
  client_secret: false,
  id_token_signed_response_alg: oneOf(idTokenAlgorithms, ["HS256"]),
};
/** A public client cannot prove who it is (RFC 6749 4.4, RFC 8693 5, RFC 7523 2.1). */
const isPublic = {
  ...noSecret,
  federated_credentials: false,
  redirect_patterns: false,
  grant_types: {
    items: oneOf(
      grantTypeNames,
      grantTypesThatNeed("authentication").map(({ name }) => name),
    ),
  },
};
/** A client that proves itself only by the tokens of workloads. */
const isFederated = metadata({ [named]: false, ...noSecret }, "federated_credentials");

const ofAnyClient: readonly JsonObject[] = [
  {
    anyOf: [
      metadata(
        { redirect_uris: { minItems: 1 }, grant_types: { contains: { const: "authorization_code" } } },
        "redirect_uris",
      ),
      metadata({ grant_types: { contains: { const: "authorization_code" } } }, "redirect_patterns"),
      metadata(
        { grant_types: { items: oneOf(grantTypeNames, ["authorization_code"]) }, response_types: { maxItems: 0 } },
        "grant_types",
      ),
    ],
  },
  { anyOf: [metadata({ jwks: false }), metadata({ jwks_uri: false })] },
];
const withKeys: readonly JsonObject[] = ["jwks", "jwks_uri"].flatMap((keys) => [
  method(["private_key_jwt"], keyed, named, keys, "client_secret"),
  method(["private_key_jwt"], { ...keyed, ...noSecret }, named, keys),
]);

/** The rules for a client in a fixture, which is public without a secret and a method. */
export const fixtureClientRules: readonly JsonObject[] = [
  {
    anyOf: [
      method(["client_secret_post", "client_secret_basic"], {}, "client_secret"),
      method(["client_secret_jwt"], hashed, named, "client_secret"),
      ...withKeys,
      isFederated,
      method(["none"], isPublic),
    ],
  },
  ...ofAnyClient,
];

/** The rules for a client that an operator adds: without a secret it gets one, unless its method needs none. */
export const addedClientRules: readonly JsonObject[] = [
  {
    anyOf: [
      method(["client_secret_post", "client_secret_basic"], {}, "client_secret"),
      method(["client_secret_post", "client_secret_basic"], { federated_credentials: false }),
      method(["client_secret_jwt"], hashed, named, "client_secret"),
      method(["client_secret_jwt"], { ...hashed, federated_credentials: false }, named),
      ...withKeys,
      isFederated,
      method(["none"], isPublic, named),
    ],
  },
  ...ofAnyClient,
];
