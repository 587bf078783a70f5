import type { ClientView } from "../../../core/clients/admin.ts";
import { OperationError } from "../../../core/errors.ts";
import { commandOn, type Hint } from "../../../core/hint.ts";
import { fixedRedirectUris, valuesOf } from "./app-client.ts";
import type { Library } from "./choices.ts";
import { installedMajor } from "./manifest.ts";
import { authjs, nextAuth } from "./libraries/authjs.ts";
import { betterAuth } from "./libraries/better-auth.ts";
import { nuxtAuthUtils, fastifyOauth2, honoOidcAuth } from "./libraries/servers.ts";
import { asTexts, asVariables, type Variables } from "./libraries/expressions.ts";
import { angularAuthOidcClient, keycloakJs, msal, oidcClientTs, reactOidcContext } from "./libraries/browser.ts";
import type { Code, Form, Parts, Piece, ServedStatus } from "./libraries/form.ts";
import { expressOpenidConnect, passport } from "./libraries/node.ts";
import { openidClient } from "./libraries/openid-client.ts";
import { go, grafana, mcpInspector, oauth2Proxy, spring } from "./libraries/others.ts";
import { aspnetcore, laravel, modAuthOpenidc, omniauth, symfony } from "./libraries/elsewhere.ts";
import { googleAuthLibrary, octokit, passportGithub, passportGoogle } from "./libraries/vendors.ts";
import { authlib, django } from "./libraries/python.ts";

/** The configuration of each library that signs users in. */

export const forms: Readonly<Record<Library, Form>> = {
  authjs,
  "next-auth": nextAuth,
  "better-auth": betterAuth,
  "nuxt-auth-utils": nuxtAuthUtils,
  "openid-client": openidClient,
  passport,
  "express-openid-connect": expressOpenidConnect,
  "hono-oidc-auth": honoOidcAuth,
  "fastify-oauth2": fastifyOauth2,
  "react-oidc-context": reactOidcContext,
  "oidc-client-ts": oidcClientTs,
  msal,
  "keycloak-js": keycloakJs,
  "angular-auth-oidc-client": angularAuthOidcClient,
  spring,
  django,
  authlib,
  go,
  "oauth2-proxy": oauth2Proxy,
  grafana,
  "mcp-inspector": mcpInspector,
  aspnetcore,
  omniauth,
  mod_auth_openidc: modAuthOpenidc,
  laravel,
  symfony,
  "passport-google-oauth20": passportGoogle,
  "passport-github2": passportGithub,
  octokit,
  "google-auth-library": googleAuthLibrary,
};

/** Authentication methods that do not send the secret itself. */
const assertions: readonly unknown[] = ["private_key_jwt", "client_secret_jwt"];

const webUris = (client: ClientView): readonly string[] =>
  fixedRedirectUris(client).filter((uri) => /^https?:/.test(uri));

/** Why a library cannot use a client; null if it can. */
function refusalOf(library: Library, client: ClientView): string | null {
  const form = forms[library];
  const method = client["token_endpoint_auth_method"];
  if (webUris(client).length === 0) return "it has no redirect URI with a fixed port on the web, which this needs";
  if (assertions.includes(method)) {
    return `it has to authenticate with ${String(method)}, which this prints no configuration for`;
  }
  if (client.public && form.clients === "confidential") return "it is public, and this library needs a secret";
  if (!client.public && form.clients === "public") return "it has a secret, which an app in the browser cannot keep";
  return form.refusal?.(client) ?? null;
}

/** Whether a library can use a client; only such a client is proposed. */
export const canUse =
  (library: Library) =>
  (client: ClientView): boolean =>
    refusalOf(library, client) === null;

/** @throws {OperationError} refused if the library cannot use the client */
function checkClient(library: Library, client: ClientView): void {
  const refusal = refusalOf(library, client);
  if (refusal === null) return;
  throw new OperationError("refused", `${library} cannot use the client ${client.client_id}: ${refusal}`, {
    hint: { text: "Another client", command: ["idp", "env", "--for", library, "--client", "CLIENT_ID"] },
  });
}

