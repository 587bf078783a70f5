/*
 * core/protocol/client-metadata: what a client may be. schema.ts has the form of each field (RFC 7591 2), rules.ts what must fit together, and
 * rules-json-schema.ts says the same in JSON Schema; provisioning.ts has the fields of SCIM.
 * It comes after tokens, because grant types are declared there.
 */
import { assertionAlgorithms, grantTypesOf, isPublic } from "../../records/clients/clients.ts";
import { loginClient } from "../../base/identifiers.ts";
import { keyKindOf } from "../../records/keys/certificate.ts";
import { privateMembers } from "../../records/keys/keys.ts";
import { patternSuffixProblem } from "../../records/clients/redirect-patterns.ts";
import { hasOpenPort, checkHttpHost, type UriSettings } from "../../records/redirect-uri.ts";
import { formProblem, pathOf, pathProblem } from "../../../scim/paths.ts";
import { addressProblem } from "../../base/outbound.ts";
import { isTextClaim } from "../../records/scopes/claim-table.ts";
import type { SamlFields } from "../../records/service-providers/schema.ts";
import { grantTypesThatNeed } from "../tokens/grant-types/list.ts";
import type { FixtureClient } from "./schema.ts";

/** The rules over several fields of a client, and over its fields and the settings. */

export interface ClientProblem {
  readonly field: keyof FixtureClient;
  /** Where in it: the index in a list. */
  readonly below?: readonly (string | number)[];
  readonly message: string;
  readonly conflictsWith: "settings" | "record";
}

/** Addresses of a client that the settings do not allow. */
function uriProblems(client: FixtureClient, settings: UriSettings): ClientProblem[] {
  const problems: ClientProblem[] = [];
  for (const field of ["redirect_uris", "post_logout_redirect_uris", "allowed_origins"] as const) {
    for (const [index, uri] of (client[field] ?? []).entries()) {
      const message = checkHttpHost(uri, settings);
      if (message !== null) problems.push({ field, below: [index], message, conflictsWith: "settings" });
      else if (hasOpenPort(uri) && !isPublic(client) && !settings.any_loopback_port) {
        const rule = "which is for public clients (RFC 8252 7.3), or for all with the setting any_loopback_port";
        problems.push({
          field,
          below: [index],
          message: `"${uri}" leaves the port open, ${rule}`,
          conflictsWith: "settings",
        });
      }
    }
  }
  for (const field of ["backchannel_logout_uri", "initiate_login_uri"] as const) {
    const message = checkHttpHost(client[field] ?? "", settings);
    if (message !== null) problems.push({ field, message, conflictsWith: "settings" });
  }
  const asked = {
    jwks_uri: client.jwks_uri,
    backchannel_logout_uri: client.backchannel_logout_uri,
    scim: client.scim?.url,
    global_token_revocation: client.global_token_revocation?.uri,
  };
  for (const [field, uri = ""] of Object.entries(asked) as [keyof typeof asked, string | undefined][]) {
    // Some addresses are for nobody: link-local ones, where clouds keep their credentials.
    const why = URL.canParse(uri) ? addressProblem(uri, settings.reach ?? "local") : null;
    if (why !== null) problems.push({ field, message: `"${uri}" cannot be used: ${why}`, conflictsWith: "settings" });
  }
  for (const { uri, below } of samlAddresses(client.saml ?? {})) {
    const message = checkHttpHost(uri, settings);
    if (message !== null) problems.push({ field: "saml", below, message, conflictsWith: "settings" });
  }
  return problems;
}

function samlAddresses({
  acs = [],
  slo,
}: SamlFields): readonly { readonly uri: string; readonly below: readonly (string | number)[] }[] {
  return [
    ...acs.map((one, at) =>
      typeof one === "string" ? { uri: one, below: ["acs", at] } : { uri: one.url, below: ["acs", at, "url"] },
    ),
    ...(slo === undefined ? [] : [{ uri: slo, below: ["slo"] }]),
  ];
}

/** The fields of OpenID Connect, which a service provider of SAML cannot have. */
const besideSaml = ["redirect_uris", "redirect_patterns", "client_secret", "grant_types", "scope"] as const;

