import type { Context } from "../context.ts";
import { baseOf } from "../base/endpoints.ts";
import { samlKeys } from "../records/keys/saml-keys.ts";

/** Where this identity provider is. Without XML, because commands and pages name these addresses too. */

type At = Pick<Context, "issuer" | "layout">;

/** The address of an endpoint of SAML. */
export const samlAddress = ({ issuer, layout }: At, name: keyof Context["layout"]["saml"]): string =>
  baseOf(issuer) + layout.saml[name];

/** The entityID of this identity provider. Keycloak's is that of the realm. */
export const entityIdOf = (at: At): string =>
  at.layout.realm === true ? baseOf(at.issuer) : samlAddress(at, "metadata");

/** The metadata as one service provider needs it. */
export const metadataFor = (at: At, entityId: string): string =>
  `${samlAddress(at, "metadata")}?sp=${encodeURIComponent(entityId)}`;

/** What service providers are configured with. */
export type SamlView = Awaited<ReturnType<typeof showSaml>>;

export async function showSaml(ctx: Context) {
  const [{ certificate }] = await samlKeys(ctx);
  return {
    entity_id: entityIdOf(ctx),
    metadata_url: samlAddress(ctx, "metadata"),
    sso_url: samlAddress(ctx, "sso"),
    slo_url: samlAddress(ctx, "slo"),
    /** PEM. */
    certificate,
  };
}
