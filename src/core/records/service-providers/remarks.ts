import { X509Certificate } from "node:crypto";
import { pemOf } from "../keys/certificate.ts";
import { readProviderMetadata } from "./metadata.ts";
import { rightFormat } from "./names.ts";
import { samlOf } from "./provider.ts";

/** What works here and nowhere else: a production provider refuses metadata that has expired, and so do libraries. */

/** @param now milliseconds of real time, whatever a tester does to the clock */
export function providerRemarks(
  client: { readonly client_id: string; readonly saml?: unknown },
  now: number,
): readonly string[] {
  const fields = samlOf(client);
  if (fields === undefined) return [];
  const metadata = fields.metadata === undefined ? null : readProviderMetadata(fields.metadata);
  const { client_id: id } = client;
  const until = metadata?.validUntil ?? null;
  const certificates = fields.certificates ?? [...(metadata?.signing ?? []), ...(metadata?.encryption ?? [])];
  return [
    ...(until !== null && Date.parse(until) <= now
      ? [`The metadata of ${id} expired at ${until} (validUntil): production providers refuse it.`]
      : []),
    ...[...new Set(certificates)].flatMap((one) => expired(id, new X509Certificate(pemOf(one)), now)),
    ...(fields.nameid === undefined && fields.shape === undefined ? (metadata?.wrongFormats ?? []) : []).map(
      (format) =>
        `The metadata of ${id} names the NameID format ${format}, which is not defined and not used here; the right name is ${rightFormat(format) ?? ""}.`,
    ),
  ];
}

const expired = (id: string, { validTo, fingerprint256 }: X509Certificate, now: number): readonly string[] =>
  Date.parse(validTo) <= now
    ? [`A certificate of ${id} expired at ${validTo} (SHA-256 ${fingerprint256}): production providers refuse it.`]
    : [];
