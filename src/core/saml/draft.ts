import { isXmlText } from "../base/xml/characters.ts";
import { attribute, xml, Xml } from "../base/xml/write.ts";
import { sourceValue, type SignedInUser } from "../records/service-providers/attribute-values.ts";
import type { NameId, ServiceProvider } from "../records/service-providers/provider.ts";
import { spaces } from "../records/service-providers/names.ts";
import { statusUri, type SamlStatus } from "./purpose.ts";
import type { Context } from "../context.ts";
import type { AttributeRow } from "../records/service-providers/shapes.ts";

/** The attributes of an assertion (SAML Core 2.7.3). */

interface Attribute extends Omit<AttributeRow, "source" | "repeat"> {
  readonly values: readonly string[];
}

/** A claim that no assertion can carry. */
export class ClaimProblem extends Error {
  override readonly name = "ClaimProblem";
}

const claimIn = ({ source }: AttributeRow): string => ("claim" in source ? source.claim : source.value);

/**
 * Values are text, one for each item of a list.
 * @returns the attributes, and remarks on the claims that were left out
 * @throws {ClaimProblem} for a character that XML cannot have
 */
export function attributesOf(
  ctx: Pick<Context, "layout" | "address" | "issuer">,
  { attributes, ownAttributes, sendsEmpty }: ServiceProvider,
  signedIn: SignedInUser,
): { readonly attributes: readonly Attribute[]; readonly remarks: readonly string[] } {
  const kept: Attribute[] = [];
  const left: string[] = [];
  for (const row of attributes) {
    const value = sourceValue(ctx, row.source, signedIn);
    const values: string[] = [];
    for (const one of [value].flat()) {
      if (one === undefined) {
        // Only an operator who names a claim expects it.
        if (ownAttributes) left.push(`${claimIn(row)} (not there)`);
      } else if (one === null || typeof one === "object") {
        left.push(`${claimIn(row)} (${one === null ? "null" : "an object"})`);
      } else {
        const text = typeof one === "string" ? one : JSON.stringify(one);
        if (!isXmlText(text))
          throw new ClaimProblem(
            `the claim "${claimIn(row)}" of ${signedIn.user.username} has a character that XML cannot have, so attribute "${row.name}" cannot be sent`,
          );
        values.push(text);
      }
    }
    const { source: _, repeat = false, ...named } = row;
    if (repeat) kept.push(...values.map((one) => ({ ...named, values: [one] })));
    // A list without values is an attribute without values (SAML Core 2.7.3.1).
    else if (values.length > 0 || sendsEmpty || (ownAttributes && Array.isArray(value) && value.length === 0))
      kept.push({ ...named, values });
  }
  const remark = sendsEmpty ? "attributes sent without a value" : "attributes left out";
  return { attributes: kept, remarks: left.length === 0 ? [] : [`${remark}: ${left.join(", ")}`] };
}

/** A response as data, and as text before anything is signed. What a flaw changes is changed here, so the rest stays as it is. */

export interface AssertionDraft {
  readonly id: string;
  /** ISO 8601, as all times. */
  readonly issuedAt: string;
  readonly issuer: string;
  /** The value may hold XML where a flaw splits it. */
  readonly nameId: Omit<NameId, "value"> & { readonly value: string | Xml };
  /** Null: no confirmation. */
  readonly confirmation: {
    readonly method: string;
    readonly recipient: string | null;
    readonly notOnOrAfter: string;
    readonly inResponseTo: string | null;
  } | null;
  readonly notBefore: string;
  readonly notOnOrAfter: string;
  /** Null: no AudienceRestriction. */
  readonly audience: string | null;
  readonly authnInstant: string;
  readonly sessionIndex: string;
  readonly sessionNotOnOrAfter: string;
  readonly contextClass: string;
  readonly nameFormat: string | null;
  readonly attributes: readonly (Omit<Attribute, "values"> & { readonly values: readonly (string | Xml)[] })[];
}

export interface ResponseDraft {
  readonly id: string;
  readonly issuedAt: string;
  readonly issuer: string;
  readonly destination: string;
  readonly inResponseTo: string | null;
  readonly status: SamlStatus | null;
  readonly statusMessage: string | null;
}

