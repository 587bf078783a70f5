import type { NameIdKind } from "./names.ts";

/** Assertions in the form in which known vendors send them. */

export const shapeNames = ["standard", "okta", "entra", "google", "shibboleth", "keycloak"] as const;
type ShapeName = (typeof shapeNames)[number];

/** What a response has signed. */
export const signChoices = ["assertion", "response", "both"] as const;
export type SignChoice = (typeof signChoices)[number];

/** What an attribute says: a claim of the user, or one of these. */
export type AttributeSource =
  | { readonly claim: string }
  /**
   * `id`: of the user; `tenant`: the issuer as a GUID; `identityprovider`: Entra's name of that tenant; `scoped`: the username at the issuer's
   * host; `upn`: the e-mail, else the username; `methods`: how the user signed in, in Entra's names; `roles`: of the realm and of the user.
   */
  | { readonly value: "id" | "tenant" | "identityprovider" | "scoped" | "upn" | "methods" | "roles" };

export interface AttributeRow {
  readonly name: string;
  readonly friendlyName?: string;
  /** Absent: that of the shape. */
  readonly nameFormat?: string;
  /** Each value is an attribute of its own, of the same name. */
  readonly repeat?: boolean;
  readonly source: AttributeSource;
}

interface Shape {
  readonly sign: SignChoice;
  readonly nameid: NameIdKind;
  /** SAML Core 8.2; null: attributes do not say. */
  readonly nameFormat: string | null;
  readonly attributes: readonly AttributeRow[];
  /** What the user does not have is sent without a value (SAML Core 2.7.3.1). */
  readonly sendsEmpty?: true;
}

const claims = ["email", "name", "given_name", "family_name", "groups"] as const;

const named = (...names: readonly string[]): readonly AttributeRow[] =>
  claims.map((claim, at) => ({ name: names[at] ?? claim, source: { claim } }));

export const nameFormats = ["basic", "uri", "unspecified"] as const;
/** SAML Core 8.2. @param name one of these, or a URI */
export const nameFormat = (name: string): string =>
  (nameFormats as readonly string[]).includes(name) ? `urn:oasis:names:tc:SAML:2.0:attrname-format:${name}` : name;

const xmlsoap = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/";
const microsoft = "http://schemas.microsoft.com/identity/claims/";
const oid = (digits: string, friendlyName: string, source: AttributeSource): AttributeRow => ({
  name: `urn:oid:${digits}`,
  friendlyName,
  source,
});

export const shapes: Readonly<Record<ShapeName, Shape>> = {
  standard: { sign: "assertion", nameid: "email", nameFormat: nameFormat("basic"), attributes: named(...claims) },
  okta: {
    sign: "both",
    nameid: "unspecified",
    nameFormat: nameFormat("unspecified"),
    attributes: named("email", "displayName", "firstName", "lastName", "groups"),
  },
  entra: {
    sign: "assertion",
    nameid: "email",
    nameFormat: null,
    attributes: [
      { name: `${xmlsoap}emailaddress`, source: { claim: "email" } },
      { name: `${xmlsoap}name`, source: { value: "upn" } },
      { name: `${xmlsoap}givenname`, source: { claim: "given_name" } },
      { name: `${xmlsoap}surname`, source: { claim: "family_name" } },
      { name: "http://schemas.microsoft.com/ws/2008/06/identity/claims/groups", source: { claim: "groups" } },
      { name: `${microsoft}objectidentifier`, source: { value: "id" } },
      { name: `${microsoft}tenantid`, source: { value: "tenant" } },
      { name: `${microsoft}displayname`, source: { claim: "name" } },
      { name: `${microsoft}identityprovider`, source: { value: "identityprovider" } },
      { name: "http://schemas.microsoft.com/claims/authnmethodsreferences", source: { value: "methods" } },
    ],
  },
  google: {
    sign: "assertion",
    nameid: "email",
    nameFormat: null,
    attributes: named("email", "name", "firstName", "lastName", "groups"),
    sendsEmpty: true,
  },
  keycloak: {
    sign: "response",
    nameid: "username",
    nameFormat: nameFormat("basic"),
    attributes: [{ name: "Role", repeat: true, source: { value: "roles" } }],
  },
  shibboleth: {
    sign: "response",
    nameid: "transient",
    nameFormat: nameFormat("uri"),
    attributes: [
      oid("0.9.2342.19200300.100.1.3", "mail", { claim: "email" }),
      oid("2.16.840.1.113730.3.1.241", "displayName", { claim: "name" }),
      oid("2.5.4.42", "givenName", { claim: "given_name" }),
      oid("2.5.4.4", "sn", { claim: "family_name" }),
      oid("1.3.6.1.4.1.5923.1.5.1.1", "isMemberOf", { claim: "groups" }),
      oid("1.3.6.1.4.1.5923.1.1.1.6", "eduPersonPrincipalName", { value: "scoped" }),
    ],
  },
};
