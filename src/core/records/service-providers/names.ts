/*
 * core/records/service-providers: clients of SAML. schema.ts says what a fixture may hold in `saml`, names.ts has the names of the standard, shapes.ts what each
 * vendor sends, provider.ts what applies to a client in the end and how it names users, and metadata.ts reads the metadata of a service provider.
 */

/** The names of SAML 2.0 that more than one file needs. */

export const spaces = {
  assertion: "urn:oasis:names:tc:SAML:2.0:assertion",
  protocol: "urn:oasis:names:tc:SAML:2.0:protocol",
  metadata: "urn:oasis:names:tc:SAML:2.0:metadata",
} as const;

export const bindings = {
  post: "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST",
  redirect: "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect",
} as const;
export type Binding = keyof typeof bindings;

/** SAML Core 8.3. */
export const nameIdFormats = {
  email: "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
  persistent: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
  transient: "urn:oasis:names:tc:SAML:2.0:nameid-format:transient",
  unspecified: "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified",
} as const;

export const nameIdKinds = ["email", "persistent", "transient", "unspecified", "username"] as const;
export type NameIdKind = (typeof nameIdKinds)[number];

/** The format of each kind. */
export const formatOf = (kind: NameIdKind): string =>
  kind === "username" ? nameIdFormats.unspecified : nameIdFormats[kind];

/** The name of a format whose version is another one (`…:2.0:nameid-format:emailAddress`), as many libraries have it; null: it is not one of these. */
export function rightFormat(given: string): string | null {
  const end = (format: string): string => format.slice(format.indexOf(":nameid-format:"));
  const isFormat = given.startsWith("urn:oasis:names:tc:SAML:") && given.includes(":nameid-format:");
  const right = isFormat ? Object.values(nameIdFormats).find((format) => end(format) === end(given)) : undefined;
  return right === undefined || right === given ? null : right;
}

/** What assertions may be encrypted with (XML Encryption 1.1 5.2); the key of each goes by RSA-OAEP. */
export const encryptionAlgorithms = {
  "aes256-gcm": "http://www.w3.org/2009/xmlenc11#aes256-gcm",
  "aes128-gcm": "http://www.w3.org/2009/xmlenc11#aes128-gcm",
  "aes256-cbc": "http://www.w3.org/2001/04/xmlenc#aes256-cbc",
  "aes128-cbc": "http://www.w3.org/2001/04/xmlenc#aes128-cbc",
} as const;
export type EncryptionAlgorithm = keyof typeof encryptionAlgorithms;

export const keyTransport = "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p";

/** Those that encrypt the key, in the spelling of either version. */
const isForKeys = (method: string): boolean => method.includes("#rsa-");

/** The first method of a service provider that this server has; undefined: it names none of them. */
export const algorithmOf = (methods: readonly string[]): EncryptionAlgorithm | undefined =>
  methods.flatMap(
    (method) =>
      (Object.keys(encryptionAlgorithms) as EncryptionAlgorithm[]).find(
        (one) => encryptionAlgorithms[one] === method,
      ) ?? [],
  )[0];

/** What a service provider names for content or for keys, where this server has none of it. */
export function unknownMethods(methods: readonly string[]): readonly string[] {
  const forKeys = methods.filter(isForKeys);
  const forContent = methods.filter((method) => !isForKeys(method));
  return [
    ...(forContent.length > 0 && algorithmOf(forContent) === undefined ? forContent : []),
    ...(forKeys.length > 0 && !forKeys.includes(keyTransport) ? forKeys : []),
  ];
}