export const bearer = "urn:oasis:names:tc:SAML:2.0:cm:bearer";

/** The namespace of assertions is declared on each, so that one may be moved. */
export function assertionXml(draft: AssertionDraft): Xml {
  const { nameId, confirmation } = draft;
  return xml`<saml:Assertion xmlns:saml="${spaces.assertion}" ID="${draft.id}" Version="2.0" IssueInstant="${draft.issuedAt}">
    <saml:Issuer>${draft.issuer}</saml:Issuer>
    <saml:Subject>
    <saml:NameID Format="${nameId.format}">${nameId.value}</saml:NameID>
    ${confirmation === null ? null : confirmationXml(confirmation)}
    </saml:Subject>
    <saml:Conditions NotBefore="${draft.notBefore}" NotOnOrAfter="${draft.notOnOrAfter}">
    ${draft.audience === null ? null : xml`<saml:AudienceRestriction><saml:Audience>${draft.audience}</saml:Audience></saml:AudienceRestriction>`}
    </saml:Conditions>
    <saml:AuthnStatement AuthnInstant="${draft.authnInstant}" SessionIndex="${draft.sessionIndex}" SessionNotOnOrAfter="${draft.sessionNotOnOrAfter}">
    <saml:AuthnContext><saml:AuthnContextClassRef>${draft.contextClass}</saml:AuthnContextClassRef></saml:AuthnContext>
    </saml:AuthnStatement>
    ${draft.attributes.length === 0 ? null : xml`<saml:AttributeStatement>${draft.attributes.map((one) => attributeXml(one, draft.nameFormat))}</saml:AttributeStatement>`}
    </saml:Assertion>`;
}

const confirmationXml = (given: NonNullable<AssertionDraft["confirmation"]>): Xml =>
  xml`<saml:SubjectConfirmation Method="${given.method}"><saml:SubjectConfirmationData NotOnOrAfter="${given.notOnOrAfter}"${attribute("Recipient", given.recipient)}${attribute("InResponseTo", given.inResponseTo)}/></saml:SubjectConfirmation>`;

const attributeXml = (
  { name, friendlyName, nameFormat, values }: AssertionDraft["attributes"][number],
  usualFormat: string | null,
): Xml =>
  xml`<saml:Attribute Name="${name}"${attribute("NameFormat", nameFormat ?? usualFormat)}${attribute("FriendlyName", friendlyName)}>${values.map((value) => xml`<saml:AttributeValue>${value}</saml:AttributeValue>`)}</saml:Attribute>`;

/** @param content what comes after the status: an assertion, or an encrypted one @param extensions what comes before it */
export function responseXml(draft: ResponseDraft, content: Xml | null, extensions: Xml | null = null): Xml {
  return xml`<samlp:Response xmlns:samlp="${spaces.protocol}" xmlns:saml="${spaces.assertion}" ID="${draft.id}" Version="2.0" IssueInstant="${draft.issuedAt}" Destination="${draft.destination}"${attribute("InResponseTo", draft.inResponseTo)}>
    <saml:Issuer>${draft.issuer}</saml:Issuer>
    ${extensions === null ? null : xml`<samlp:Extensions>${extensions}</samlp:Extensions>`}
    ${statusXml(draft.status, draft.statusMessage)}
    ${content}
    </samlp:Response>`;
}

export function statusXml(
  status: SamlStatus | { readonly top: "Success"; readonly second: string | null } | null,
  message: string | null,
): Xml {
  const { top, second } = status ?? { top: "Success", second: null };
  const inner = second === null ? null : xml`<samlp:StatusCode Value="${statusUri(second)}"/>`;
  const code =
    inner === null
      ? xml`<samlp:StatusCode Value="${statusUri(top)}"/>`
      : xml`<samlp:StatusCode Value="${statusUri(top)}">${inner}</samlp:StatusCode>`;
  return xml`<samlp:Status>${code}${message === null ? null : xml`<samlp:StatusMessage>${message}</samlp:StatusMessage>`}</samlp:Status>`;
}
