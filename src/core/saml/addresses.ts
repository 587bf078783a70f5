import type { Context } from "../context.ts";
import { baseOf } from "../endpoints.ts";

/** Where this identity provider is. Without XML, because commands and pages name these addresses too. */

type At = Pick<Context, "issuer" | "layout">;

/** The address of an endpoint of SAML. */
export const samlAddress = ({ issuer, layout }: At, name: keyof Context["layout"]["saml"]): string =>
  baseOf(issuer) + layout.saml[name];

/** The entityID of this identity provider. Keycloak's is that of the realm. */
export const entityIdOf = (at: At): string =>
  at.layout.realm === true ? baseOf(at.issuer) : samlAddress(at, "metadata");
