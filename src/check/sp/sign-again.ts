import type { AuthorizationResponse } from "../../client/app/visit.ts";
import { Problem } from "../../client/check.ts";
import type { Way } from "./messages.ts";
import { signElement, Xml } from "../../core/base/xml/write.ts";
import type { Server } from "../../serve/remote.ts";
import { keyOf } from "./logout-request.ts";

/** A response with other content, signed by this identity provider as the app wants it. */

const signatureForm = /<ds:Signature[ >][\s\S]*?<\/ds:Signature>/g;
const idOf = (text: string, name: string): string =>
  new RegExp(`<saml\\w*:${name} [^>]*?ID="([^"]*)"`).exec(text)?.[1] ?? "";

/** @throws {Problem} */
export async function signedAgain(
  server: Server,
  sign: Way["sign"],
  response: AuthorizationResponse,
  change: (text: string) => string,
): Promise<AuthorizationResponse> {
  const sent = Buffer.from(response.parameters.get("SAMLResponse") ?? "", "base64").toString();
  if (sent.includes(":EncryptedAssertion")) throw new Problem("an encrypted assertion cannot be changed");
  const key = await keyOf(server, "idp");
  let text = change(sent.replaceAll(signatureForm, ""));
  if (sign !== "response") {
    text = text.replace(/<saml:Assertion [\s\S]*<\/saml:Assertion>/, (assertion) => {
      return signElement(new Xml(assertion), "Assertion", idOf(assertion, "Assertion"), key).text;
    });
  }
  if (sign !== "assertion") text = signElement(new Xml(text), "Response", idOf(text, "Response"), key).text;
  const parameters = new URLSearchParams(response.parameters);
  parameters.set("SAMLResponse", Buffer.from(text).toString("base64"));
  return { ...response, parameters };
}
