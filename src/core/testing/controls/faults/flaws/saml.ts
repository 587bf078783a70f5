import type { Named } from "./flaw.ts";

/** Flaws of a SAML response. core/testing/saml-flaws makes each, by its name. */

const compare = (what: string): string => `compare ${what}, and refuse the response where it differs`;
const without = (what: string): string => `refuse a response without ${what}`;
const signature =
  "verify the signature with the certificate that you configured, over the element that you read, and update the library";
const covered = "read name and attributes only from the element that the signature covers, and update the library";
const comments = "read the whole text of an element, not its first node, and update the library";
const profile = "SAML Profiles 4.1.4.3";

/** Whose identity it carries. `said`: the user's own. `renamed`: another user's, under a signature that does not fit. `forged`: beside one that does. */
type Kind = "said" | "renamed" | "forged";

interface SamlFlaw<N extends string = string> extends Named<N> {
  readonly mustNot: string;
  readonly carries: Kind;
  /** No response with this flaw is encrypted. */
  readonly isPlain?: true;
}

const row = <const N extends string>(
  name: N,
  response: string,
  rule: string,
  fix: string,
  carries: Kind,
): SamlFlaw<N> => {
  const wrong = `a response ${response}`;
  const isForged = carries === "forged";
  return {
    ...{
      endpoint: "saml_sso",
      place: "saml",
      name,
      wrong,
      rule,
      fix,
      carries,
      must: "refuse",
      apply: { kind: "saml" },
    },
    mustNot: `${wrong} signs ${isForged ? "in a user whom the signature does not cover" : "a user in"}`,
    should: isForged ? "refuse the response, or sign in the user whom the signature covers" : "refuse the response",
  };
};
const said = <const N extends string>(name: N, response: string, rule: string, fix: string): SamlFlaw<N> =>
  row(name, response, rule, fix, "said");
const spoiled = <const N extends string>(name: N, response: string, rule = "SAML Core 5.4"): SamlFlaw<N> => ({
  ...said(name, response, rule, signature),
  isPlain: true,
});
/** Nothing is wrong with it, but an app may fail. */
const allowed = <const N extends string>(name: N, response: string, rule: string): SamlFlaw<N> => ({
  ...said(name, response, rule, "read an attribute only where it is there and has a value"),
  ...{ must: "either", mustNot: `a response ${response} makes the app fail` },
  should: "sign the user in, or refuse the response, and not fail",
});
const renamed = <const N extends string>(name: N, response: string): SamlFlaw<N> => ({
  ...spoiled(name, response),
  carries: "renamed",
});
const forged = <const N extends string>(
  name: N,
  response: string,
  rule = "SAML Core 5.4.2, SAML Profiles 4.1.4.3",
): SamlFlaw<N> => ({ ...row(name, response, rule, covered, "forged"), isPlain: true });

const namesOf = <const N extends string>(rows: readonly SamlFlaw<N>[]): readonly SamlFlaw<N>[] => rows;

