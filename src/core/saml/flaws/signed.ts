import type { Xml } from "../../xml/write.ts";
import { signElement } from "../../xml/sign.ts";
import { assertionXml, responseXml, type AssertionDraft, type ResponseDraft } from "../draft.ts";
import { encrypted, type drafted, type Material } from "../response.ts";

/** What a response says, wrong in one respect, and signed as it is. */

/** What a flaw works on. */
export interface Spoiling extends Material {
  readonly drafts: ReturnType<typeof drafted>;
  /** The same for the person whose identity is forged; null: nobody was named. */
  readonly forged: ReturnType<typeof drafted> | null;
}

/** Milliseconds: more than clocks differ, and more than verifiers tolerate. */
const hour = 3_600_000;

/** Names that never resolve (RFC 6761 6.4). */
const elsewhere = {
  issuer: "https://wrong-issuer.invalid",
  audience: "https://wrong-audience.invalid",
  acs: "https://wrong-recipient.invalid/acs",
};

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
  "audience-wrong": () => ({ assertion: { audience: elsewhere.audience } }),
  "audience-missing": () => ({ assertion: { audience: null } }),
  "recipient-wrong": ({ assertion }) => ({ assertion: confirmed(assertion, { recipient: elsewhere.acs }) }),
  "recipient-missing": ({ assertion }) => ({ assertion: confirmed(assertion, { recipient: null }) }),
  "destination-wrong": () => ({ response: { destination: elsewhere.acs } }),
  "issuer-wrong": () => ({ response: { issuer: elsewhere.issuer }, assertion: { issuer: elsewhere.issuer } }),
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
