import { createPublicKey, hash, sign, X509Certificate, type KeyObject } from "node:crypto";
import { isIP } from "node:net";

/** Of the certificate, with colons, as service providers are configured with. @param certificate PEM */
export function fingerprintsOf(certificate: string): { readonly sha256: string; readonly sha1: string } {
  const { fingerprint256: sha256, fingerprint: sha1 } = new X509Certificate(certificate);
  return { sha256, sha1 };
}

/** Writes a self-signed certificate (RFC 5280) in DER, because Node.js makes keys and no certificates. */

interface CertificateInput {
  /** The private key, of RSA or P-256: the certificate is for it, and signed by it. */
  readonly key: KeyObject;
  /** The common name (CN), 1 to 64 characters. */
  readonly subject: string;
  /** DNS names and IP addresses of a server of https; none for a certificate that only signs messages. */
  readonly names: readonly string[];
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/** A value with its tag and length (X.690 8.1). */
function tagged(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.concat([Buffer.from(length < 128 ? [tag, length] : [tag, 128 + bytes.length, ...bytes]), content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => tagged(0x30, ...parts);
const set = (...parts: readonly Uint8Array[]): Buffer => tagged(0x31, ...parts);
const octets = (content: Uint8Array): Buffer => tagged(0x04, content);
const bits = (content: Uint8Array, unused = 0): Buffer => tagged(0x03, Buffer.from([unused]), content);
const text = (value: string): Buffer => tagged(0x0c, Buffer.from(value));
const yes = tagged(0x01, Buffer.from([0xff]));

/** A positive number. Its first bit must not look like a sign. */
const integer = (content: Uint8Array): Buffer =>
  tagged(0x02, ...((content[0] ?? 0) >= 0x80 ? [Buffer.from([0])] : []), content);

function objectId(name: string): Buffer {
  const [first = 0, second = 0, ...rest] = name.split(".").map(Number);
  const groups = rest.flatMap((arc) => {
    const group = [arc % 128];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) group.unshift(128 + (left % 128));
    return group;
  });
  return tagged(0x06, Buffer.from([first * 40 + second, ...groups]));
}

/** UTCTime until 2049, GeneralizedTime from then on (RFC 5280 4.1.2.5). */
function time(at: number): Buffer {
  const digits = `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:T]/g, "")}Z`;
  return Number(digits.slice(0, 4)) < 2050
    ? tagged(0x17, Buffer.from(digits.slice(2)))
    : tagged(0x18, Buffer.from(digits));
}

/** The bytes of an address: 4, or 16 for IPv6. */
function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  const { hostname } = new URL(`http://[${address}]`);
  const [head = "", tail] = hostname.slice(1, -1).split("::");
  const groupsOf = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const [before, after] = [groupsOf(head), groupsOf(tail ?? "")];
  const zeros = Array.from({ length: tail === undefined ? 0 : 8 - before.length - after.length }, () => "0");
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, "0")).join(""), "hex");
}

const generalName = (name: string): Buffer =>
  isIP(name) === 0 ? tagged(0x82, Buffer.from(name)) : tagged(0x87, addressBytes(name));

const extension = (id: string, critical: boolean, value: Uint8Array): Buffer =>
  sequence(objectId(id), ...(critical ? [yes] : []), octets(value));

/** The extensions of a server's certificate: its names and use, and that it is no authority (RFC 5280 4.2.1). */
const extensionsOf = (names: readonly string[]): readonly Buffer[] =>
  names.length === 0
    ? []
    : [
        tagged(
          0xa3,
          sequence(
            extension("2.5.29.19", true, sequence()),
            // digitalSignature
            extension("2.5.29.15", true, bits(Buffer.from([0x80]), 7)),
            extension("2.5.29.37", false, sequence(objectId("1.3.6.1.5.5.7.3.1"))),
            extension("2.5.29.17", false, sequence(...names.map(generalName))),
          ),
        ),
      ];

/**
 * Makes a certificate that its own key signs.
 * @returns PEM
 */
export function selfSignedCertificate({ key, subject, names, notBefore, notAfter }: CertificateInput): string {
  const algorithm =
    key.asymmetricKeyType === "ec"
      ? sequence(objectId("1.2.840.10045.4.3.2"))
      : sequence(objectId("1.2.840.113549.1.1.11"), tagged(0x05));
  const publicKey = createPublicKey(key).export({ type: "spki", format: "der" });
  const name = sequence(set(sequence(objectId("2.5.4.3"), text(subject))));
  // Another one for each key and time, without a random source.
  const serial = hash("sha256", Buffer.concat([publicKey, Buffer.from(String(notBefore))]), "buffer").subarray(0, 16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const body = sequence(
    // Version 3.
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(serial),
    algorithm,
    name,
    sequence(time(notBefore), time(notAfter)),
    name,
    publicKey,
    ...extensionsOf(names),
  );
  return pemOf(sequence(body, algorithm, bits(sign("sha256", body, key))));
}

/** A certificate as PEM. @param given its bytes, their base64, or PEM in any form */
export function pemOf(given: Uint8Array | string): string {
  const base64 = typeof given === "string" ? base64Of(given) : Buffer.from(given).toString("base64");
  return `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/(.{64})(?=.)/g, "$1\n")}\n-----END CERTIFICATE-----\n`;
}

/** The base64 of a certificate in PEM, in one line. */
export const base64Of = (pem: string): string => pem.replaceAll(/-----[^-]+-----|\s/g, "");

/** The kind of the key of a certificate, such as `rsa`; null: it is not a certificate. @param given PEM or base64 */
export function keyKindOf(given: string): string | null {
  try {
    return new X509Certificate(pemOf(given)).publicKey.asymmetricKeyType ?? null;
  } catch {
    return null;
  }
}