/** @param folder the app's, for the installed versions @param variables where code finds the values; null if they are in the code */
function partsOf(
  { returnsTo, usual, package: name }: Form,
  { issuer, endpoints }: ServedStatus,
  client: ClientView,
  { folder, variables }: { readonly folder: string; readonly variables: Variables | null },
): { readonly parts: Parts; readonly isRegistered: boolean } {
  const uris = webUris(client);
  const registered = uris.find((uri) => returnsTo.test(uri));
  const redirectUri = registered ?? new URL(usual, uris[0]).href;
  const origins = uris.map((uri) => new URL(uri).origin);
  const {
    scope,
    token_endpoint_auth_method: method,
    id_token_signed_response_alg: alg,
    post_logout_redirect_uris: postLogout,
  } = client;
  const { client_secret: secret } = valuesOf({ issuer }, client);
  const values = { issuer, clientId: client.client_id, secret, redirectUri };
  const parts = {
    ...values,
    endpoints,
    postLogoutRedirectUri: Array.isArray(postLogout) && typeof postLogout[0] === "string" ? postLogout[0] : null,
    appUrl: `${origins.find((origin) => origin !== new URL(redirectUri).origin) ?? "http://localhost:3000"}/`,
    authMethod: typeof method === "string" ? method : null,
    idTokenAlg: typeof alg === "string" ? alg : "RS256",
    scopes: [...new Set(["openid", ...(typeof scope === "string" ? scope.split(" ") : ["profile", "email"])])],
    major: name === undefined ? null : installedMajor(folder, name),
    js: variables === null ? asTexts(values) : asVariables(values, variables),
  };
  return { parts, isRegistered: registered !== undefined };
}

/**
 * What a library needs to sign users in with a client.
 * @param client shown with its secret
 * @param folder the app's, for the installed versions
 * @returns notes: what the client or the server still lacks
 * @throws {OperationError} refused if the library cannot use the client
 */
export function configurationOf(
  library: Library,
  served: ServedStatus,
  client: ClientView,
  folder: string,
): { readonly text: string; readonly notes: readonly (string | Hint)[] } {
  checkClient(library, client);
  const form = forms[library];
  const { parts, isRegistered } = partsOf(form, served, client, { folder, variables: null });
  const unregistered = isRegistered
    ? []
    : [
        {
          text: `${library} uses the redirect URI ${parts.redirectUri}, which is not registered for ${client.client_id} yet`,
          command: commandOn(["idp", "clients", "edit"], client.client_id, ["--add-redirect-uri", parts.redirectUri]),
        },
      ];
  return { text: form.lines(parts).join("\n"), notes: [...unregistered, ...(form.notes?.(parts) ?? [])] };
}

/** An app that will sign users in with a library. */
export interface AppCode extends Code {
  readonly folder: string;
  /** The npm package that was found; null for none. */
  readonly package: string | null;
  /** How its code reads `.env.local`; null if it cannot, so that the values are in the code. */
  readonly variables: Variables | null;
}

/** @returns file: the one that can be written because it does not exist; there: the one that does; null for none */
function placed(piece: Piece, { exists }: Code) {
  const text = piece.lines.join("\n");
  if (!("file" in piece)) return { where: piece.where, file: null, there: null, text };
  const { file } = piece;
  // A project with TypeScript may have it in JavaScript.
  const there = [file, file.replace(/\.ts$/, ".js")].find(exists);
  return there === undefined
    ? { where: `into ${file}, a new file`, file, there: null, text }
    : { where: `into ${there}, which exists already`, file: null, there, text };
}

/**
 * The code for an app, and what its `.env.local` needs beside the variables of `idp env`.
 * @throws {OperationError} refused if the library cannot use the client
 */
export function piecesOf(library: Library, served: ServedStatus, client: ClientView, app: AppCode) {
  checkClient(library, client);
  const form = forms[library];
  const { parts } = partsOf(form, served, client, app);
  const { signsInAt, signsOutAt, variables, notes, lines, pieces } = form;
  const inApp = (path: string | undefined): string | null =>
    path === undefined ? null : new URL(path, parts.redirectUri).href;
  // Only modules have `export`.
  const config = lines(parts).map((line) => (app.isModule ? line : line.replace(/^export /, "")));
  return {
    pieces: (
      pieces?.(parts, app, app.package) ?? [
        { where: "into your app", lines: [...parts.js.imports, ...parts.js.load, ...config] },
      ]
    ).map((piece) => placed(piece, app)),
    variables: app.variables === null ? [] : (variables?.(parts) ?? []),
    signsInAt: inApp(signsInAt),
    signsOutAt: inApp(signsOutAt?.(app)),
    noSignOut: form.noSignOut ?? null,
    notes: notes?.(parts) ?? [],
  };
}
