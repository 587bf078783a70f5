import { wrongNames } from "../controls/faults/flaws/flaw.ts";
import { newSamlKey, readSamlKey, type SamlKey } from "../../records/keys/saml-keys.ts";
import { algorithms, signElement, Xml, type OtherSignature } from "../../base/xml/write.ts";
import { assertionXml, responseXml, type AssertionDraft, type ResponseDraft } from "../../saml/draft.ts";
import { encrypted, type drafted, type Material } from "../../saml/response.ts";

/** Flaws of what a response says: wrong in one respect, and signed as it is. */

/** The material that a flaw works on. */
export interface Spoiling extends Material {
  readonly drafts: ReturnType<typeof drafted>;
  /** The same for the person whose identity is forged; null: nobody was named. */
  readonly forged: ReturnType<typeof drafted> | null;
}

/** Milliseconds: more than clocks differ, and more than verifiers tolerate. */
const hour = 3_600_000;

type Part = (drafts: Spoiling["drafts"]) => {
  readonly response?: Partial<ResponseDraft>;
  readonly assertion?: Partial<AssertionDraft>;
};

const moved = (time: string, by: number): string => new Date(Date.parse(time) + by).toISOString().replace(".000Z", "Z");

const confirmed = (
  { confirmation }: AssertionDraft,
  change: Partial<NonNullable<AssertionDraft["confirmation"]>>,
): Partial<AssertionDraft> => ({ confirmation: confirmation && { ...confirmation, ...change } });

const parts = {
  "audience-wrong": () => ({ assertion: { audience: wrongNames.audience } }),
  "audience-missing": () => ({ assertion: { audience: null } }),
  "recipient-wrong": ({ assertion }) => ({ assertion: confirmed(assertion, { recipient: wrongNames.acs }) }),
  "recipient-missing": ({ assertion }) => ({ assertion: confirmed(assertion, { recipient: null }) }),
  "destination-wrong": () => ({ response: { destination: wrongNames.acs } }),
  "issuer-wrong": () => ({ response: { issuer: wrongNames.issuer }, assertion: { issuer: wrongNames.issuer } }),
  // It ended an hour ago.
  "conditions-past": ({ assertion: { issuedAt, notBefore } }) => ({
    assertion: { notBefore: moved(notBefore, -2 * hour), notOnOrAfter: moved(issuedAt, -hour) },
  }),
  "conditions-future": ({ assertion: { issuedAt, notOnOrAfter } }) => ({
    assertion: { notBefore: moved(issuedAt, hour), notOnOrAfter: moved(notOnOrAfter, hour) },
  }),
  "subject-past": ({ assertion }) => ({
    assertion: confirmed(assertion, { notOnOrAfter: moved(assertion.issuedAt, -hour) }),
  }),
  "in-response-to-wrong": ({ response: { inResponseTo }, assertion }) => ({
    response: { inResponseTo: `${inResponseTo ?? ""}-of-another` },
    assertion: confirmed(assertion, { inResponseTo: `${inResponseTo ?? ""}-of-another` }),
  }),
  "status-failed": () => ({
    response: { status: { top: "Responder", second: "AuthnFailed" }, statusMessage: "the user was not signed in" },
  }),
  "confirmation-missing": () => ({ assertion: { confirmation: null } }),
  "confirmation-method-wrong": ({ assertion }) => ({
    assertion: confirmed(assertion, { method: "urn:oasis:names:tc:SAML:2.0:cm:sender-vouches" }),
  }),
  "attributes-missing": () => ({ assertion: { attributes: [] } }),
  // An attribute that has no values has no AttributeValue (SAML Core 2.7.3.1.1).
  "attributes-empty": ({ assertion: { attributes } }) => ({
    assertion: { attributes: attributes.map((one) => ({ ...one, values: [] })) },
  }),
} as const satisfies Readonly<Record<string, Part>>;

/** A response that is signed as the service provider wants it. */
async function signedResponse(
  { provider, key }: Spoiling,
  response: ResponseDraft,
  assertion: AssertionDraft,
): Promise<Xml> {
  const text = assertionXml(assertion);
  const own = provider.sign === "response" ? text : signElement(text, "Assertion", assertion.id, key);
  const whole = responseXml(response, await encrypted(provider, own));
  return provider.sign === "assertion" ? whole : signElement(whole, "Response", response.id, key);
}

type Spoil = (spoiling: Spoiling) => Promise<Xml>;

export const signedFlaws = Object.fromEntries(
  Object.entries<Part>(parts).map(([name, part]): [string, Spoil] => [
    name,
    (spoiling) => {
      const { response, assertion } = spoiling.drafts;
      const changed = part(spoiling.drafts);
      return signedResponse(spoiling, { ...response, ...changed.response }, { ...assertion, ...changed.assertion });
    },
  ]),
) as Readonly<Record<keyof typeof parts, Spoil>>;

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
  "encrypted-unsigned": async ({ provider, drafts: { response, assertion } }: Spoiling) =>
    responseXml(response, await encrypted(provider, assertionXml(assertion))),
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
