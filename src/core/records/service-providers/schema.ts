import * as z from "zod";
import { checkEndpointUri } from "../redirect-uri.ts";
import { nonEmptyText, textOf, uriOf, wholeSeconds, type DeepReadonly } from "../fields.ts";
import { keyKindOf } from "../keys/certificate.ts";
import { logoutUriForm } from "../../base/identifiers.ts";
import { nameIdKinds } from "./names.ts";
import { nameFormats, shapeNames, signChoices } from "./shapes.ts";

/** What a client may have in `saml`. What must fit together is in `core/protocol/client-metadata/rules.ts`. */

/** An address that this server posts something to, or has a browser post to: the rules of redirect URIs, with a fixed port. */
export const postAddress = uriOf(logoutUriForm, checkEndpointUri);

/** PEM, or the base64 of one, as it stands in metadata. */
const certificateForm =
  /^(?:\s*-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*|[A-Za-z0-9+/=\s]+)$/;

const notCertificate = "is not an X.509 certificate, as PEM or as base64";
const certificate = textOf(certificateForm, () => notCertificate).refine(
  (given) => !certificateForm.test(given) || keyKindOf(given) !== null,
  { error: notCertificate },
);

const indexed = z.strictObject({
  url: postAddress,
  index: z.int().min(0, { error: "is below zero" }).max(65_535, { error: "is more than 65535" }),
});

const flag = z.boolean().optional();

/** A name of SAML Core 8.2, or the whole URI. */
const nameFormatForm = new RegExp(`^(?:${nameFormats.join("|")}|[A-Za-z][A-Za-z0-9+.-]*:[!-~]+)$`);

const attributeEntry = z.strictObject({
  claim: nonEmptyText,
  name_format: textOf(
    nameFormatForm,
    (given) => `must be ${nameFormats.join(", ")} or a URI, not "${given}"`,
  ).optional(),
  friendly_name: nonEmptyText.optional(),
  repeat: flag,
});

export const samlSchema = z
  .strictObject({
    metadata: nonEmptyText
      .optional()
      .describe("The metadata of the service provider: XML, or in a fixture file the path of a file with it"),
    acs: z
      .array(z.union([postAddress, indexed], { error: "is neither an address nor { url, index }" }))
      .min(1, { error: "is empty; list an address, or leave it out" })
      .optional()
      .describe(
        "Where responses are posted (AssertionConsumerService), compared letter by letter; the first is the default",
      ),
    slo: postAddress.optional().describe("Where the answers to its LogoutRequests go (SingleLogoutService)"),
    certificates: z
      .array(certificate)
      .optional()
      .describe("PEM or base64: of the keys that sign its requests, and for encrypt"),
    require_signed_requests: flag.describe("Refuse requests without a signature"),
    sign: z.enum(signChoices).optional().describe("What of a response is signed"),
    encrypt: z
      .union([z.boolean(), z.literal("cbc")], { error: 'is neither true, false nor "cbc"' })
      .optional()
      .describe("Encrypt assertions: AES-256-GCM with RSA-OAEP; cbc: AES-256-CBC, for older libraries"),
    nameid: z.enum(nameIdKinds).optional().describe("How users are named where the request asks for no format"),
    attributes: z
      .record(
        nonEmptyText,
        z.union([nonEmptyText, attributeEntry], {
          error: "is neither the name of a claim nor { claim, name_format, friendly_name, repeat }",
        }),
      )
      .optional()
      .describe(
        "Attributes of assertions, each with the claim of the user that it has, or { claim, name_format, friendly_name, repeat }; in place of those of the shape",
      ),
    shape: z
      .enum(shapeNames)
      .optional()
      .describe("The vendor whose assertions these look like: sign, nameid and attributes"),
    unsolicited: flag.describe("false: no sign-in begins at /saml/start"),
    assertion_ttl: wholeSeconds(1).optional().describe("How long an assertion is valid, in seconds or as a duration"),
    allow_sha1: flag.describe("Accept requests that are signed with SHA-1"),
  })
  .describe("The client is a service provider of SAML 2.0: its client_id is the entityID");

export type SamlFields = DeepReadonly<z.input<typeof samlSchema>>;
