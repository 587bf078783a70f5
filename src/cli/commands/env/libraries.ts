import type { ClientView } from "../../../core/records/clients/admin.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { commandOn, type Hint } from "../../../core/base/hint.ts";
import { fixedRedirectUris, valuesOf, vendorOf, type BuiltInVendor } from "./app-client.ts";
import type { Library } from "./choices.ts";
import { dependenciesOf, installedMajor, manifestOf } from "./manifest.ts";
import { authjs, nextAuth } from "./libraries/authjs.ts";
import { betterAuth } from "./libraries/better-auth.ts";
import { nuxtAuthUtils, fastifyOauth2, honoOidcAuth } from "./libraries/servers.ts";
import { asTexts, asVariables, type Variables } from "./libraries/expressions.ts";
import { angularAuthOidcClient, keycloakJs, msal, oidcClientTs, reactOidcContext } from "./libraries/browser.ts";
import { plainCode, type Code, type Form, type Parts, type Piece, type ServedStatus } from "./libraries/form.ts";
import { expressOpenidConnect, passport } from "./libraries/node.ts";
import { openidClient } from "./libraries/openid-client.ts";
import { go, grafana, mcpInspector, oauth2Proxy, spring } from "./libraries/others.ts";
import { aspnetcore, laravel, modAuthOpenidc, omniauth, symfony } from "./libraries/elsewhere.ts";
import { appleSigninAuth, arctic } from "./libraries/vendor-lines.ts";
import {
  googleAuthLibrary,
  octokit,
  passportGithub,
  passportGoogle,
  vendorNotes,
  vendorTitles,
} from "./libraries/vendors.ts";
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
  arctic,
  "apple-signin-auth": appleSigninAuth,
};

/** Authentication methods that do not send the secret itself. */
const assertions: readonly unknown[] = ["private_key_jwt", "client_secret_jwt"];

/** The redirect path of a library that names its provider in it. */
export const usualAt = (path: string, vendor: BuiltInVendor): string => path.replace(/\/idp$/, `/${vendor}`);

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

/** The lines for the vendor that the issuer answers as; null where the library's general ones are for it. */
function linesAtVendor(form: Form, parts: Pick<Parts, "endpoints" | "major">, name: string | null) {
  const vendor = vendorOf(parts.endpoints);
  const lines = vendor === null ? undefined : form.vendors?.(parts, name)[vendor];
  return vendor === null || lines === undefined ? null : { vendor, lines };
}

/** Why a library that knows no vendor cannot use a client of this issuer; null if it can. */
function vendorRefusal({ endpoints }: ServedStatus, client: ClientView): string | null {
  if (vendorOf(endpoints) === "github") return "its issuer answers as GitHub, which has no OpenID Connect";
  return client["apple_team"] === undefined ? null : "its secret is a JWT by its own key, as Apple asks for";
}

/** @throws {OperationError} refused if the library cannot use the client */
function checkClient(
  library: Library,
  served: ServedStatus,
  client: ClientView,
  folder: string,
  name: string | null,
): void {
  const form = forms[library];
  const knows =
    form.vendor !== undefined || linesAtVendor(form, { ...served, major: majorOf(form, folder) }, name) !== null;
  const refusal = refusalOf(library, client) ?? (knows ? null : vendorRefusal(served, client));
  if (refusal === null) return;
  throw new OperationError("refused", `${library} cannot use the client ${client.client_id}: ${refusal}`, {
    hint: { text: "Another client", command: ["idp", "env", "--for", library, "--client", "CLIENT_ID"] },
  });
}

const majorOf = ({ package: name }: Form, folder: string): number | null =>
  name === undefined ? null : installedMajor(folder, name);

/** @param folder the app's, for the installed versions @param variables where code finds the values; null if they are in the code */
function partsOf(
  form: Form,
  { issuer, endpoints }: ServedStatus,
  client: ClientView,
  { folder, variables }: { readonly folder: string; readonly variables: Variables | null },
): { readonly parts: Parts; readonly isRegistered: boolean } {
  const { returnsTo } = form;
  const vendor = vendorOf(endpoints);
  const usual = vendor === null ? form.usual : usualAt(form.usual, vendor);
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
    major: majorOf(form, folder),
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
  const form = forms[library];
  const name = packageIn(form, folder);
  checkClient(library, served, client, folder, name);
  const { parts, isRegistered } = partsOf(form, served, client, { folder, variables: null });
  const own = linesAtVendor(form, parts, name);
  const unregistered = isRegistered
    ? []
    : [
        {
          text: `${library} uses the redirect URI ${parts.redirectUri}, which is not registered for ${client.client_id} yet`,
          command: commandOn(["idp", "clients", "edit"], client.client_id, ["--add-redirect-uri", parts.redirectUri]),
        },
      ];
  const lines = own?.lines(parts, plainCode, name) ?? form.lines(parts);
  return { text: lines.join("\n"), notes: [...unregistered, ...notesOf(form, parts, own?.vendor)] };
}

/** The npm package of a library that the app in a folder has; null for none. */
function packageIn({ packages = {} }: Form, folder: string): string | null {
  const installed = dependenciesOf(manifestOf(folder));
  return Object.keys(packages).find((name) => Object.hasOwn(installed, name)) ?? null;
}

/** @param vendor whose lines took the place of the general ones */
const notesOf = ({ vendor: builtIn, notes }: Form, parts: Parts, vendor: BuiltInVendor | undefined) => [
  ...(notes?.(parts) ?? []),
  ...(vendor === undefined || builtIn !== undefined ? [] : vendorNotes(vendor)(parts)),
];

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
  checkClient(library, served, client, app.folder, app.package);
  const form = forms[library];
  const { parts } = partsOf(form, served, client, app);
  const own = linesAtVendor(form, parts, app.package);
  const { signsInAt, variables, lines } = form;
  const pieces: Form["pieces"] =
    own === null
      ? form.pieces
      : () => [
          {
            where: `into your app, where it sets up ${vendorTitles[own.vendor]}`,
            lines: own.lines(parts, app, app.package),
          },
        ];
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
    // Nobody signs out at these vendors.
    signsOutAt: own === null ? inApp(form.signsOutAt?.(app)) : null,
    noSignOut: own === null ? (form.noSignOut ?? null) : null,
    notes: notesOf(form, parts, own?.vendor),
  };
}