/** The rules of a service provider that need nothing but its own fields; {@link laterProblems} has those that need its metadata. */
function samlProblems(
  client: FixtureClient,
  saml: SamlFields,
  add: (field: keyof FixtureClient, message: string, below?: readonly string[]) => void,
): void {
  for (const field of besideSaml) {
    const given = client[field];
    if (given === undefined || (field === "redirect_uris" && given.length === 0)) continue;
    add(
      field,
      "is given beside saml: a service provider of SAML uses nothing of OpenID Connect; leave one of them out",
    );
  }
  const indexes = (saml.acs ?? []).flatMap((one) => (typeof one === "string" ? [] : [one.index]));
  const twice = indexes.find((index, at) => indexes.indexOf(index) !== at);
  if (twice !== undefined) add("saml", `gives two addresses the index ${twice}`, ["acs"]);
  if (saml.metadata !== undefined) return;
  if (saml.acs === undefined)
    add("saml", "needs acs, or metadata that has it: the addresses that responses are posted to");
  const encrypts = saml.encrypt !== undefined && saml.encrypt !== false;
  const [first] = saml.certificates ?? [];
  if (first !== undefined) {
    if (encrypts && keyKindOf(first) !== "rsa")
      add("saml", "needs a certificate with an RSA key as the first one", ["encrypt"]);
    return;
  }
  if (saml.require_signed_requests === true)
    add("saml", "needs a certificate in certificates, by which signed requests are checked", [
      "require_signed_requests",
    ]);
  if (encrypts) add("saml", "needs a certificate in certificates, for whose key assertions are encrypted", ["encrypt"]);
}

/** Mapped attributes that no user can have a value for. */
function scimProblems(attributes: Readonly<Record<string, string>>): ClientProblem[] {
  return Object.entries(attributes).flatMap(([attribute, claim]) => {
    const path = pathOf(attribute);
    const takes = isTextClaim(claim) ? formProblem(path, "") : null;
    const message = pathProblem(path) ?? (takes === null ? null : `takes ${takes}, and the claim "${claim}" is a text`);
    const below = ["attributes", attribute];
    return message === null ? [] : [{ field: "scim" as const, below, message, conflictsWith: "record" as const }];
  });
}

/** Whether {@link laterProblems} has anything to check. */
export const hasLaterProblems = ({ saml, redirect_patterns }: FixtureClient): boolean =>
  saml?.metadata !== undefined || redirect_patterns !== undefined;

/** The rules that need more code: of a service provider with metadata (XML), and of patterns (the list of public suffixes). */
export async function laterProblems(client: FixtureClient, settings: UriSettings): Promise<ClientProblem[]> {
  return [...(await suffixProblems(client)), ...(await providerProblems(client, settings))];
}

async function suffixProblems({ redirect_patterns: patterns = [] }: FixtureClient): Promise<ClientProblem[]> {
  const messages = await Promise.all(patterns.map(patternSuffixProblem));
  return messages.flatMap((message, index) =>
    message === null
      ? []
      : [{ field: "redirect_patterns" as const, below: [index], message, conflictsWith: "record" as const }],
  );
}

async function providerProblems(client: FixtureClient, settings: UriSettings): Promise<ClientProblem[]> {
  const { saml } = client;
  if (saml?.metadata === undefined) return [];
  const { problemsOfMetadata } = await import("../../records/service-providers/check-metadata.ts");
  return problemsOfMetadata(client.client_id, saml, settings).map((problem) => ({ field: "saml", ...problem }));
}

const isAppleKey = ({ kty, crv }: Readonly<Record<string, unknown>>): boolean => kty === "EC" && crv === "P-256";

/** What the clients of Apple and GitHub need. @param endpoints the setting */
function vendorProblems(client: FixtureClient, endpoints: unknown): ClientProblem[] {
  const { apple_team: team, client_secret: secret, jwks, saml } = client;
  const of = (field: keyof FixtureClient, message: string, conflictsWith: ClientProblem["conflictsWith"]) => [
    { field, message, conflictsWith },
  ];
  // Our own client, of `idp login`, has no secret anywhere.
  const isApp = saml === undefined && client.client_id !== loginClient;
  if (team !== undefined) {
    if (jwks?.keys.some(isAppleKey) !== true)
      return of(
        "apple_team",
        "needs the public ES256 key of the client in jwks, by which its secrets are checked",
        "record",
      );
    if (secret !== undefined)
      return of("client_secret", "is given beside apple_team, whose secret is a JWT; leave one of them out", "record");
    const method = client.token_endpoint_auth_method;
    if (method !== undefined)
      return of("token_endpoint_auth_method", "is given beside apple_team, which is a method itself", "record");
  }
  if (endpoints === "apple" && isApp && team === undefined)
    return of(
      "apple_team",
      "is missing: with the endpoints of Apple a client has it, and an ES256 key in jwks",
      "settings",
    );
  if (endpoints === "github" && isApp && secret === undefined)
    return of("client_secret", "is missing: every app has one at GitHub", "settings");
  return [];
}

