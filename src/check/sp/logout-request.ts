import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import type { AuthorizationResponse } from "../../client/app/visit.ts";
import { Problem } from "../../client/check.ts";
import type { LogoutMessage } from "./messages.ts";
import { readSamlKey } from "../../core/records/keys/saml-keys.ts";
import { deflateMessage } from "../../core/saml/message.ts";
import { spaces } from "../../core/records/service-providers/names.ts";
import { childOf, parseXml, textIn, XmlProblem } from "../../core/base/xml/parse.ts";
import { signElement, signQuery, attribute, Xml, xml, type SignWith } from "../../core/base/xml/write.ts";
import { randomText } from "../../serve/random.ts";
import type { Key } from "../../store/store.ts";
import { callServer, type Server } from "../../serve/remote.ts";

/** LogoutRequests as this identity provider would send them, right and wrong. They are signed with the issuer's own key, which an export has. */

/** The session that a response began. */
interface SessionNamed {
  readonly issuer: string;
  readonly nameId: string;
  readonly format: string;
  readonly index: string | undefined;
}

/** @throws {Problem} */
function sessionIn({ parameters }: AuthorizationResponse): SessionNamed {
  try {
    const response = parseXml(Buffer.from(parameters.get("SAMLResponse") ?? "", "base64").toString());
    const assertion = childOf(response, spaces.assertion, "Assertion");
    const subject = assertion && childOf(assertion, spaces.assertion, "Subject");
    const name = subject && childOf(subject, spaces.assertion, "NameID");
    const issuer = assertion && childOf(assertion, spaces.assertion, "Issuer");
    const statement = assertion && childOf(assertion, spaces.assertion, "AuthnStatement");
    if (name === undefined || issuer === undefined)
      throw new Problem("an encrypted assertion does not tell its session");
    return {
      issuer: textIn(issuer),
      nameId: textIn(name),
      format: name.attributes["Format"] ?? "",
      index: statement?.attributes["SessionIndex"],
    };
  } catch (error) {
    if (error instanceof XmlProblem) throw new Problem(`the response of the sign-in cannot be read: ${error.message}`);
    throw error;
  }
}

/** @throws {Problem} */
export async function keyOf(server: Server, by: NonNullable<LogoutMessage["signedBy"]>): Promise<SignWith> {
  const { keys = [] } = (await callServer(server, "export", {})) as { readonly keys?: readonly Key[] };
  const own = keys.find(({ use, retiredAt }) => use === "saml" && retiredAt === null);
  if (own === undefined) throw new Problem("a signed message cannot be made here: the issuer has no key of SAML");
  const signing = readSamlKey(own);
  if (by === "idp") return signing;
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...signing, key: createPrivateKey(privateKey.export({ type: "pkcs8", format: "pem" })) };
}

/** @param slo where it goes @throws {Problem} */
export async function logoutRequestOf(
  server: Server,
  slo: string,
  response: AuthorizationResponse,
  { binding, signedBy, nameId, isResponse }: LogoutMessage,
): Promise<{ readonly url: string; readonly parameters: URLSearchParams }> {
  const session = sessionIn(response);
  const key = signedBy === undefined ? null : await keyOf(server, signedBy);
  const [element, parameter] =
    isResponse === true ? (["LogoutResponse", "SAMLResponse"] as const) : (["LogoutRequest", "SAMLRequest"] as const);
  const id = `_${randomText(20)}`;
  const at = (later: number): string => new Date(Date.now() + later).toISOString().replace(/\.\d+Z$/, "Z");
  const open = new Xml(`<samlp:${element} xmlns:samlp="${spaces.protocol}" xmlns:saml="${spaces.assertion}"`);
  const issued = xml` ID="${id}" Version="2.0" IssueInstant="${at(0)}" Destination="${slo}"`;
  const index = session.index === undefined ? null : xml`<samlp:SessionIndex>${session.index}</samlp:SessionIndex>`;
  const content =
    element === "LogoutResponse"
      ? xml`${attribute("InResponseTo", `_${randomText(20)}`)}>
    <saml:Issuer>${session.issuer}</saml:Issuer>
    <samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>`
      : xml`${attribute("NotOnOrAfter", at(300_000))}>
    <saml:Issuer>${session.issuer}</saml:Issuer>
    <saml:NameID Format="${session.format}">${nameId ?? session.nameId}</saml:NameID>
    ${nameId === undefined ? index : null}`;
  const message = xml`${open}${issued}${content}${new Xml(`</samlp:${element}>`)}`;
  if (binding === "POST") {
    const sent = key === null ? message : signElement(message, element, id, key);
    return { url: slo, parameters: new URLSearchParams({ [parameter]: Buffer.from(sent.text).toString("base64") }) };
  }
  const parameters = [[parameter, deflateMessage(message.text)] as const];
  const query =
    key === null ? new URLSearchParams(parameters.map((pair) => [...pair])) : signQuery(parameters, key.key);
  return { url: slo, parameters: new URLSearchParams(query) };
}
