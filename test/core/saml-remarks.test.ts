import { createPrivateKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { base64Of, fingerprintsOf, selfSignedCertificate } from "../../src/core/records/keys/certificate.ts";
import { problemsOfMetadata } from "../../src/core/records/service-providers/check-metadata.ts";
import { providerOf } from "../../src/core/records/service-providers/provider.ts";
import { readProviderMetadata } from "../../src/core/records/service-providers/metadata.ts";
import { providerRemarks } from "../../src/core/records/service-providers/remarks.ts";
import { defaultSettings } from "../../src/core/admin/settings/table.ts";

/** The metadata of a service provider: what it says is what happens, and what others would refuse is a remark. */

const id = "http://localhost:3000/metadata";
const now = Date.parse("2026-01-02T00:00:00Z");
const key = createPrivateKey(
  generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" }),
);
const certificate = (notAfter: number): string =>
  selfSignedCertificate({ key, subject: "sp", names: [], notBefore: notAfter - 1000, notAfter });
const metadata = (inside = "", attributes = "", acs = "http://localhost:3000/acs"): string =>
  `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#" entityID="${id}" ${attributes}><md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${inside}<md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${acs}" index="4"/></md:SPSSODescriptor></md:EntityDescriptor>`;
const remarks = (text: string): string => providerRemarks({ client_id: id, saml: { metadata: text } }, now).join("\n");

test("metadata and a certificate that have expired, and a NameID format that nobody defined", () => {
  expect(remarks(metadata("", 'validUntil="2026-01-01T00:00:00Z"'))).toContain("expired at 2026-01-01T00:00:00Z");
  expect(remarks(metadata("", 'validUntil="2026-02-01T00:00:00Z"'))).toBe("");
  const of = (pem: string): string => remarks(metadata(keyFor(pem)));
  expect(of(certificate(now - 5000))).toContain("A certificate of http://localhost:3000/metadata expired");
  expect(of(certificate(now + 86_400_000))).toBe("");
  const wrong = "urn:oasis:names:tc:SAML:2.0:nameid-format:emailAddress";
  expect(remarks(metadata(`<md:NameIDFormat>${wrong}</md:NameIDFormat>`))).toContain(
    "the right name is urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
  );
});

const keyFor = (pem: string, methods: readonly string[] = []): string =>
  `<md:KeyDescriptor><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${base64Of(pem)}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>${methods.map((one) => `<md:EncryptionMethod Algorithm="${one}"/>`).join("")}</md:KeyDescriptor>`;
const xmlenc = "http://www.w3.org/2001/04/xmlenc#";

test("assertions are encrypted by the first EncryptionMethod that is here; none of them is a problem", () => {
  const good = certificate(now + 86_400_000);
  const algorithm = (methods: readonly string[]) => {
    const text = metadata(keyFor(good, methods));
    return providerOf(id, { metadata: text, encrypt: true }, readProviderMetadata(text)).encryption?.algorithm;
  };
  expect(algorithm([])).toBe("aes256-gcm");
  expect(algorithm([`${xmlenc}tripledes-cbc`, `${xmlenc}aes128-cbc`, `${xmlenc}aes256-cbc`])).toBe("aes128-cbc");
  const problems = (methods: readonly string[]): string =>
    problemsOfMetadata(id, { metadata: metadata(keyFor(good, methods)), encrypt: true }, defaultSettings)
      .map(({ message }) => message)
      .join();
  expect(problems([`${xmlenc}aes128-cbc`, `${xmlenc}rsa-oaep-mgf1p`])).toBe("");
  expect(problems([`${xmlenc}tripledes-cbc`])).toContain("tripledes-cbc");
  expect(problems([`${xmlenc}aes128-cbc`, `${xmlenc}rsa-1_5`])).toContain("rsa-1_5");
});

test("an empty Location is named with its element and its index", () => {
  const [problem] = problemsOfMetadata(id, { metadata: metadata("", "", "") }, defaultSettings);
  expect(problem?.message).toContain('AssertionConsumerService with index 4: it is empty (Location="")');
});

test("fingerprints are those of the certificate's bytes", () => {
  const pem = certificate(now);
  expect(fingerprintsOf(pem)).toEqual({
    sha256: new X509Certificate(pem).fingerprint256,
    sha1: new X509Certificate(pem).fingerprint,
  });
});
