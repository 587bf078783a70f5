import { checkHttpHost, checkEndpointUri } from "../../core/records/redirect-uri.ts";
import { keyKindOf } from "../../core/records/keys/certificate.ts";
import type { SamlFields } from "../../core/records/service-providers/schema.ts";
import { defaultSettings } from "../../core/admin/settings/table.ts";
import { addServiceProvider } from "../draft-clients.ts";
import { noteLoss, numberOf, unusable, type PlacedValue } from "../draft.ts";
import type { SourceRecord } from "../entry.ts";
import type { Mappers } from "./mappers.ts";

/** Clients of a Keycloak realm that speak SAML. */

/** What every client of Keycloak has, and what says nothing of an assertion here. */
const ownAttributes = (
  "saml.force.post.binding saml.authnstatement saml.signature.algorithm saml_signature_canonicalization_method saml.multivalued.roles " +
  "saml.server.signature.keyinfo.ext saml.server.signature.keyinfo.xmlSigKeyInfoKeyNameTransformer saml.signing.private.key " +
  "saml.artifact.binding.identifier saml_idp_initiated_sso_url_name saml.encryption.algorithm " +
  "saml.encryption.keyAlgorithm saml.encryption.digestMethod saml.encryption.maskGenerationFunction client.secret.creation.time realm_client " +
  "display.on.consent.screen post.logout.redirect.uris backchannel.logout.session.required"
).split(" ");

const notSupported = "is not supported by SAML here";

/** @param scopes the client scopes of its assertions, whose mappers count as its own */
export function readServiceProvider(client: SourceRecord, scopes: readonly SourceRecord[], mappers: Mappers): void {
  const attributes = client.below("attributes");
  const [name] = client.carry("name");
  const saml: { -readonly [Name in keyof SamlFields]: SamlFields[Name] } = {
    acs: acsOf(client, attributes),
    ...sloOf(attributes),
    ...keysOf(attributes),
    sign: signOf(attributes),
    nameid: nameIdOf(attributes),
    ...attributesOf([client, ...scopes], mappers),
    // Keycloak begins no sign-in without a name for the address.
    ...(!attributes.has("saml_idp_initiated_sso_url_name") && { unsolicited: false }),
  };
  const ttl = numberOf(attributes.get("saml.assertion.lifespan"));
  if (ttl !== undefined && ttl > 0) saml.assertion_ttl = ttl;
  if (attributes.text("saml.signature.algorithm")?.endsWith("SHA1") === true) {
    saml.allow_sha1 = true;
    attributes.note("responses are signed with RSA-SHA256 here", "saml.signature.algorithm");
  }
  addServiceProvider(client.draft, {
    place: client.place,
    id: client.carry("clientId"),
    name: String(name).startsWith("${") ? undefined : client.carry("name"),
    saml,
  });
  for (const name of ["saml.artifact.binding", "saml.allow.ecp.flow", "saml.onetimeuse.condition"])
    attributes.noteField(name, notSupported);
  attributes.noteField(
    "saml_idp_initiated_sso_relay_state",
    "a sign-in that begins here has the RelayState that its link to /saml/start names",
  );
  attributes.noteField("saml_force_name_id_format", "the NameID format of a request wins over that of the client here");
  attributes.ignore(ownAttributes.join(" "));
  // Fields of every client; those of OpenID Connect mean nothing for SAML.
  client.ignore(
    "id description rootUrl baseUrl adminUrl enabled protocol surrogateAuthRequired alwaysDisplayInConsole notBefore access consentRequired " +
      "clientAuthenticatorType secret webOrigins bearerOnly publicClient standardFlowEnabled implicitFlowEnabled directAccessGrantsEnabled " +
      "serviceAccountsEnabled frontchannelLogout fullScopeAllowed nodeReRegistrationTimeout defaultClientScopes optionalClientScopes",
  );
  client.noteUnread();
}

