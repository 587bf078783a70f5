/*
 * core/service-providers: clients of SAML. schema.ts says what a fixture may hold in `saml`, names.ts has the names of the standard, shapes.ts what each
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
