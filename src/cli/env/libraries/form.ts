/*
 * cli/env/libraries: one configuration per library, in the library's own words.
 */
import { randomBytes } from "node:crypto";
import type { ClientView } from "../../../core/clients/admin.ts";
import type { Hint } from "../../../core/hint.ts";

/** What `idp env --for` knows about a library. Each file here describes the libraries of one environment. */

/** What a configuration is made of. */
export interface Parts {
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client. */
  readonly secret: string | null;
  readonly redirectUri: string;
  /** Null: none is registered. */
  readonly postLogoutRedirectUri: string | null;
  /** The address of the app itself, for a proxy in front of it. */
  readonly appUrl: string;
  /** The registered `token_endpoint_auth_method`; null: the library may choose. */
  readonly authMethod: string | null;
  /** The registered `userinfo_format`; null: the server's default. */
  readonly userinfoFormat: string | null;
  /** The algorithm of the client's ID tokens. */
  readonly idTokenAlg: string;
  readonly scopes: readonly string[];
  /** The major version of {@link Form.package} that is installed; null: not known. */
  readonly major: number | null;
}

export interface Form {
  /** The redirect path that the library's documentation names. */
  readonly returnsTo: RegExp;
  /** The redirect URI for a client that has none of that form: a path of the app, or an address of the library's own. */
  readonly usual: string;
  /** The clients that it can use. Public clients need PKCE, and a browser cannot keep a secret. */
  readonly clients: "any" | "confidential" | "public";
  /** The npm package whose major version decides what is printed. */
  readonly package?: string;
  /** Why it cannot use this client; null: it can. */
  readonly refusal?: (client: ClientView) => string | null;
  readonly lines: (parts: Parts) => readonly string[];
  /** What the server or the app needs besides. */
  readonly notes?: (parts: Parts) => readonly (string | Hint)[];
}

/** A quoted text: JSON's quoting is also valid in JavaScript, YAML, TOML, Python and Go. */
export const q = (text: string): string => JSON.stringify(text);

/** A secret for the app's own cookies, a new one each time, so that no two apps share it. */
export const cookieSecret = (): string => randomBytes(32).toString("base64url");

/** The name that a redirect URI ends in. */
export const nameIn = (uri: string, pattern: RegExp): string => pattern.exec(uri)?.[1] ?? "idp";

/** The authentication method to name for a library that uses Basic by itself; null: none. */
export const methodBesideBasic = ({ secret, authMethod }: Parts): string | null =>
  secret === null ? "none" : authMethod === "client_secret_basic" ? null : authMethod;

/** Why a library that expands `${…}` in its configuration cannot use a client. */
export const refusePlaceholder =
  (library: string) =>
  (client: ClientView): string | null => {
    const secret = client["client_secret"];
    return typeof secret === "string" && secret.includes("${")
      ? `its secret contains "\${", which ${library} takes for a placeholder`
      : null;
  };
