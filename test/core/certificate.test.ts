import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { base64Of, pemOf, selfSignedCertificate } from "../../src/core/records/keys/certificate.ts";

const notBefore = Date.parse("2026-01-02T03:04:05Z");
const keys = {
  rsa: generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey,
  ec: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey,
};

test.each(["rsa", "ec"] as const)(
  "a certificate of a key of the kind %s is read by Node.js, and its own key signed it",
  (kind) => {
    const notAfter = Date.parse("2055-01-02T03:04:05Z");
    const pem = selfSignedCertificate({ key: keys[kind], subject: "idp", names: [], notBefore, notAfter });
    const read = new X509Certificate(pem);
    expect(read.checkPrivateKey(keys[kind])).toBe(true);
    expect(read.verify(read.publicKey)).toBe(true);
    expect(read.subject).toBe("CN=idp");
    expect(read.issuer).toBe("CN=idp");
    expect(Date.parse(read.validFrom)).toBe(notBefore);
    expect(Date.parse(read.validTo)).toBe(notAfter);
    expect(read.subjectAltName).toBeUndefined();
    expect(pemOf(base64Of(pem))).toBe(pem);
  },
);

test("a certificate of a server has its names and addresses, is for servers, and is no authority", () => {
  const names = ["localhost", "*.example.test", "127.0.0.1", "::1", "2001:db8::ff:1"];
  const pem = selfSignedCertificate({ key: keys.ec, subject: "idp", names, notBefore, notAfter: notBefore + 1000 });
  const read = new X509Certificate(pem);
  expect(read.ca).toBe(false);
  expect(read.checkHost("localhost")).toBe("localhost");
  expect(read.checkHost("app.example.test")).toBe("*.example.test");
  expect(read.checkHost("example.org")).toBeUndefined();
  for (const address of names.slice(2)) expect(read.checkIP(address)).toBe(address);
  expect(read.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
});
