import type { ClientView } from "../../core/clients/admin.ts";
import type { FoundFixtures } from "../../serve/fixture-files.ts";
import { hasOpenPort } from "../../core/clients/redirect-uri.ts";
import { tryItClientId } from "../../core/clients/client-id.ts";
import { loginClient } from "../program/app-types.ts";
import { isObject } from "../../text/json-object.ts";
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

/** The variables that the client itself brings along, without those that the app's environment has already. @param client shown with its secret */
export function ownEnvOf(
  client: ClientView | undefined,
  has: (name: string) => boolean,
): readonly (readonly [name: string, value: string])[] {
  const env = client?.["env"];
  return Object.entries(isObject(env) ? env : {}).flatMap(([name, value]) =>
    typeof value === "string" && !has(name) ? [[name, value] as const] : [],
  );
}

/** The values of an app's environment. @param client shown with its secret */
export function valuesOf(issuer: string, client: ClientView | undefined): AppValues {
  const secret = client?.public === false ? client["client_secret"] : undefined;
  return {
    issuer,
    client_id: client?.client_id ?? null,
    client_secret: typeof secret === "string" ? secret : null,
    redirect_uri: (client && fixedRedirectUris(client)[0]) ?? null,
  };
}
