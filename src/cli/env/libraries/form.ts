/*
 * cli/env/libraries: one configuration per library, in the library's own words.
 */
import { randomBytes } from "node:crypto";
import type { ClientView } from "../../../core/clients/admin.ts";
import type { Status } from "../../../core/status.ts";
import type { Hint } from "../../../core/hint.ts";

/** What `idp env --for` and `idp init` know about a library. Each file here describes the libraries of one environment. */

/** What the server says of itself. */
export type Served = Pick<Status, "issuer" | "endpoints">;

/** What a configuration is made of. */
export interface Parts extends Served {
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
  /** What JavaScript writes for a value. */
  readonly js: Expressions;
}

/** Values in JavaScript: as texts, or as variables of the environment. */
export interface Expressions {
  readonly issuer: string;
  /** An address of the server, mostly below the issuer. */
  readonly at: (address: string) => string;
  readonly clientId: string;
  readonly secret: string;
  readonly redirectUri: string;
  /** The key of the app's own cookies. @param variable what it is called in `.env.local` */
  readonly cookieSecret: (variable: string) => string;
  /** What has to run first. */
  readonly load: readonly string[];
}

/** How the app's code is written. */
export interface Code {
  /** Whether a path is there, from the project's folder. */
  readonly exists: (path: string) => boolean;
  readonly isTypeScript: boolean;
  /** It has `import`; else `require`. */
  readonly isModule: boolean;
}

/** A piece of code for the app, whole, and where it goes. */
export interface Piece {
  /** With its preposition: "into src/auth.js, a new file". */
  readonly where: string;
  readonly lines: readonly string[];
}

export interface Form {
  /** The redirect path that the library's documentation names. */
  readonly returnsTo: RegExp;
  /** The redirect URI for a client that has none of that form: a path of the app, or an address of the library's own. */
  readonly usual: string;
  /** Where its documentation has the app in development, where no framework says so. */
  readonly origin?: string;
  /** The clients that it can use. Public clients need PKCE, and a browser cannot keep a secret. */
  readonly clients: "any" | "confidential" | "public";
  /** The npm package whose major version decides what is printed. */
  readonly package?: string;
  /** The npm packages that show that a project uses it, and where each returns to. */
  readonly packages?: Readonly<Record<string, string>>;
  /** What shows it in the manifests of other languages, in lower case. */
  readonly mention?: string;
  /** Why it cannot use this client; null: it can. */
  readonly refusal?: (client: ClientView) => string | null;
  readonly lines: (parts: Parts) => readonly string[];
  /** The same as code that signs users in, to be pasted; absent: the lines, with the rest left to the app. @param name the npm package */
  readonly pieces?: (parts: Parts, code: Code, name: string | null) => readonly Piece[];
  /** Where the app signs users in once the pieces are in it: its path. */
  readonly signsInAt?: string;
  /** Variables that the library needs besides, for `.env.local`. */
  readonly variables?: (parts: Parts) => readonly (readonly [name: string, value: string])[];
  /** What the server or the app needs besides. */
  readonly notes?: (parts: Parts) => readonly (string | Hint)[];
}

/** A quoted text: JSON's quoting is also valid in JavaScript, YAML, TOML, Python and Go. */
export const q = (text: string): string => JSON.stringify(text);

/** A secret for the app's own cookies, a new one each time, so that no two apps share it. */
export const cookieSecret = (): string => randomBytes(32).toString("base64url");

/** A line that takes names from a package. */
export const importing = ({ isModule }: Code, names: string, from: string): string =>
  isModule ? `import ${names} from ${q(from)};` : `const ${names} = require(${q(from)});`;

/** Where code for an Express app goes. */
export const expressServer = "into your server, after app = express() and before its routes";

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
