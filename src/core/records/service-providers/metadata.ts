import { childOf, childrenOf, isTrue, parseXml, textIn, XmlProblem, type XmlElement } from "../../base/xml/parse.ts";
import { signatureSpace } from "../../base/xml/verify.ts";
import { bindings, nameIdFormats, rightFormat, spaces, type Binding, type NameIdKind } from "./names.ts";

/** The metadata of a service provider (SAML Metadata 2.4.4): what this server takes from it. */

export interface AcsEndpoint {
  readonly url: string;
  readonly index: number | null;
}

export interface SloEndpoint {
  readonly binding: Binding;
  readonly url: string;
  /** Where answers go. */
  readonly responseUrl: string;
}

export interface ProviderMetadata {
  readonly entityId: string;
  /** The services of HTTP-POST, the default first. */
  readonly acs: readonly AcsEndpoint[];
  readonly slo: readonly SloEndpoint[];
  /** Base64. */
  readonly signing: readonly string[];
  readonly encryption: readonly string[];
  /** The algorithms that it names for encryption, in its order; empty: it names none. */
  readonly encryptionMethods: readonly string[];
  /** Until when the document is valid, ISO 8601; null: it does not say. */
  readonly validUntil: string | null;
  /** Formats that it names by another version, which nobody defined. */
  readonly wrongFormats: readonly string[];
  readonly signsRequests: boolean;
  readonly wantsAssertionsSigned: boolean;
  /** The first format that this server has; null: none is named. */
  readonly nameid: NameIdKind | null;
}

/** More than one entity in a document: nobody can tell which is meant. */
export class SeveralEntities extends XmlProblem {}

/** @throws {XmlProblem} with what is wrong with the document */
export function readProviderMetadata(text: string): ProviderMetadata {
  const root = parseXml(text);
  const entity = entityIn(root);
  const { entityID: entityId = "" } = entity.attributes;
  if (entityId === "") throw new XmlProblem("its EntityDescriptor has no entityID");
  const roles = childrenOf(entity, spaces.metadata, "SPSSODescriptor");
  const role = roles.find(({ attributes }) =>
    (attributes["protocolSupportEnumeration"] ?? "").split(/[ \t\n]+/).includes(spaces.protocol),
  );
  if (role === undefined)
    throw new XmlProblem("it describes no service provider of SAML 2.0: it has no SPSSODescriptor for it");
  return {
    entityId,
    acs: acsIn(role),
    slo: sloIn(role),
    signing: certificatesIn(role, "signing"),
    encryption: certificatesIn(role, "encryption"),
    encryptionMethods: keysFor(role, "encryption").flatMap((key) =>
      childrenOf(key, spaces.metadata, "EncryptionMethod").map(({ attributes }) => attributes["Algorithm"] ?? ""),
    ),
    validUntil: earliest([root, entity, role].map(({ attributes }) => attributes["validUntil"])),
    wrongFormats: formatsIn(role).filter((format) => rightFormat(format) !== null),
    signsRequests: isTrue(role.attributes["AuthnRequestsSigned"]),
    wantsAssertionsSigned: isTrue(role.attributes["WantAssertionsSigned"]),
    nameid: nameIdIn(role),
  };
}

function entityIn(root: XmlElement): XmlElement {
  if (root.space !== spaces.metadata) throw new XmlProblem("it is not SAML metadata");
  if (root.name === "EntityDescriptor") return root;
  if (root.name !== "EntitiesDescriptor")
    throw new XmlProblem("it is not SAML metadata: its root is no EntityDescriptor");
  const [first, ...others] = root.children.filter(
    ({ name }) => name === "EntityDescriptor" || name === "EntitiesDescriptor",
  );
  if (first === undefined) throw new XmlProblem("it describes no entity");
  if (others.length > 0) throw new SeveralEntities("it describes several entities; give the EntityDescriptor of one");
  return entityIn(first);
}

function acsIn(role: XmlElement): readonly AcsEndpoint[] {
  const all = childrenOf(role, spaces.metadata, "AssertionConsumerService").filter(
    ({ attributes }) => attributes["Binding"] === bindings.post && attributes["Location"] !== undefined,
  );
  const byDefault = all.find(({ attributes }) => isTrue(attributes["isDefault"]));
  const first = byDefault === undefined ? [] : [byDefault];
  return [...first, ...all.filter((one) => one !== byDefault)].map(({ attributes }) => ({
    url: attributes["Location"] ?? "",
    index: /^\d{1,5}$/.test(attributes["index"] ?? "") ? Number(attributes["index"]) : null,
  }));
}

const sloIn = (role: XmlElement): readonly SloEndpoint[] =>
  childrenOf(role, spaces.metadata, "SingleLogoutService").flatMap(({ attributes }) => {
    const binding = (["redirect", "post"] as const).find((name) => bindings[name] === attributes["Binding"]);
    const { Location: url, ResponseLocation: responseUrl = url } = attributes;
    return binding === undefined || url === undefined || responseUrl === undefined
      ? []
      : [{ binding, url, responseUrl }];
  });

/** The earliest of the times. The schema refuses a text that is not a time. */
const earliest = (times: readonly (string | undefined)[]): string | null =>
  times
    .filter((time) => time !== undefined && !Number.isNaN(Date.parse(time)))
    .sort((one = "", other = "") => Date.parse(one) - Date.parse(other))[0] ?? null;

/** The types of these elements, anyURI and base64Binary, have no white space around the value (XML Schema 2 4.3.6). */
const collapsed = (element: XmlElement): string =>
  textIn(element)
    .split(/[ \t\n]+/)
    .filter((word) => word !== "")
    .join(" ");

/** A key without a use is for both (SAML Metadata 2.4.1.1). */
const keysFor = (role: XmlElement, use: string): readonly XmlElement[] =>
  childrenOf(role, spaces.metadata, "KeyDescriptor").filter(({ attributes }) => (attributes["use"] ?? use) === use);

const certificatesIn = (role: XmlElement, use: string): readonly string[] =>
  keysFor(role, use).flatMap((descriptor) => {
    const info = childOf(descriptor, signatureSpace, "KeyInfo");
    const data = info === undefined ? [] : childrenOf(info, signatureSpace, "X509Data");
    return data.flatMap((one) => childrenOf(one, signatureSpace, "X509Certificate")).map(collapsed);
  });

const formatsIn = (role: XmlElement): readonly string[] =>
  childrenOf(role, spaces.metadata, "NameIDFormat").map(collapsed);

function nameIdIn(role: XmlElement): NameIdKind | null {
  const kinds = Object.entries(nameIdFormats) as readonly (readonly [NameIdKind, string])[];
  for (const format of formatsIn(role)) {
    const kind = kinds.find(([, known]) => known === format)?.[0];
    if (kind !== undefined) return kind;
  }
  return null;
}
