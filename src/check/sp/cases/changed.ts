import type { AuthorizationResponse } from "../../../client/app/visit.ts";
import { notAtLoopback } from "../../frame/listener.ts";
import { noticed, notReached, notRequired, unnoticed, type Case } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import { refusal } from "../../frame/app.ts";
import { heldIn, signedInBy } from "../judge.ts";

/** Responses that were changed on their way: what they name is fetched, or their name is missing, or the session ends soon. */

const changedText = (response: AuthorizationResponse, change: (text: string) => string): AuthorizationResponse => {
  const text = Buffer.from(response.parameters.get("SAMLResponse") ?? "", "base64").toString();
  const parameters = new URLSearchParams(response.parameters);
  parameters.set("SAMLResponse", Buffer.from(change(text)).toString("base64"));
  return { ...response, parameters };
};

interface Fetched {
  readonly name: string;
  /** What names the address: "an entity". */
  readonly what: string;
  readonly paragraph: string;
  readonly fix: string;
  readonly change: (text: string, url: string) => string;
  /** What lies at the address. */
  readonly bytes: string;
  /** The change spoils the signature. */
  readonly spoils?: true;
}

const fetches: readonly Fetched[] = [
  {
    name: "fetch-entity",
    what: "an entity or a DTD",
    paragraph: "OWASP ASVS 5.0 1.5.1; XML 1.0 4.2.2",
    fix: "let the parser refuse a DOCTYPE, and resolve no external entities",
    bytes: "",
    change: (text, url) =>
      `<!DOCTYPE Response SYSTEM "${url}/dtd" [<!ENTITY % p SYSTEM "${url}/p"> %p; <!ENTITY e SYSTEM "${url}/e">]>${text.replace(
        "</samlp:Status>",
        "<samlp:StatusMessage>&e;</samlp:StatusMessage></samlp:Status>",
      )}`,
  },
  {
    name: "fetch-reference",
    what: "the Reference of a signature",
    paragraph: "SAML Core 5.4.2; XML Signature Best Practices 2.1.4",
    fix: "take only a Reference to the ID of the element that the signature is in, before anything is verified",
    bytes: "<x/>",
    change: (text, url) => text.replaceAll(/(<ds:Reference URI=")[^"]*"/g, `$1${url}"`),
    spoils: true,
  },
  {
    name: "fetch-retrieval",
    what: "the RetrievalMethod of a key",
    paragraph: "SAML Core 5.4.5; XML Signature Best Practices 2.1.5",
    fix: "verify with the certificate that you configured, and read no KeyInfo",
    bytes: "",
    change: (text, url) =>
      text.replaceAll(
        /<ds:KeyInfo>[\s\S]*?<\/ds:KeyInfo>/g,
        `<ds:KeyInfo><ds:RetrievalMethod URI="${url}" Type="http://www.w3.org/2000/09/xmldsig#X509Data"/></ds:KeyInfo>`,
      ),
  },
];

const fetchCase = ({ name, what, paragraph, fix, change, bytes, spoils }: Fetched): Case<Attempt> => ({
  ...{ name, paragraph, fix },
  mustNot: `an address that ${what} names is fetched`,
  should: "fetch nothing that a message names",
  async run(attempt) {
    const { url, seen } = await attempt.listen(() => bytes, "application/xml");
    const browser = await attempt.newBrowser();
    const response = await heldIn(attempt, browser);
    if ("verdict" in response) return response;
    const visit = await browser.deliver(changedText(response, (text) => change(text, url)));
    if (seen.length > 0) return unnoticed(`fetched the address that ${what} names`);
    const found = await signedInBy(attempt, browser, visit);
    if (found === "in" && spoils === true) {
      return unnoticed("signed the user in, though the signature covers something else", {
        mustNot: "a signature of something else signs a user in",
      });
    }
    if (found !== null && found !== "in") return found;
    const did = found === "in" ? "signed the user in, and fetched nothing" : `${refusal(visit)}, and fetched nothing`;
    return attempt.isAtLoopback ? noticed(did) : notReached(notAtLoopback);
  },
});

const nameForm = /<saml:NameID[^>]*>[\s\S]*?<\/saml:NameID>/;

interface Nameless {
  readonly name: string;
  readonly what: string;
  readonly change: (text: string) => string;
}

const nameless: readonly Nameless[] = [
  { name: "nameid-missing", what: "without a NameID", change: (text) => text.replace(nameForm, "") },
  {
    name: "nameid-empty",
    what: "with an empty NameID",
    change: (text) => text.replace(nameForm, (name) => name.replace(/>[\s\S]*?<\//, "></")),
  },
];

/** Brings a response that was changed and signed again. @returns "in", or a finding */
async function broughtChanged(attempt: Attempt, change: (text: string) => string) {
  const browser = await attempt.newBrowser();
  const response = await heldIn(attempt, browser);
  if ("verdict" in response) return { found: response, browser };
  const visit = await browser.deliver(await attempt.control.signAgain(response, change));
  const found = await signedInBy(attempt, browser, visit);
  return { found: found ?? noticed(refusal(visit)), browser };
}

const namelessCase = ({ name, what, change }: Nameless): Case<Attempt> => ({
  name,
  mustNot: `a response ${what} signs in somebody else, or somebody without a name`,
  should: "refuse the response, or sign the same user in by an attribute",
  paragraph: "SAML Profiles 4.1.4.2, SAML Core 2.4.1",
  fix: "refuse where the name that you look users up by is missing or empty, before the lookup",
  async run(attempt) {
    const { found, browser } = await broughtChanged(attempt, change);
    if (found !== "in") return found;
    const { known, control } = attempt;
    if (known.whoUnknown !== null) return notReached(`somebody is signed in: ${known.whoUnknown}`);
    const shown = await attempt.who(browser);
    if (shown.user) {
      return notRequired(`signed in ${control.user.username} by an attribute`, "SAML Core 2.4.1: a NameID is optional");
    }
    return unnoticed(`signed in ${shown.attacker ? control.attacker.username : "somebody without a name"}`);
  },
});

/** Seconds until the session must be over. */
const short = 5;

const sessionEnds: Case<Attempt> = {
  name: "session-ends",
  mustNot: "a session goes on after the end that the identity provider gave it",
  should: "end the session at SessionNotOnOrAfter",
  paragraph: "SAML Profiles 4.1.4.3",
  fix: "end the session at SessionNotOnOrAfter of the AuthnStatement, where it is sooner than your own limit",
  waits: (short + 2) * 1000,
  async run(attempt) {
    const { found, browser } = await broughtChanged(attempt, (text) => {
      const [, issued = ""] = /IssueInstant="([^"]*)"/.exec(text) ?? [];
      const end = new Date(Date.parse(issued) + short * 1000).toISOString().replace(".000Z", "Z");
      return text.replace(/SessionNotOnOrAfter="[^"]*"/, `SessionNotOnOrAfter="${end}"`);
    });
    if (found !== "in")
      return found.verdict === "noticed" ? notReached(`the session did not begin: ${found.did}`) : found;
    await attempt.wait((short + 1) * 1000);
    const standing = await attempt.standing(browser);
    if (standing === "out") return noticed("signed the user out at the end of the session");
    return notRequired(
      "kept the user signed in after SessionNotOnOrAfter",
      "SAML Profiles 4.1.4.3: the service provider should end it",
    );
  },
};

export const changedCases: readonly Case<Attempt>[] = [
  ...fetches.map(fetchCase),
  ...nameless.map(namelessCase),
  sessionEnds,
];
