import { DOMParser } from "@xmldom/xmldom";
import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";

/** The metadata, against the order and the required parts of the schema (saml-schema-metadata-2.0.xsd). */

/** The elements of each element in the order of the schema; those with + are required. */
const order = {
  EntityDescriptor: "Signature Extensions IDPSSODescriptor+ Organization ContactPerson AdditionalMetadataLocation",
  IDPSSODescriptor:
    "Signature Extensions KeyDescriptor Organization ContactPerson ArtifactResolutionService SingleLogoutService ManageNameIDService " +
    "NameIDFormat SingleSignOnService+ NameIDMappingService AssertionIDRequestService AttributeProfile Attribute",
  Extensions: "Scope",
  Scope: "",
  KeyDescriptor: "KeyInfo+ EncryptionMethod",
  KeyInfo: "KeyName KeyValue RetrievalMethod X509Data",
  X509Data: "X509Certificate+",
  SingleLogoutService: "",
  SingleSignOnService: "",
  NameIDFormat: "",
  X509Certificate: "",
} as const;
/** The attributes of each; those with + are required. */
const attributes: Readonly<Partial<Record<string, string>>> = {
  EntityDescriptor: "entityID+ validUntil cacheDuration ID",
  IDPSSODescriptor: "protocolSupportEnumeration+ WantAuthnRequestsSigned errorURL validUntil cacheDuration ID",
  KeyDescriptor: "use",
  Scope: "regexp+",
  SingleLogoutService: "Binding+ Location+ ResponseLocation",
  SingleSignOnService: "Binding+ Location+",
};
const signature = "http://www.w3.org/2000/09/xmldsig#";
const metadata = "urn:oasis:names:tc:SAML:2.0:metadata";

const wordsOf = (row: string) => row.split(" ").filter((word) => word !== "");
const plain = (word: string): string => word.replace("+", "");

function problemsOf(element: Element): readonly string[] {
  const name = element.localName;
  const row = (order as Readonly<Partial<Record<string, string>>>)[name];
  if (row === undefined) return [`${name}: unknown`];
  const children = Array.from(element.childNodes).filter((node): node is Element => node.nodeType === 1);
  const names = children.map((child) => child.localName);
  const known = wordsOf(row);
  const places = names.map((child) => known.map(plain).indexOf(child));
  const given = Array.from(element.attributes)
    .map((attribute) => attribute.name)
    .filter((attribute) => !attribute.startsWith("xmlns"));
  const allowed = wordsOf(attributes[name] ?? "");
  const space =
    name === "Scope"
      ? "urn:mace:shibboleth:metadata:1.0"
      : /^(?:Key(?:Info)|X509\w+)$/.test(name)
        ? signature
        : metadata;
  return [
    ...(element.namespaceURI === space ? [] : [`${name}: in ${element.namespaceURI ?? "no namespace"}`]),
    ...(places.includes(-1) ? [`${name}: has ${names.join(" ")}`] : []),
    ...(places.every((place, at) => at === 0 || place >= (places[at - 1] ?? 0))
      ? []
      : [`${name}: order ${names.join(" ")}`]),
    ...known.filter((word) => word.endsWith("+") && !names.includes(plain(word))).map((word) => `${name}: no ${word}`),
    ...given.filter((word) => !allowed.map(plain).includes(word)).map((word) => `${name}: attribute ${word}`),
    ...allowed
      .filter((word) => word.endsWith("+") && !given.includes(plain(word)))
      .map((word) => `${name}: no ${word}`),
    ...children.flatMap(problemsOf),
  ];
}

const read = (xml: string): Element => new DOMParser().parseFromString(xml, "text/xml").documentElement;

test.each(["", "keycloak", "entra"] as const)(
  "fits the schema, with one key and with two; paths: %s",
  async (endpoints) => {
    const settings = endpoints === "" ? {} : { endpoints };
    const idp = await serve({ fixtures: [{ users: [{ username: "alice" }], settings }] });
    const { metadata_url: url } = await idp.call("saml.show", {});
    const fetched = async () => (await fetch(url)).text();
    const one = await fetched();
    expect(problemsOf(read(one))).toEqual([]);
    await idp.call("keys.rotate", { saml: true });
    const two = await fetched();
    expect(problemsOf(read(two))).toEqual([]);
    expect(two.split("<md:KeyDescriptor")).toHaveLength(3);
    // What is not supported is not listed.
    expect(two).not.toMatch(/Artifact|SOAP|ManageNameID|AttributeAuthority|NameIDMapping/);
    // The check itself sees an element out of order, and one that is missing.
    expect(
      problemsOf(
        read(one.replace(/(<md:SingleLogoutService[\s\S]*?)(<md:NameIDFormat[\s\S]*?)(<md:SingleSign)/, "$2$1$3")),
      ),
    ).toHaveLength(1);
    expect(problemsOf(read(one.replaceAll(/<md:SingleSignOnService[^>]*>/g, "")))).toHaveLength(1);
  },
);