/** An address that a fixture can hold; anything else is noted. */
function usable({ draft }: SourceRecord, [value, at]: PlacedValue): readonly string[] {
  const uri = String(value);
  const why = uri.includes("*")
    ? `"${uri}" has a wildcard: add each address that responses are posted to to acs`
    : (unusable(draft, uri) ?? checkEndpointUri(uri) ?? checkHttpHost(uri, defaultSettings));
  if (why === null) return [uri];
  noteLoss(draft, at, why);
  return [];
}

const standIn = "http://localhost:3000/saml/acs";

/** The address of the client first, then the others that a request may name. */
function acsOf(client: SourceRecord, attributes: SourceRecord): [string, ...string[]] {
  const root = client.text("rootUrl")?.replace(/\/$/, "") ?? "";
  const below = ([uri, at]: PlacedValue): PlacedValue => [String(uri).startsWith("/") ? root + String(uri) : uri, at];
  const posted = attributes.each("saml_assertion_consumer_url_post");
  // The "Master SAML Processing URL" is for every address that the client does not give.
  const first = posted.length > 0 ? posted : client.each("adminUrl");
  const all = [...first, ...client.each("redirectUris")].map(below);
  const [one, ...more] = new Set(all.flatMap((carried) => usable(client, carried)));
  if (one !== undefined) return [one, ...more];
  client.note(`none of its addresses could be carried over; replace "${standIn}" with the one of your app`);
  return [standIn];
}

function sloOf(attributes: SourceRecord): Pick<SamlFields, "slo"> {
  const byRedirect = attributes.each("saml_single_logout_service_url_redirect");
  const byPost = attributes.each("saml_single_logout_service_url_post");
  const [slo] = [...byRedirect, ...byPost].flatMap((carried) => usable(attributes, carried));
  if (slo !== undefined && byRedirect.length === 0)
    attributes.note(
      "answers to LogoutRequests go to it by HTTP-Redirect here, unless metadata gives another binding",
      "saml_single_logout_service_url_post",
    );
  return slo === undefined ? {} : { slo };
}

/** The certificates, and what needs one. Assertions are encrypted for the first. */
function keysOf(attributes: SourceRecord): Pick<SamlFields, "certificates" | "encrypt" | "require_signed_requests"> {
  const certificateIn = (name: string): readonly string[] =>
    attributes.each(name).flatMap(([value, at]) => {
      const text = String(value);
      const why = unusable(attributes.draft, text) ?? (keyKindOf(text) === null ? "is not a certificate" : null);
      if (why !== null) noteLoss(attributes.draft, at, why);
      return why === null ? [text] : [];
    });
  const encryption = certificateIn("saml.encryption.certificate");
  const signing = certificateIn("saml.signing.certificate");
  const wants = (name: string, isPossible: boolean, instead: string): boolean => {
    const isOn = attributes.on(name) === true;
    if (isOn && !isPossible) attributes.note(`needs a certificate, which the file does not have: ${instead}`, name);
    return isOn && isPossible;
  };
  const [first] = encryption;
  const encrypts = wants(
    "saml.encrypt",
    first !== undefined && keyKindOf(first) === "rsa",
    "assertions are not encrypted",
  );
  const requires = wants("saml.client.signature", signing.length > 0, "requests need no signature");
  const certificates = [...new Set([...(encrypts ? encryption : []), ...signing])];
  const isGcm = attributes.text("saml.encryption.algorithm")?.includes("gcm") === true;
  return {
    ...(certificates.length > 0 && { certificates }),
    ...(encrypts && { encrypt: isGcm ? true : "cbc" }),
    ...(requires && { require_signed_requests: true }),
  };
}

/** Keycloak signs the document unless it is told not to, and the assertion only if it is told to. */
function signOf(attributes: SourceRecord): NonNullable<SamlFields["sign"]> {
  const ofResponse = attributes.on("saml.server.signature") !== false;
  const ofAssertion = attributes.on("saml.assertion.signature") === true;
  if (!ofResponse && !ofAssertion)
    attributes.note("responses are always signed here: the assertion is", "saml.server.signature");
  return ofResponse && ofAssertion ? "both" : ofResponse ? "response" : "assertion";
}