const hasKeys = (client: FixtureClient): boolean => client.jwks !== undefined || client.jwks_uri !== undefined;

/** Every rule that the client breaks. */
export function clientProblems(client: FixtureClient, settings: UriSettings): ClientProblem[] {
  const problems = uriProblems(client, settings);
  const add = (field: keyof FixtureClient, message: string, below?: readonly string[]): void =>
    void problems.push({ field, message, conflictsWith: "record", ...(below !== undefined && { below }) });
  if (client.saml !== undefined) samlProblems(client, client.saml, add);
  problems.push(...scimProblems(client.scim?.attributes ?? {}));
  const grantTypes = grantTypesOf(client);
  const redirectUris = client.redirect_uris ?? [];
  const method = client.token_endpoint_auth_method;

  if (client.redirect_patterns !== undefined && isPublic(client)) {
    add(
      "redirect_patterns",
      "need a client that can prove who it is; give it a client_secret, or register each address in redirect_uris (RFC 9700 2.1)",
    );
  }
  if (
    grantTypes.includes("authorization_code") &&
    redirectUris.length === 0 &&
    client.redirect_patterns === undefined
  ) {
    const why = client.grant_types === undefined ? ", which is the default" : "";
    add("redirect_uris", `needs an address for authorization_code${why}; a client without it lists its grant_types`);
  }
  for (const { name, needs } of grantTypesThatNeed("authentication")) {
    if (!isPublic(client) || !grantTypes.includes(name)) continue;
    const short = name.replace(/^urn:.*:/, "");
    add(
      "grant_types",
      `has ${short}, which needs a client that can prove who it is; give it a client_secret (${needs?.rule ?? ""})`,
    );
  }
  if (method === "none" && client.federated_credentials !== undefined) {
    add("federated_credentials", 'is given, but token_endpoint_auth_method is "none": leave one of them out');
  }
  if (client.response_types?.includes("code") === true && !grantTypes.includes("authorization_code")) {
    add("response_types", '"code" needs authorization_code in grant_types (RFC 7591 2.1)');
  }
  if (method === "none" && client.client_secret !== undefined) {
    add("client_secret", 'is given, but token_endpoint_auth_method is "none": leave one of them out');
  }
  if (method?.startsWith("client_secret_") === true && client.client_secret === undefined) {
    add("token_endpoint_auth_method", `"${method}" needs a client_secret`);
  }
  if (method === "private_key_jwt" && !hasKeys(client)) {
    add("token_endpoint_auth_method", '"private_key_jwt" needs the client\'s public keys in jwks or jwks_uri');
  }
  const assertionAlg = client.token_endpoint_auth_signing_alg;
  if (assertionAlg !== undefined && (method === "client_secret_jwt" || method === "private_key_jwt")) {
    const good = assertionAlgorithms[method];
    if (!good.some((alg) => alg === assertionAlg))
      add("token_endpoint_auth_signing_alg", `"${assertionAlg}" is not for "${method}"; use ${good.join(", ")}`);
  }
  if (client.id_token_signed_response_alg === "HS256" && client.client_secret === undefined) {
    add(
      "id_token_signed_response_alg",
      '"HS256" signs with the client_secret, and there is none (OpenID Connect Core 10.1)',
    );
  }
  if (client.jwks !== undefined && client.jwks_uri !== undefined) {
    add("jwks_uri", "is given beside jwks; leave one of them out (RFC 7591 2)");
  }
  problems.push(...vendorProblems(client, settings.endpoints));
  if (client.jwks?.keys.some((key) => privateMembers.some((member) => Object.hasOwn(key, member))) === true) {
    add("jwks", "holds a private or secret key; register public keys only");
  }
  return problems;
}
