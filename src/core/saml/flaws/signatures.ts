import { newSamlKey, readSamlKey, type SamlKey } from "../../keys/saml-keys.ts";
import { algorithms, signElement, type OtherSignature } from "../../xml/sign.ts";
import { Xml } from "../../xml/write.ts";
import { assertionXml, responseXml, type AssertionDraft } from "../draft.ts";
import type { Spoiling } from "./signed.ts";

/** Signatures that are wrong in one respect. These responses are not encrypted, so that whoever tests sees them. */

/** Signs what the service provider wants to be signed. */
function signedBy({ provider, drafts: { response, assertion } }: Spoiling, key: SamlKey, other?: OtherSignature): Xml {
  const text = assertionXml(assertion);
  const own = provider.sign === "response" ? text : signElement(text, "Assertion", assertion.id, key, other);
  const whole = responseXml(response, own);
  return provider.sign === "assertion" ? whole : signElement(whole, "Response", response.id, key, other);
}

/** The name that a changed message says: that of the forged person, or another one. */
const otherName = ({ drafts, forged }: Spoiling): AssertionDraft["nameId"] =>
  forged?.assertion.nameId ?? { ...drafts.assertion.nameId, value: `changed-${nameIn(drafts.assertion)}` };

const nameIn = ({ nameId: { value } }: AssertionDraft): string => (value instanceof Xml ? value.text : value);

/** The response as it is signed, and as it would be signed with the other name. */
function bothOf(spoiling: Spoiling): { readonly signed: string; readonly other: string } {
  const { drafts, key } = spoiling;
  const changed = {
    ...spoiling,
    drafts: { ...drafts, assertion: { ...drafts.assertion, nameId: otherName(spoiling) } },
  };
  return { signed: signedBy(spoiling, key).text, other: signedBy(changed, key).text };
}

const valueForm = /<ds:SignatureValue>[^<]*<\/ds:SignatureValue>/g;
const digestForm = /<ds:DigestValue>([^<]*)<\/ds:DigestValue>/g;
const infoForm = /<ds:SignedInfo>[\s\S]*?<\/ds:SignedInfo>/g;

/** The changed text, with the signatures of the unchanged one. @param join the part of the unchanged signature, and of the one that the change needs */
function withOldSignatures(
  { signed, other }: ReturnType<typeof bothOf>,
  part: RegExp,
  join: (old: string, needed: string) => string,
): Xml {
  const [oldParts, oldValues] = [signed.match(part) ?? [], signed.match(valueForm) ?? []];
  let [at, value] = [0, 0];
  const text = other
    .replaceAll(part, (needed) => join(oldParts[at++] ?? "", needed))
    .replaceAll(valueForm, () => oldValues[value++] ?? "");
  return new Xml(text);
}

export const signatureFlaws = {
  unsigned: async ({ drafts: { response, assertion } }: Spoiling) => responseXml(response, assertionXml(assertion)),
  "content-changed": async (spoiling: Spoiling) => withOldSignatures(bothOf(spoiling), infoForm, (old) => old),
  /** The certificate that it names is the published one. */
  "key-other": async (spoiling: Spoiling) => {
    const { key } = readSamlKey(await newSamlKey(spoiling.ctx));
    return signedBy(spoiling, { ...spoiling.key, key });
  },
  /** The certificate that it names is that of the other key. */
  "key-embedded": async (spoiling: Spoiling) => signedBy(spoiling, readSamlKey(await newSamlKey(spoiling.ctx))),
  "algorithm-hmac": async (spoiling: Spoiling) =>
    signedBy(spoiling, spoiling.key, { signature: algorithms.hmac, secret: spoiling.key.certificate }),
  "algorithm-sha1": async (spoiling: Spoiling) =>
    signedBy(spoiling, spoiling.key, { signature: algorithms.rsaSha1, digest: algorithms.sha1 }),
  /** A reader that takes the first node finds the digest that the change needs; canonicalization leaves the comment out. */
  "digest-comment": async (spoiling: Spoiling) =>
    withOldSignatures(bothOf(spoiling), digestForm, (old, needed) => {
      const digest = needed.replaceAll(/<[^>]*>/g, "");
      return old.replace("<ds:DigestValue>", `<ds:DigestValue><!--${digest}-->`);
    }),
  /** The signature is that of one SignedInfo, and the digest of the other one is that of the change. */
  "signed-info-two": async (spoiling: Spoiling) =>
    withOldSignatures(bothOf(spoiling), infoForm, (old, needed) => needed + old),
};