function nameIdOf(attributes: SourceRecord): NonNullable<SamlFields["nameid"]> {
  const [given, at] = attributes.carry("saml_name_id_format");
  const found = (["username", "email", "transient", "persistent"] as const).find((kind) => kind === given);
  if (found === undefined && typeof given === "string" && given !== "")
    noteLoss(attributes.draft, at, `the NameID format "${given}" is not supported: it is username`);
  return found ?? "username";
}

const ofProperties: Readonly<Partial<Record<string, string>>> = {
  username: "preferred_username",
  email: "email",
  firstName: "given_name",
  lastName: "family_name",
};

type Entry = NonNullable<SamlFields["attributes"]>[string];

/** The names that Keycloak gives to the formats of SAML Core 8.2. */
const formats: Readonly<Partial<Record<string, string>>> = {
  Basic: "basic",
  "URI Reference": "uri",
  Unspecified: "unspecified",
};

function formatOf(config: SourceRecord): string | undefined {
  const given = config.text("attribute.nameformat");
  return given === undefined
    ? undefined
    : (formats[given] ?? given.replace(/^urn:oasis:names:tc:SAML:2\.0:attrname-format:/, ""));
}

/** What the mappers send, each with the claim that has the value here. @param holders the client, and its client scopes */
function attributesOf(holders: readonly SourceRecord[], mappers: Mappers): Pick<SamlFields, "attributes"> {
  const found: Record<string, Entry> = {};
  for (const mapper of holders.flatMap((holder) => holder.list("protocolMappers"))) {
    const config = mapper.below("config");
    const kind = mapper.text("protocolMapper") ?? "";
    const attribute = config.text("attribute.name");
    const claim = claimOf(kind, config, mappers);
    const called = `mapper "${mapper.text("name") ?? ""}" (${kind})`;
    if (attribute === undefined || claim === undefined || Object.hasOwn(found, attribute)) {
      mapper.note(`${called} is not carried over: write it into attributes`);
      continue;
    }
    const format = formatOf(config);
    const isFormat = format === undefined || /^(?:basic|uri|unspecified|[A-Za-z][A-Za-z0-9+.-]*:[!-~]+)$/.test(format);
    if (!isFormat) mapper.note(`${called} has the name format "${format}", which is no URI: it is left out`);
    found[attribute] = entryOf(isFormat ? format : undefined, claim.replaceAll("\\.", "."), { kind, config });
    if (kind === "saml-role-list-mapper")
      mapper.note(`${called} sends the roles of the realm here: those of clients are in other claims of the user`);
  }
  return Object.keys(found).length === 0 ? {} : { attributes: found };
}

function entryOf(
  format: string | undefined,
  claim: string,
  { kind, config }: { readonly kind: string; readonly config: SourceRecord },
): Entry {
  const friendlyName = config.text("friendly.name");
  // Unless it is told otherwise, Keycloak sends an attribute for each role and group.
  const repeats = /^saml-(?:role-list|group-membership)-mapper$/.test(kind) && config.on("single") !== true;
  if (format === undefined && friendlyName === undefined && !repeats) return claim;
  return {
    claim,
    ...(format !== undefined && { name_format: format }),
    ...(friendlyName !== undefined && friendlyName !== "" && { friendly_name: friendlyName }),
    ...(repeats && { repeat: true }),
  };
}

function claimOf(kind: string, config: SourceRecord, mappers: Mappers): string | undefined {
  const source = config.text("user.attribute") ?? "";
  switch (kind) {
    case "saml-user-property-mapper":
      return ofProperties[source];
    case "saml-user-attribute-mapper":
      return (
        (ofProperties[source] ?? mappers.attributes.get(source)?.[0]?.claim ?? source.replaceAll(".", "\\.")) ||
        undefined
      );
    case "saml-group-membership-mapper":
      return mappers.groups[0]?.claim;
    case "saml-role-list-mapper":
      return mappers.realmRoles[0]?.claim;
    default:
      return undefined;
  }
}
