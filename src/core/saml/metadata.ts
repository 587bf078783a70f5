import type { Context } from "../context.ts";
import { base64Of } from "../keys/certificate.ts";
import { samlKeys } from "../keys/saml-keys.ts";
import { bindings, nameIdFormats, spaces } from "../service-providers/names.ts";
import { signatureSpace } from "../xml/verify.ts";
import { xml, type Xml } from "../xml/write.ts";
import { entityIdOf, samlAddress } from "./addresses.ts";

/** The metadata of this identity provider (SAML Metadata 2.4.3), in the order of its schema. It lists only what works. */
export async function samlMetadata(ctx: Context): Promise<string> {
  const keys = await samlKeys(ctx);
  const both = (name: string, address: string): readonly Xml[] =>
    [bindings.redirect, bindings.post].map(
      (binding) => xml`<md:${raw(name)} Binding="${binding}" Location="${address}"/>`,
    );
  const document = xml`<md:EntityDescriptor xmlns:md="${spaces.metadata}" xmlns:ds="${signatureSpace}" entityID="${entityIdOf(ctx)}">
    <md:IDPSSODescriptor WantAuthnRequestsSigned="false" protocolSupportEnumeration="${spaces.protocol}">
    ${keys.map(({ certificate }) => xml`<md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${base64Of(certificate)}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`)}
    ${both("SingleLogoutService", samlAddress(ctx, "slo"))}
    ${Object.values(nameIdFormats).map((format) => xml`<md:NameIDFormat>${format}</md:NameIDFormat>`)}
    ${both("SingleSignOnService", samlAddress(ctx, "sso"))}
    </md:IDPSSODescriptor>
    </md:EntityDescriptor>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${document.text}\n`;
}

const raw = (name: string): Xml => xml`${name}`;
