import { withFixOf, type CaseText, type Fixes } from "../frame/verdict.ts";

/** The line to change, in the words of the library that the app has. A case without one keeps its own, which names none. */

/** Which cases one line repairs. */
const topics: Readonly<Record<string, RegExp>> = {
  request: /^(in-response-to-wrong|unsolicited|replayed)$/,
  audience: /^audience-/,
  time: /^conditions-/,
  confirmation: /^(recipient|confirmation)-/,
  signed:
    /^(unsigned|algorithm-hmac|content-changed|key-|xsw-|assertion-|id-twice|reference-|digest-|signed-info-|comment-|pi-|doctype-|namespace-)/,
};

const nodeSaml: Fixes = {
  request: 'validateInResponseTo: "always", with one cacheProvider for all processes',
  audience: "audience: the entityID of the app",
  time: "leave acceptedClockSkewMs at 0: -1 turns the check off",
  "subject-past": 'validateInResponseTo: "always", without which the library does not look at the confirmation',
  confirmation:
    "in the verify callback: SubjectConfirmation of profile.getAssertion() must be bearer, and its Recipient callbackUrl",
  "status-failed":
    "in the verify callback: StatusCode of profile.getSamlResponseXml() must be Success: the library takes an assertion beside any status",
  signed: "leave wantAssertionsSigned on, and update to @node-saml/node-saml 5.1.0 with xml-crypto 6.1.2, or later",
  "issuer-wrong":
    "in the verify callback: compare profile.issuer with the entityID of the identity provider; idpIssuer is for logout alone",
  "other-browser":
    "send a random RelayState from the session of the browser, and compare it: the cache of request IDs is for all browsers",
  "logout-unsigned":
    "refuse a GET of your logout address that has no Signature: the library verifies only one that is there",
  "logout-other":
    "in the logout callback: compare nameID and sessionIndex with those of the session, and call done with an error where they differ",
};

const samlify: Fixes = {
  request:
    "keep the id of createLoginRequest in the session, and compare InResponseTo of the assertion: the library does not",
  audience: "compare extract.audience with your entityID: the library does not",
  "subject-past": "compare NotOnOrAfter of SubjectConfirmationData with the time: the library does not",
  confirmation:
    "read SubjectConfirmation of the signed assertion: Method must be bearer, and Recipient your address; the library does not",
  signed: "wantMessageSigned and wantAssertionsSigned, and samlify 2.13.1 or later",
  "other-browser":
    "keep the id of createLoginRequest in the session, and compare InResponseTo of the assertion with it",
};

const python3Saml: Fixes = {
  unsolicited: "refuse where auth.get_last_response_in_response_to() is None",
  request: "auth.process_response(request_id=session.pop(…)), with get_last_request_id() kept after login()",
  "other-browser": "auth.process_response(request_id=session.pop(…)), with get_last_request_id() kept after login()",
  "audience-missing": '"strict": True',
  "audience-wrong": '"strict": True',
  "recipient-wrong": '"strict": True',
  time: '"strict": True',
  signed: '"strict": True, "security": {"wantAssertionsSigned": True}',
  "algorithm-sha1": '"security": {"rejectDeprecatedAlgorithm": True}',
  "logout-unsigned": '"security": {"wantMessagesSigned": True} in the settings of the logout address',
  "logout-other":
    "auth.process_slo(keep_local_session=True), and end the session only if get_nameid of the request is that of the session",
};

/** By the names of npm packages. */
const ofPackages: Readonly<Record<string, Fixes>> = {
  "@node-saml/passport-saml": nodeSaml,
  "@node-saml/node-saml": nodeSaml,
  samlify,
};

/** What the files of a project say about its libraries. */
interface Project {
  readonly has: (name: string) => boolean;
  readonly mentions: (word: string) => boolean;
}

export function withFix<C extends CaseText>(one: C, { has, mentions }: Project): C {
  const found = Object.keys(ofPackages).find(has);
  const fixes = found === undefined ? (mentions("python3-saml") ? python3Saml : undefined) : ofPackages[found];
  return withFixOf(one, fixes, topics);
}
