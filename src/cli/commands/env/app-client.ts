import type { ClientView } from "../../../core/records/clients/admin.ts";
import { baseOf, discoveryPath } from "../../../core/base/endpoints.ts";
import type { FoundFixtures } from "../../../serve/fixture-files.ts";
import { hasOpenPort } from "../../../core/records/redirect-uri.ts";
import { tryItClientId } from "../../../core/base/identifiers.ts";
import { loginClient } from "../init/app-types.ts";
import { isObject } from "../../../text/json.ts";
import type { Client } from "../../../store/store.ts";
import { base64Of, fingerprintsOf } from "../../../core/records/keys/certificate.ts";
import type { SamlView } from "../../../core/saml/addresses.ts";
import { presets } from "../../../core/base/layout/presets.ts";
import type { OperationOutput } from "../../../core/admin/operations/table.ts";
import type { AppValues } from "./app-variables.ts";

/** Which client an app is, and what the app has to know about it. */

/** The redirect URIs that an app can use as they are, not those with an open port (RFC 8252 7.3). */
export const fixedRedirectUris = (client: ClientView): readonly string[] =>
  client.redirect_uris.filter((uri) => !hasOpenPort(uri));

/** The clients that are apps of this folder, not those of `idp login` and "Try it" or of strangers; all of them if there are no others. */
export function appsAmong(clients: readonly ClientView[]): readonly ClientView[] {
  const isApp = ({ client_id: id, metadata_document, self_registered }: ClientView): boolean =>
    id !== loginClient && id !== tryItClientId && metadata_document !== true && self_registered !== true;
  const apps = clients.filter(isApp);
  return apps.length > 0 ? apps : clients;
}

/** Whether the fixture files of this folder name a client. Such a client is the likely one, rather than one that the demo left in the data. */
export function namedIn({ sources }: FoundFixtures): (client: ClientView) => boolean {
  const ids = new Set(sources.flatMap((source) => ("text" in source ? clientIdsIn(source.text) : [])));
  return ({ client_id }) => ids.has(client_id);
}

/** The client ids in a file, which may be too long to parse. JSON and YAML write this field in the same way. */
const clientIdsIn = (text: string): readonly string[] =>
  Array.from(text.matchAll(/\bclient_id["']?\s*:\s*(?:"([^"]+)"|'([^']+)'|([^\s,}#]+))/g), ([, ...ids]) =>
    ids.join(""),
  );

/**
 * The likely client if none was named: the first app that signs users in, else the first; undefined without any.
 * @param isNamed whether a client goes before the others
 */
export function likelyClient(
  clients: readonly ClientView[],
  isNamed: (client: ClientView) => boolean = () => false,
): ClientView | undefined {
  const all = appsAmong(clients);
  const named = all.filter(isNamed);
  const apps = named.length > 0 ? named : all;
  return (
    apps.find((client) => fixedRedirectUris(client).length > 0) ??
    apps.find(({ redirect_uris }) => redirect_uris.length > 0) ??
    apps[0]
  );
}

/** What the SCIM server of the app compares with what it is sent. */
function scimVariables(scim: unknown): Readonly<Record<string, string>> {
  const token = isObject(scim) ? scim["token"] : undefined;
  if (typeof token === "string") return { SCIM_TOKEN: token };
  const basic = isObject(token) ? token["basic"] : undefined;
  if (typeof basic !== "string") return {};
  const at = basic.indexOf(":");
  return { SCIM_USER: basic.slice(0, at), SCIM_PASSWORD: basic.slice(at + 1) };
}

/** The variables that the client itself brings along, without those that the app's environment has already. @param client shown with its secret */
export function ownEnvOf(
  client: ClientView | undefined,
  has: (name: string) => boolean,
): readonly (readonly [name: string, value: string])[] {
  const env = client?.["env"];
  return Object.entries({ ...scimVariables(client?.["scim"]), ...(isObject(env) ? env : {}) }).flatMap(
    ([name, value]) => (typeof value === "string" && !has(name) ? [[name, value] as const] : []),
  );
}

/** What a vendor's app has built in: it is configured with the addresses of the endpoints. */
const builtIn = ["google", "github", "apple"] as const;
export type BuiltInVendor = (typeof builtIn)[number];

/** Which of them an issuer answers as, by the path of its authorization endpoint; null for none. */
export const vendorOf = ({ authorize }: { readonly authorize: string }): BuiltInVendor | null =>
  builtIn.find((name) => authorize.endsWith(presets[name].paths.authorize)) ?? null;

type Status = OperationOutput<"status">;
type Served = Pick<Status, "issuer"> & Partial<Pick<Status, "endpoints">>;

function addressesOf({ issuer, endpoints }: Served) {
  const vendor = endpoints === undefined ? null : vendorOf(endpoints);
  const own =
    vendor === "github" ? { issuer: null, discovery: null } : { issuer, discovery: baseOf(issuer) + discoveryPath };
  if (vendor === null || endpoints === undefined)
    return { ...own, authorization_url: null, token_url: null, userinfo_url: null };
  const { authorize: authorization_url, token: token_url, userinfo } = endpoints;
  return { ...own, authorization_url, token_url, userinfo_url: vendor === "apple" ? null : userinfo };
}

/** The values of an app's environment. @param served absent endpoints: those of no vendor @param client shown with its secret */
export function valuesOf(served: Served, given: ClientView | undefined): AppValues {
  // A service provider of SAML uses nothing of OpenID Connect.
  const client = given?.["saml"] === undefined ? given : undefined;
  const secret = client?.public === false ? client["client_secret"] : undefined;
  return {
    ...addressesOf(served),
    client_id: client?.client_id ?? null,
    client_secret: typeof secret === "string" ? secret : null,
    redirect_uri: (client && fixedRedirectUris(client)[0]) ?? null,
  };
}

/** The service provider of SAML whose variables an app gets: the chosen client, else the first one. */
export const samlClientAmong = (
  clients: readonly ClientView[],
  chosen: ClientView | undefined,
): ClientView | undefined =>
  chosen?.["saml"] === undefined ? clients.find((client) => client["saml"] !== undefined) : chosen;

/** What a service provider of SAML is configured with. */
export async function samlVariables(
  client: ClientView | undefined,
  show: () => Promise<SamlView>,
): Promise<readonly (readonly [name: string, value: string])[]> {
  if (client === undefined) return [];
  const { entity_id, metadata_url, sso_url, certificate } = await show();
  const { sha256, sha1 } = fingerprintsOf(certificate);
  const { serviceProvider } = await import("../../../core/records/service-providers/provider.ts");
  const provider = await serviceProvider(client as unknown as Client);
  return [
    ["SAML_IDP_METADATA_URL", metadata_url],
    ["SAML_IDP_ENTITY_ID", entity_id],
    ["SAML_IDP_SSO_URL", sso_url],
    // In one line, as every library takes it and every file of variables holds it.
    ["SAML_IDP_CERT", base64Of(certificate)],
    ["SAML_IDP_CERT_SHA256", sha256],
    ["SAML_IDP_CERT_SHA1", sha1],
    ["SAML_SP_ENTITY_ID", client.client_id],
    ["SAML_ACS_URL", provider?.acs[0]?.url ?? ""],
  ];
}