export const samlFlaws = namesOf([
  said(
    "audience-wrong",
    "whose Audience is another service provider",
    "SAML Core 2.5.1.4",
    compare("Audience with your entityID"),
  ),
  {
    ...said("audience-missing", "without AudienceRestriction", "SAML Profiles 4.1.4.2", without("AudienceRestriction")),
  },
  said(
    "recipient-wrong",
    "whose Recipient is another address",
    profile,
    compare("Recipient with the address that got the response"),
  ),
  said(
    "recipient-missing",
    "whose SubjectConfirmationData has no Recipient",
    "SAML Profiles 4.1.4.2",
    without("Recipient"),
  ),
  {
    ...said(
      "destination-wrong",
      "whose Destination is another address",
      "SAML Bindings 3.5.5.2",
      compare("Destination with the address that got the response"),
    ),
  },
  said(
    "issuer-wrong",
    "whose Issuer is another identity provider",
    profile,
    compare("Issuer with the entityID of the identity provider"),
  ),
  said(
    "conditions-past",
    "whose Conditions ended an hour ago",
    "SAML Core 2.5.1.2",
    compare("NotOnOrAfter of Conditions with the time"),
  ),
  said(
    "conditions-future",
    "whose Conditions begin in an hour",
    "SAML Core 2.5.1.2",
    compare("NotBefore of Conditions with the time"),
  ),
  said(
    "subject-past",
    "whose subject was confirmed until an hour ago",
    profile,
    compare("NotOnOrAfter of SubjectConfirmationData with the time"),
  ),
  said(
    "in-response-to-wrong",
    "whose InResponseTo names another request",
    profile,
    "keep the ID of each request in the session of its browser, and compare InResponseTo with it",
  ),
  said(
    "status-failed",
    "whose status is a failure, beside a valid assertion,",
    "SAML Core 3.2.2.2",
    "look at the StatusCode first: only Success signs anybody in",
  ),
  said(
    "confirmation-missing",
    "without SubjectConfirmation",
    "SAML Profiles 4.1.4.2",
    without("a SubjectConfirmation of the kind bearer"),
  ),
  said(
    "confirmation-method-wrong",
    "whose confirmation is not of the kind bearer",
    profile,
    without("a SubjectConfirmation of the kind bearer"),
  ),
  allowed("attributes-missing", "without attributes", "SAML Core 2.3.3"),
  allowed("attributes-empty", "whose attributes have no values, as Google sends them,", "SAML Core 2.7.3.1"),
  spoiled("unsigned", "in which nothing is signed", "SAML Profiles 4.1.3.5"),
  said(
    "encrypted-unsigned",
    "whose assertion is encrypted, and in which nothing is signed,",
    "SAML Profiles 4.1.3.5, CVE-2026-2092",
    "verify a signature of the decrypted assertion, or of the response: anybody can encrypt for the app",
  ),
  renamed("content-changed", "whose NameID was changed after it was signed"),
  spoiled("key-other", "signed by a key that is not published"),
  spoiled("key-embedded", "signed by another key, whose certificate it brings along,", "SAML Core 5.4.5"),
  spoiled("algorithm-hmac", "signed by HMAC with the published certificate as its secret"),
  {
    ...spoiled("algorithm-sha1", "signed with RSA-SHA1", "RFC 6194 4"),
    fix: "accept RSA-SHA256 alone, where the library has an option for it",
  },
  renamed("digest-comment", "with the digest of a changed NameID in a comment before the real one"),
  renamed("signed-info-two", "with the digest of a changed NameID in a second SignedInfo"),
  forged("xsw-1", "in whose signature the signed response is"),
  forged("xsw-2", "that has the signed one before its signature"),
  forged("xsw-3", "with a forged assertion before the signed one"),
  forged("xsw-4", "with the signed assertion in a forged one"),
  forged("xsw-5", "whose forged assertion has the signature of one at the end"),
  forged("xsw-6", "whose forged assertion has the signature, which has the signed one,"),
  forged("xsw-7", "with a forged assertion in Extensions"),
  forged("xsw-8", "whose forged assertion has the signature, with the signed one in its Object,"),
  forged("assertion-last", "with a forged assertion after the signed one"),
  forged("assertion-in-extensions", "with the signed assertion in Extensions, and a forged one in its place,"),
  forged("assertion-in-object", "with a forged assertion in the Object of its signature"),
  forged("assertion-in-advice", "whose forged assertion has the signed one in its Advice,"),
  forged("assertion-in-status-detail", "with the signed assertion in its StatusDetail, and a forged one in its place,"),
  forged(
    "digest-elsewhere",
    "with the digest of the forged assertion outside of the signature",
    "SAML Core 5.4.2, CVE-2024-45409",
  ),
  forged(
    "doctype-split",
    "whose DOCTYPE hides the signed assertion from one of two parsers",
    "SAML Core 5.4.2, CVE-2025-25291",
  ),
  forged(
    "namespace-split",
    "whose forged assertion has the namespace, and not the prefix, of the signed one",
    "SAML Core 5.4.2, CVE-2025-25292",
  ),
  {
    ...row(
      "encrypted-forged",
      "with an encrypted, unsigned assertion beside the signed one",
      "SAML Core 5.4.2, CVE-2026-2092",
      "read only the assertion that the signature covers, and verify the signature after an assertion was decrypted",
      "forged",
    ),
  },
  forged("id-twice", "whose forged assertion has the ID of the signed one"),
  forged("reference-empty", "whose signature has an empty reference, beside a forged assertion,", "SAML Core 5.4.2"),
  {
    ...forged("comment-in-nameid", "whose NameID has a comment where the forged one would end", "SAML Core 1.3.1"),
    fix: comments,
  },
  {
    ...forged(
      "pi-in-nameid",
      "whose NameID has a processing instruction where the forged one would end",
      "SAML Core 5.4",
    ),
    fix: "refuse a message with processing instructions, and update the library",
  },
  {
    ...forged(
      "comment-in-attribute",
      "with a comment where the forged value of an attribute would end",
      "SAML Core 1.3.1",
    ),
    fix: comments,
  },
]);
