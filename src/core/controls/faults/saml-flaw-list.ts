/** The flaws of a SAML response, each with what a service provider should do about it and the paragraph that says so. */

const refuse = "refuse the response; do not sign the user in";
/** Where it looks at the element that the signature covers, it signs in that user. */
const notForged = "refuse the response, or sign in the user whom the signature covers; never the other one";
const wrapped = "SAML Core 5.4.2, SAML Profiles 4.1.4.3";

type Row = readonly [name: string, wrong: string, should: string, rule: string];

export const samlSignedFlaws = [
  ["audience-wrong", "the Audience is another service provider", refuse, "SAML Core 2.5.1.4"],
  ["audience-missing", "there is no AudienceRestriction", `${refuse}; not every library can`, "SAML Profiles 4.1.4.2"],
  ["recipient-wrong", "Recipient is another address", refuse, "SAML Profiles 4.1.4.3"],
  ["recipient-missing", "SubjectConfirmationData has no Recipient", refuse, "SAML Profiles 4.1.4.2"],
  [
    "destination-wrong",
    "Destination is another address",
    `${refuse}; where the response is signed`,
    "SAML Bindings 3.5.5.2",
  ],
  ["issuer-wrong", "the Issuer is another identity provider", refuse, "SAML Profiles 4.1.4.3"],
  ["conditions-past", "Conditions ended an hour ago", refuse, "SAML Core 2.5.1.2"],
  ["conditions-future", "Conditions begin in an hour", refuse, "SAML Core 2.5.1.2"],
  ["subject-past", "the subject was confirmed until an hour ago", refuse, "SAML Profiles 4.1.4.3"],
  ["in-response-to-wrong", "InResponseTo names another request", refuse, "SAML Profiles 4.1.4.3"],
  ["status-failed", "the status is a failure, beside a valid assertion", refuse, "SAML Core 3.2.2.2"],
  ["confirmation-missing", "there is no SubjectConfirmation", refuse, "SAML Profiles 4.1.4.2"],
  ["confirmation-method-wrong", "the confirmation is not of the kind bearer", refuse, "SAML Profiles 4.1.4.3"],
] as const satisfies readonly Row[];

export const samlSignatureFlaws = [
  ["unsigned", "nothing is signed", refuse, "SAML Profiles 4.1.3.5"],
  ["content-changed", "the NameID was changed after it was signed", refuse, "SAML Core 5.4"],
  ["key-other", "it is signed by a key that is not published", refuse, "SAML Core 5.4"],
  ["key-embedded", "it is signed by another key, whose certificate it brings along", refuse, "SAML Core 5.4.5"],
  ["algorithm-hmac", "the signature is an HMAC with the published certificate as its secret", refuse, "SAML Core 5.4"],
  ["algorithm-sha1", "it is signed with RSA-SHA1", `${refuse}; not required`, "RFC 6194 4"],
  ["digest-comment", "the digest of a changed NameID is in a comment before the real one", refuse, "SAML Core 5.4"],
  ["signed-info-two", "a second SignedInfo has the digest of a changed NameID", refuse, "SAML Core 5.4"],
] as const satisfies readonly Row[];

export const samlForgingFlaws = [
  ["xsw-1", "the signed response is in the signature of a forged one", notForged, wrapped],
  ["xsw-2", "the signed response stands before its signature, in a forged one", notForged, wrapped],
  ["xsw-3", "a forged assertion stands before the signed one", notForged, wrapped],
  ["xsw-4", "the signed assertion is in a forged one", notForged, wrapped],
  ["xsw-5", "a forged assertion has the signature of one at the end", notForged, wrapped],
  ["xsw-6", "a forged assertion has the signature, and the signed one is in that", notForged, wrapped],
  ["xsw-7", "a forged assertion is in Extensions", notForged, wrapped],
  ["xsw-8", "a forged assertion has the signature, and the signed one is in its Object", notForged, wrapped],
  ["assertion-last", "a forged assertion stands after the signed one", notForged, wrapped],
  ["assertion-in-extensions", "the signed assertion is in Extensions, a forged one in its place", notForged, wrapped],
  ["assertion-in-object", "a forged assertion is in the Object of the response's signature", notForged, wrapped],
  ["id-twice", "a forged assertion has the ID of the signed one", notForged, wrapped],
  [
    "reference-empty",
    "the reference of the signature is empty, beside a forged assertion",
    notForged,
    "SAML Core 5.4.2",
  ],
  ["comment-in-nameid", "a comment stands where the forged NameID would end", notForged, "SAML Core 1.3.1"],
  ["pi-in-nameid", "a processing instruction stands where the forged NameID would end", notForged, "SAML Core 5.4"],
  [
    "comment-in-attribute",
    "a comment stands where the forged value of an attribute would end",
    notForged,
    "SAML Core 1.3.1",
  ],
] as const satisfies readonly Row[];

const names = (rows: readonly Row[]): readonly string[] => rows.map(([name]) => name);

/** The flaws that carry the identity of somebody else. */
export const forgingFlaws = names(samlForgingFlaws);
/** Of these, and of those that change the name, the identity is that of `forge`. */
export const flawsWithForge: readonly string[] = [
  ...forgingFlaws,
  "content-changed",
  "digest-comment",
  "signed-info-two",
];
/** The NameID of the user has to begin with the forged one. */
export const prefixFlaws = forgingFlaws.filter((name) => /^(?:comment|pi)-/.test(name));
