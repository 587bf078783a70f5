import { noticed, notReached, notRequired, unnoticed, type Case, type Finding } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import { judgeForged, nameOf, refusal, signedInBy, spoiledVisit } from "../judge.ts";

/** A case for each flaw of a response. All are judged here. */

interface Row {
  /** Its name in `idp faults flaws`. */
  readonly flaw: string;
  /** What must not sign anybody in: "a response whose Audience is another service provider". */
  readonly response: string;
  readonly paragraph: string;
  readonly fix: string;
  /** The user's own identity; the attacker's with the name of the user, under a signature that does not fit; or beside one that does. */
  readonly kind: "said" | "renamed" | "forged";
  /** No response with this flaw is encrypted. */
  readonly isPlain?: true;
  /** Why an app may let it in; null: it may not. */
  readonly mayPass?: (attempt: Attempt) => string | null;
}

const compare = (what: string): string => `compare ${what}, and refuse the response where it differs`;
const without = (what: string): string => `refuse a response without ${what}`;
const signature =
  "verify the signature with the certificate that you configured, over the element that you read, and update the library";
const covered = "read name and attributes only from the element that the signature covers, and update the library";
const comments = "read the whole text of an element, not its first node, and update the library";
const profile = "SAML Profiles 4.1.4.3";

const said = (flaw: string, response: string, paragraph: string, fix: string): Row => ({
  ...{ flaw, response, paragraph, fix },
  kind: "said",
});
const spoiled = (flaw: string, response: string, paragraph = "SAML Core 5.4"): Row => ({
  ...{ flaw, response, paragraph, fix: signature, kind: "said", isPlain: true },
});
const renamed = (flaw: string, response: string): Row => ({ ...spoiled(flaw, response), kind: "renamed" });
const forged = (flaw: string, response: string, paragraph = "SAML Core 5.4.2, SAML Profiles 4.1.4.3"): Row => ({
  ...{ flaw, response, paragraph, fix: covered, kind: "forged", isPlain: true },
});

const rows: readonly Row[] = [
  said(
    "audience-wrong",
    "whose Audience is another service provider",
    "SAML Core 2.5.1.4",
    compare("Audience with your entityID"),
  ),
  {
    ...said("audience-missing", "without AudienceRestriction", "SAML Profiles 4.1.4.2", without("AudienceRestriction")),
    mayPass: () => "SAML Core 2.5.1.4: only an audience that is there is compared",
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
    mayPass: ({ known }) =>
      known.way.sign === "assertion" ? "SAML Bindings 3.5.5.2: required where the response itself is signed" : null,
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
  spoiled("unsigned", "in which nothing is signed", "SAML Profiles 4.1.3.5"),
  renamed("content-changed", "whose NameID was changed after it was signed"),
  spoiled("key-other", "signed by a key that is not published"),
  spoiled("key-embedded", "signed by another key, whose certificate it brings along,", "SAML Core 5.4.5"),
  spoiled("algorithm-hmac", "signed by HMAC with the published certificate as its secret"),
  {
    ...spoiled("algorithm-sha1", "signed with RSA-SHA1", "RFC 6194 4"),
    fix: "accept RSA-SHA256 alone, where the library has an option for it",
    mayPass: () => "SAML Core 5.4 does not forbid RSA-SHA1",
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
];

async function run(row: Row, attempt: Attempt): Promise<Finding> {
  const { control, known } = attempt;
  if (row.kind === "forged" && known.whoUnknown !== null) return notReached(known.whoUnknown);
  if (row.isPlain === true && known.way.encrypt !== false) {
    return notReached("the app takes only encrypted assertions, and a response with this flaw is not encrypted");
  }
  const isOwn = row.kind === "said";
  const spoiledOne = await spoiledVisit(attempt, {
    flaw: row.flaw,
    signer: isOwn ? control.user : control.attacker,
    ...(!isOwn && { forges: control.user }),
  });
  if ("verdict" in spoiledOne) return spoiledOne;
  const { browser, visit } = spoiledOne;
  if (row.kind === "forged") return judgeForged(attempt, browser, visit);
  const found = await signedInBy(attempt, browser, visit);
  if (found === null) return noticed(refusal(visit));
  if (found !== "in") return found;
  const did = `signed in ${await nameOf(attempt, browser)}`;
  const mayPass = row.mayPass?.(attempt) ?? null;
  return mayPass === null ? unnoticed(did) : notRequired(did, mayPass);
}

export const flawCases: readonly Case<Attempt>[] = rows.map((row) => ({
  name: row.flaw,
  mustNot:
    row.kind === "forged"
      ? `a response ${row.response} signs in a user whom the signature does not cover`
      : `a response ${row.response} signs a user in`,
  should:
    row.kind === "forged"
      ? "refuse the response, or sign in the user whom the signature covers"
      : "refuse the response",
  paragraph: row.paragraph,
  fix: row.fix,
  run: (attempt) => run(row, attempt),
}));
