/** By which algorithms a client assertion may be signed (RFC 7518 3.1), by the client's authentication method. */
export const assertionAlgorithms = {
  client_secret_jwt: ["HS256", "HS384", "HS512"],
  private_key_jwt: ["RS256", "PS256", "ES256", "EdDSA"],
} as const;

/** Every one of them: what discovery lists. */
export const everyAssertionAlgorithm = [
  ...assertionAlgorithms.client_secret_jwt,
  ...assertionAlgorithms.private_key_jwt,
] as const;
