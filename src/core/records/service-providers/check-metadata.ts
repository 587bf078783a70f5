import { checkHttpHost, checkEndpointUri, type UriSettings } from "../redirect-uri.ts";
import { XmlProblem } from "../../base/xml/parse.ts";
import { keyKindOf } from "../keys/certificate.ts";
import { encryptionAlgorithms, keyTransport, unknownMethods } from "./names.ts";
import { readProviderMetadata, type ProviderMetadata } from "./metadata.ts";
import { providerOf } from "./provider.ts";
import type { SamlFields } from "./schema.ts";

/** What is wrong with a service provider that has metadata: with the document, or with what it and the fields say together. */

interface MetadataProblem {
  /** Below `saml`. */
  readonly below: readonly string[];
  readonly message: string;
  readonly conflictsWith: "settings" | "record";
}

const inMetadata = (message: string, conflictsWith: MetadataProblem["conflictsWith"] = "record"): MetadataProblem => ({
  below: ["metadata"],
  message,
  conflictsWith,
});

export function problemsOfMetadata(
  entityId: string,
  fields: SamlFields,
  settings: UriSettings,
): readonly MetadataProblem[] {
  const text = fields.metadata ?? "";
  if (
    !text
      .trimStart()
      .replace(/^\ufeff/, "")
      .startsWith("<")
  )
    return [inMetadata("must be the XML itself: only a fixture file and a command read it from a file")];
  const read = reading(text);
  if (read instanceof XmlProblem) return [inMetadata(`cannot be used: ${read.message}`)];
  if (read.entityId !== entityId)
    return [inMetadata(`is that of "${read.entityId}", and the client_id is "${entityId}": they must be the same`)];
  const provider = providerOf(entityId, fields, read);
  const problems: MetadataProblem[] = [];
  if (provider.acs.length === 0)
    problems.push(inMetadata("has no AssertionConsumerService for HTTP-POST; list the addresses in acs"));
  // What the fields replace counts for nothing.
  const addresses = [
    ...(fields.acs === undefined ? acsOf(read) : []),
    ...(fields.slo === undefined ? sloOf(read) : []),
  ];
  for (const [uri, place] of new Map(addresses)) {
    const form = uri === "" ? `it is empty (Location="")` : checkEndpointUri(uri);
    const host = form ?? checkHttpHost(uri, settings);
    if (host !== null)
      problems.push(
        inMetadata(
          `has an address that cannot be registered, of ${place}: ${host}`,
          form === null ? "settings" : "record",
        ),
      );
  }
  const unreadable =
    fields.certificates === undefined && [...read.signing, ...read.encryption].some((one) => keyKindOf(one) === null);
  if (unreadable) return [...problems, inMetadata("has a certificate that cannot be read")];
  if (provider.requiresSigned && provider.certificates.length === 0)
    problems.push(needsCertificate("require_signed_requests", fields.require_signed_requests === undefined));
  if (fields.encrypt !== undefined && fields.encrypt !== false && provider.encryption === null)
    problems.push(needsCertificate("encrypt", false));
  const unknown = unknownMethods(read.encryptionMethods);
  if (fields.encrypt === true && unknown.length > 0) problems.push(notEncryptable(unknown));
  if (provider.encryption !== null && keyKindOf(provider.encryption.certificate) !== "rsa") problems.push(notRsa);
  return problems;
}

const notRsa = {
  below: ["encrypt"],
  message: "needs a certificate with an RSA key: RSA-OAEP encrypts the key of each assertion",
  conflictsWith: "record",
} as const;

/** An address, and the element that has it. */
type Placed = readonly [uri: string, place: string];

const acsOf = ({ acs }: ProviderMetadata): readonly Placed[] =>
  acs.map(({ url, index }) => [url, `AssertionConsumerService${index === null ? "" : ` with index ${index}`}`]);

const sloOf = ({ slo }: ProviderMetadata): readonly Placed[] =>
  slo.flatMap(({ url, responseUrl }) => [url, responseUrl].map((one) => [one, "SingleLogoutService"] as const));

const notEncryptable = (methods: readonly string[]): MetadataProblem => ({
  below: ["encrypt"],
  message: `needs an EncryptionMethod that idp has, and the metadata names ${methods.join(" ")}: ${Object.values(encryptionAlgorithms).join(" ")} with ${keyTransport} are possible; or encrypt: cbc`,
  conflictsWith: "record",
});

const needsCertificate = (field: string, ofMetadata: boolean): MetadataProblem =>
  ofMetadata
    ? inMetadata(
        "says AuthnRequestsSigned, and has no certificate for it; add it in certificates, or set require_signed_requests",
      )
    : { below: [field], message: "needs a certificate, in certificates or in the metadata", conflictsWith: "record" };

function reading(text: string): ProviderMetadata | XmlProblem {
  try {
    return readProviderMetadata(text);
  } catch (error) {
    if (error instanceof XmlProblem) return error;
    throw error;
  }
}
