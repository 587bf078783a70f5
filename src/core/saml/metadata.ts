import type { Context } from "../context.ts";
import { base64Of } from "../records/keys/certificate.ts";
import { samlKeys } from "../records/keys/saml-keys.ts";
import { bindings, nameIdFormats, spaces } from "../records/service-providers/names.ts";
import { signatureSpace } from "../base/xml/verify.ts";
import { xml, type Xml } from "../base/xml/write.ts";
import { serviceProvider } from "../records/service-providers/provider.ts";
import { entityIdOf, samlAddress } from "./addresses.ts";
import { providerNamed } from "./request.ts";

/** Whether requests have to be signed: by this service provider, or by all. A library that reads it signs, or not. */
async function wantsSigned(ctx: Context, sp: string | undefined): Promise<boolean> {
  if (sp !== undefined) return (await providerNamed(ctx, sp, null)).provider.requiresSigned;
  const all = await ctx.store.read((tx) => [...tx.all("clients")].filter(({ saml }) => saml !== undefined));
  for (const client of all) if ((await serviceProvider(client))?.requiresSigned !== true) return false;
  return all.length > 0;
}

/**
 * The metadata of this identity provider (SAML Metadata 2.4.3), in the order of its schema. It lists only what works.
 * @param sp the entityID of the service provider that it is for; absent: any
 * @throws {OAuthError} for one that is not registered
 */
export async function samlMetadata(ctx: Context, sp?: string): Promise<string> {
  const isSigned = await wantsSigned(ctx, sp);
  const keys = await samlKeys(ctx);
  const both = (name: string, address: string): readonly Xml[] =>
    [bindings.redirect, bindings.post].map(
      (binding) => xml`<md:${raw(name)} Binding="${binding}" Location="${address}"/>`,
    );
  const document = xml`<md:EntityDescriptor xmlns:md="${spaces.metadata}" xmlns:ds="${signatureSpace}" entityID="${entityIdOf(ctx)}">
    <md:IDPSSODescriptor WantAuthnRequestsSigned="${String(isSigned)}" protocolSupportEnumeration="${spaces.protocol}">
    <md:Extensions><shibmd:Scope xmlns:shibmd="urn:mace:shibboleth:metadata:1.0" regexp="false">${new URL(ctx.address).hostname}</shibmd:Scope></md:Extensions>
    ${keys.map(({ certificate }) => xml`<md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${base64Of(certificate)}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`)}
    ${both("SingleLogoutService", samlAddress(ctx, "slo"))}
    ${Object.values(nameIdFormats).map((format) => xml`<md:NameIDFormat>${format}</md:NameIDFormat>`)}
    ${both("SingleSignOnService", samlAddress(ctx, "sso"))}
    </md:IDPSSODescriptor>
    </md:EntityDescriptor>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${document.text}\n`;
}

const raw = (name: string): Xml => xml`${name}`;
