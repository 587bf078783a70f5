import { hash } from "node:crypto";
import type { Client, User } from "../../../store/store.ts";
import { pemOf } from "../keys/certificate.ts";
import { durationOf } from "../../../text/time.ts";
import type { AcsEndpoint, ProviderMetadata, SloEndpoint } from "./metadata.ts";
import { algorithmOf, formatOf, nameIdFormats, type EncryptionAlgorithm, type NameIdKind } from "./names.ts";
import type { SamlFields } from "./schema.ts";
import { nameFormat, shapes, type AttributeRow, type SignChoice } from "./shapes.ts";
import type { Context } from "../../context.ts";
import { emailOf } from "../scopes/claims.ts";

/** What applies to a service provider in the end: its own fields, then its shape, then its metadata, then the defaults. */
export interface ServiceProvider {
  readonly entityId: string;
  /** The first is the default. */
  readonly acs: readonly AcsEndpoint[];
  /** Null: it has no logout. */
  readonly slo: SloEndpoint | null;
  /** PEM: any of them may sign its requests. */
  readonly certificates: readonly string[];
  /** PEM: for the holder of this one, assertions are encrypted; null: they are not. */
  readonly encryption: { readonly certificate: string; readonly algorithm: EncryptionAlgorithm } | null;
  readonly requiresSigned: boolean;
  readonly sign: SignChoice;
  readonly nameid: NameIdKind;
  readonly nameFormat: string | null;
  readonly attributes: readonly AttributeRow[];
  /** Whether the operator named the attributes, in place of a shape. */
  readonly ownAttributes: boolean;
  /** What the user does not have is sent without a value. */
  readonly sendsEmpty: boolean;
  readonly unsolicited: boolean;
  /** Seconds. */
  readonly assertionTtl: number;
  readonly allowSha1: boolean;
}

/** The fields of a client that is a service provider; undefined for any other. */
export const samlOf = (client: { readonly saml?: unknown }): SamlFields | undefined =>
  client.saml as SamlFields | undefined;

/** @param metadata what the field `metadata` says; null without it */
export function providerOf(entityId: string, fields: SamlFields, metadata: ProviderMetadata | null): ServiceProvider {
  const shape = shapes[fields.shape ?? "standard"];
  // A shape that was chosen is a field too.
  const ofMetadata = fields.shape === undefined ? metadata : null;
  const given = fields.certificates?.map(pemOf);
  const certificates = given ?? metadata?.signing.map(pemOf) ?? [];
  const [encryptTo] = given ?? metadata?.encryption.map(pemOf) ?? [];
  const { encrypt = false, assertion_ttl: ttl = 300 } = fields;
  return {
    entityId,
    acs: fields.acs?.map((one) => (typeof one === "string" ? { url: one, index: null } : one)) ?? metadata?.acs ?? [],
    slo: sloOf(fields, metadata),
    certificates,
    encryption:
      encrypt === false || encryptTo === undefined
        ? null
        : {
            certificate: encryptTo,
            algorithm:
              encrypt === "cbc" ? "aes256-cbc" : (algorithmOf(metadata?.encryptionMethods ?? []) ?? "aes256-gcm"),
          },
    requiresSigned: fields.require_signed_requests ?? metadata?.signsRequests ?? false,
    sign: fields.sign ?? signOf(fields, metadata),
    nameid: fields.nameid ?? ofMetadata?.nameid ?? shape.nameid,
    nameFormat: shape.nameFormat,
    attributes:
      fields.attributes === undefined
        ? shape.attributes
        : Object.entries(fields.attributes).map(([name, entry]) => rowOf(name, entry)),
    ownAttributes: fields.attributes !== undefined,
    sendsEmpty: shape.sendsEmpty === true,
    unsolicited: fields.unsolicited ?? true,
    assertionTtl: typeof ttl === "number" ? ttl : durationOf(ttl),
    allowSha1: fields.allow_sha1 ?? false,
  };
}

/** A shape that was chosen is a field too; Keycloak signs assertions where the metadata wants that. */
function signOf({ shape = "standard" }: SamlFields, metadata: ProviderMetadata | null): SignChoice {
  const { sign } = shapes[shape];
  return shape === "keycloak" && metadata?.wantsAssertionsSigned === true ? "both" : sign;
}

function rowOf(name: string, entry: NonNullable<SamlFields["attributes"]>[string]): AttributeRow {
  if (typeof entry === "string") return { name, source: { claim: entry } };
  const { claim, name_format: format, friendly_name: friendlyName, repeat } = entry;
  return {
    name,
    source: { claim },
    ...(format !== undefined && { nameFormat: nameFormat(format) }),
    ...(friendlyName !== undefined && { friendlyName }),
    ...(repeat !== undefined && { repeat }),
  };
}

/** The binding is that of the metadata for this address, else HTTP-Redirect. */
function sloOf({ slo: url }: SamlFields, metadata: ProviderMetadata | null): SloEndpoint | null {
  const all = metadata?.slo ?? [];
  if (url === undefined) return all[0] ?? null;
  return all.find((one) => one.url === url) ?? { binding: "redirect", url, responseUrl: url };
}

/** Those of clients with metadata, which is read once: the metadata of this server depends on all of them. */
const providers = new WeakMap<Client, ServiceProvider>();

/**
 * The service provider of a client; null: the client has no `saml`. XML code is loaded only for one with metadata.
 * @throws {XmlProblem} never for a client that was checked: its metadata was read then
 */
export async function serviceProvider(client: Client): Promise<ServiceProvider | null> {
  const fields = samlOf(client);
  if (fields === undefined) return null;
  const known = providers.get(client);
  if (known !== undefined) return known;
  const provider = providerOf(client.client_id, fields, await metadataOf(fields));
  if (fields.metadata !== undefined) providers.set(client, provider);
  return provider;
}

const metadataOf = async ({ metadata }: SamlFields): Promise<ProviderMetadata | null> =>
  metadata === undefined ? null : (await import("./metadata.ts")).readProviderMetadata(metadata);

/** The name of a user for a service provider (SAML Core 8.3), and the claims that attributes are made of. */

export interface NameId {
  readonly format: string;
  readonly value: string;
}

/** The kind of name that a request asks for. @returns null: this server does not have the format */
export function askedNameId(format: string | null, byDefault: NameIdKind): NameIdKind | null {
  if (format === null || format === nameIdFormats.unspecified) return byDefault;
  const known = (["email", "persistent", "transient"] as const).find((kind) => nameIdFormats[kind] === format);
  return known ?? null;
}

/** How names are made for a service provider. */
export interface Naming {
  readonly kind: NameIdKind;
  readonly entityId: string;
}

type Namer = Pick<Context, "random" | "issuer">;

/** The name of a user; null: the user has no such claim. */
export function nameIdOf(ctx: Namer, naming: Naming, user: User): NameId | null {
  const value = nameValueOf(ctx, naming, user);
  return value === null ? null : { format: formatOf(naming.kind), value };
}

export function nameValueOf({ random, issuer }: Namer, { kind, entityId }: Naming, user: User): string | null {
  switch (kind) {
    case "email":
    case "unspecified": {
      const email = emailOf(user);
      return typeof email === "string" ? email : null;
    }
    case "persistent":
      // Another one for each service provider, so that two cannot compare (SAML Core 8.3.7), and the same on every run.
      return hash("sha256", JSON.stringify([issuer, entityId, user.id]), "base64url");
    case "username":
      return user.username;
    case "transient":
      return `_${random(24)}`;
  }
}
