import type { ServiceProvider } from "../records/service-providers/provider.ts";
import type { XmlElement } from "../base/xml/parse.ts";
import { isSigned, SignatureProblem, signedMessage, verifyQuery } from "../base/xml/verify.ts";
import { issuerIn, reading, refuseMessage, senderIn, type Brought } from "./message.ts";

/** Whether the sender of a message is proven, in its address or in itself. Our own messages are signed in response.ts and logout.ts. */

/** A message whose signature was looked at. */
interface Checked {
  /** What the signature covers; the message itself where it is not signed, or nothing is registered to check it by. */
  readonly message: XmlElement;
  /** `not-checked`: it is signed, but no certificate is registered. */
  readonly signature: "none" | "good" | "not-checked";
  /** It is signed inside, where HTTP-Redirect has no signature. */
  readonly isSignedInside?: boolean;
}

/**
 * Checks the signature of a message. Afterwards only the result is read.
 * @param read the message as it was read to find out whose it is
 * @throws {OAuthError} if it is wrong
 */
export function checkSignature(brought: Brought, text: string, read: XmlElement, provider: ServiceProvider): Checked {
  const verifying = { certificates: provider.certificates, allowSha1: provider.allowSha1 };
  const canCheck = provider.certificates.length > 0;
  if (brought.binding === "redirect") {
    const signature = rawParameter(brought.query, "Signature");
    if (signature === undefined) return { message: read, signature: "none", isSignedInside: isSigned(read) };
    if (!canCheck) return { message: read, signature: "not-checked" };
    reading(() => {
      verifyAddress(brought, decoded(signature), verifying);
    }, senderIn(read));
    return { message: read, signature: "good" };
  }
  if (!canCheck) return { message: read, signature: isSigned(read) ? "not-checked" : "none" };
  const covered = reading(() => signedMessage(text, verifying), senderIn(read));
  if (covered === null) return { message: read, signature: "none" };
  if (issuerIn(covered) !== issuerIn(read)) throw refuseMessage("the signature covers another Issuer", "SAML Core 5.4");
  return { message: covered, signature: "good" };
}

/** @throws {SignatureProblem} */
function verifyAddress(brought: Brought, signature: string, verifying: Parameters<typeof verifyQuery>[3]): void {
  const algorithm = decoded(rawParameter(brought.query, "SigAlg"));
  try {
    verifyQuery(signedContent(brought), algorithm, signature, verifying);
  } catch (error) {
    if (!(error instanceof SignatureProblem) || rawParameter(brought.query, "RelayState") === undefined) throw error;
    try {
      verifyQuery(signedContent(brought, ["SAMLRequest", "SigAlg"]), algorithm, signature, verifying);
    } catch {
      throw error;
    }
    // An empty one says nothing, and libraries leave it out of what they sign.
    if (brought.relayState === undefined) return;
    throw new SignatureProblem("the signature does not cover RelayState, which the address has", error.rule);
  }
}

/** The first parameter of this name, as it was sent: a second one is refused before. */
const rawParameter = (query: string, name: string): string | undefined =>
  query
    .split("&")
    .find((part) => part.startsWith(`${name}=`))
    ?.slice(name.length + 1);

const decoded = (value = ""): string => {
  try {
    return decodeURIComponent(value.replaceAll("+", " ")).replaceAll(" ", "+");
  } catch {
    return "";
  }
};

/** What the signature of an address covers, in the order of the standard, each part as it was sent. */
function signedContent(
  { query, relayState }: Brought,
  names: readonly string[] = ["SAMLRequest", "RelayState", "SigAlg"],
): string {
  const isSpelled =
    rawParameter(query, "SAMLRequest") !== undefined &&
    (relayState === undefined || rawParameter(query, "RelayState") !== undefined);
  // Otherwise one value would be checked, and another one read.
  if (!isSpelled)
    throw new SignatureProblem("the names of the parameters are percent-encoded", "SAML Bindings 3.4.4.1");
  return names
    .flatMap((one) => {
      const value = rawParameter(query, one);
      return value === undefined ? [] : [`${one}=${value}`];
    })
    .join("&");
}
