/*
 * cli/commands/env/libraries: what `idp env --for` and `idp init` know about each library. Each file has the libraries of one environment.
 */
import { randomBytes } from "node:crypto";
import type { ClientView } from "../../../../core/records/clients/admin.ts";
import type { OperationOutput } from "../../../../core/admin/operations/table.ts";
import type { Hint } from "../../../../core/base/hint.ts";
import type { BuiltInVendor } from "../app-client.ts";

/** What the server says about itself. */
export type ServedStatus = Pick<OperationOutput<"status">, "issuer" | "endpoints">;

/** What a configuration is made of. */
export interface Parts extends ServedStatus {
  readonly clientId: string;
  /** Null for a public client. */
  readonly secret: string | null;
  readonly redirectUri: string;
  /** Null if none is registered. */
  readonly postLogoutRedirectUri: string | null;
  /** The address of the app itself, for a proxy in front of it. */
  readonly appUrl: string;
  /** The registered `token_endpoint_auth_method`; null if the library may choose. */
  readonly authMethod: string | null;
  /** The algorithm of the client's ID tokens. */
  readonly idTokenAlg: string;
  readonly scopes: readonly string[];
  /** The installed major version of {@link Form.package}; null if it is not known. */
  readonly major: number | null;
  /** The values in JavaScript. */
  readonly js: Expressions;
}

/** Values in JavaScript, as texts or as variables of the environment. */
export interface Expressions {
  readonly issuer: string;
  /** An address of the server, mostly below the issuer. */
  readonly at: (address: string) => string;
  /** The same, where `idp env` gives it as a variable. */
  readonly address: (variable: "AUTHORIZATION_URL" | "TOKEN_URL" | "USERINFO_URL", address: string) => string;
  readonly clientId: string;
  readonly secret: string;
  readonly redirectUri: string;
  /** The address of the app. */
  readonly origin: string;
  /** An address of the app, mostly its front page. */
  readonly inApp: (address: string) => string;
  /** A variable that only the app has, which `idp env` does not give a value. */
  readonly own: (variable: string) => string;
  /** The key of the app's own cookies. @param variable its name in `.env.local` */
  readonly cookieSecret: (variable: string) => string;
  /** What names the variables, among the other imports. */
  readonly imports: readonly string[];
  /** What has to run first. */
  readonly load: readonly string[];
}

/** How the app's code is written. */
export interface Code {
  /** Whether a path in the project's folder exists. */
  readonly exists: (path: string) => boolean;
  /** Whether an npm package is among its dependencies. */
  readonly has: (dependency: string) => boolean;
  readonly isTypeScript: boolean;
  /** Whether it uses `import`; otherwise `require`. */
  readonly isModule: boolean;
}

/** JavaScript, where the app is not looked at. */
export const plainCode: Code = { exists: () => false, has: () => false, isTypeScript: false, isModule: true };

/** A whole piece of code for the app, and where it goes. */
export type Piece = { readonly lines: readonly string[] } & (
  | {
      /** The file that has only this code, by the conventions of the framework. */
      readonly file: string;
    }
  | {
      /** A place in the app's own code, with its preposition: "into your app". */
      readonly where: string;
    }
);

/** The lines for "Sign in with" a vendor. @param name the npm package that the app has; null if it is not known */
export type VendorLines = (parts: Parts, code: Code, name: string | null) => readonly string[];

export interface Form {
  /** Whose addresses it has built in; absent: none. */
  readonly vendor?: BuiltInVendor;
  /** What takes the place of the lines and pieces where the issuer answers as one of these. */
  readonly vendors?: (
    parts: Pick<Parts, "major">,
    name: string | null,
  ) => Readonly<Partial<Record<BuiltInVendor, VendorLines>>>;
  /** The redirect path that the library's documentation names. */
  readonly returnsTo: RegExp;
  /** The redirect URI to propose: a path of the app, or an address of the library. */
  readonly usual: string;
  /** The address of the app in development by the library's documentation, if no framework says it. */
  readonly origin?: string;
  /** The clients that it can use. Public clients need PKCE, and a browser cannot keep a secret. */
  readonly clients: "any" | "confidential" | "public";
  /** The npm package whose major version decides what is printed. */
  readonly package?: string;
  /** The npm packages that show that a project uses the library, and the redirect path of each. */
  readonly packages?: Readonly<Record<string, string>>;
  /** What shows this in the manifests of other languages, in lower case. */
  readonly mention?: string;
  /** Why it cannot use this client; null if it can. */
  readonly refusal?: (client: ClientView) => string | null;
  readonly lines: (parts: Parts) => readonly string[];
  /** Code that signs users in, to be pasted; absent if there are only the lines. @param name the npm package */
  readonly pieces?: (parts: Parts, code: Code, name: string | null) => readonly Piece[];
  /** The path at which the app signs users in, once the pieces are in it. */
  readonly signsInAt?: string;
  /** The path at which it signs them out, at the provider too. */
  readonly signsOutAt?: (code: Code) => string;
  /** That the code does not sign out at the provider, and what would; absent where it does. */
  readonly noSignOut?: string;
  /** The words of the command that runs the tests of an app that uses this, where it is no npm package. */
  readonly tests?: readonly string[];
  /** The library that is below this one, and is not proposed beside it. */
  readonly wraps?: string;
  /** The path of the app that the library returns to after a sign-out; "": the address of the app without a slash at its end. Default: "/". */
  readonly afterSignOut?: "";
  /** More variables that the library needs, for `.env.local`. */
  readonly variables?: (parts: Parts) => readonly (readonly [name: string, value: string])[];
  /** What else the server or the app needs. */
  readonly notes?: (parts: Parts) => readonly (string | Hint)[];
}

/** An expression that a method is called of, or that is part of another one. */
export const whole = (expression: string): string => (expression.includes(" ?? ") ? `(${expression})` : expression);

/** A quoted text: JSON's quoting is also valid in JavaScript, YAML, TOML, Python and Go. */
export const q = (text: string): string => JSON.stringify(text);

/** A secret for the app's own cookies, a new one each time, so that no two apps share it. */
export const cookieSecret = (): string => randomBytes(32).toString("base64url");

/** The extension of the app's files. */
export const extension = ({ isTypeScript }: Code): "ts" | "js" => (isTypeScript ? "ts" : "js");

/** A line that imports names from a package. */
export const importing = ({ isModule }: Code, names: string, from: string): string =>
  isModule ? `import ${names} from ${q(from)};` : `const ${names} = require(${q(from)});`;

/** A parameter with its type, where the language has types. */
export const typed = (name: string, type: string, { isTypeScript }: Code): string =>
  isTypeScript ? `${name}: ${type}` : name;

/** The comment of a function. In JavaScript it has the types, which editors and svelte-check read. */
export const documented = (
  sentence: string,
  parameters: Readonly<Record<string, string>>,
  { isTypeScript }: Code,
): readonly string[] =>
  isTypeScript
    ? [`/** ${sentence} */`]
    : [
        "/**",
        ` * ${sentence}`,
        ...Object.entries(parameters).map(([name, type]) => ` * @param {${type}} ${name}`),
        " */",
      ];

export const isNest = ({ has }: Code): boolean => has("@nestjs/core");

/**
 * Code for an Express app, and what to install for it. The app of NestJS takes middleware as Express does, but is made inside of a function, where
 * nothing can be imported.
 */
export function expressPieces(
  code: Code,
  {
    imports,
    install = [],
    types = [],
    lines,
  }: {
    readonly imports: readonly string[];
    readonly install?: readonly string[];
    /** The npm packages with its types, for TypeScript. */
    readonly types?: readonly string[];
    readonly lines: readonly string[];
  },
): readonly Piece[] {
  const missing = code.isTypeScript ? types.filter((name) => !code.has(name)) : [];
  const commands = [
    ...(install.length === 0 ? [] : [`npm install ${install.join(" ")}`]),
    ...(missing.length === 0 ? [] : [`npm install --save-dev ${missing.join(" ")}`]),
  ];
  const first = commands.length === 0 ? "" : ` (${commands.join(" && ")})`;
  if (!isNest(code)) {
    return [
      { where: `into your server, after app = express() and before its routes${first}`, lines: [...imports, ...lines] },
    ];
  }
  const typesOfExpress = code.isTypeScript ? ['import type { NextFunction, Request, Response } from "express";'] : [];
  return [
    { where: `at the top of src/main.ts${first}`, lines: [...imports, ...typesOfExpress] },
    { where: "into src/main.ts, after app = await NestFactory.create(AppModule)", lines },
  ];
}

/** The parameters of a handler. Express gives them types; the app of NestJS does not. */
export const handlerOf = (code: Code, hasNext: boolean): string =>
  (hasNext ? ["req: Request", "res: Response", "next: NextFunction"] : ["req: Request", "res: Response"])
    .map((parameter) => (isNest(code) && code.isTypeScript ? parameter : parameter.replace(/:.*/, "")))
    .join(", ");

/** The sessions of an Express app by express-session, with the secret that {@link serverRoutes} has. */
export const expressSession = ({ js }: Parts): readonly string[] => [
  "app.use(session({",
  `  secret: ${js.cookieSecret("COOKIE_SECRET")},`,
  "  resave: false,",
  "  saveUninitialized: false,",
  '  cookie: { sameSite: "lax" },',
  "}));",
];

/** The routes of a server with cookies of its own, and the secret of these. */
export const serverRoutes: Pick<Form, "signsInAt" | "signsOutAt" | "variables"> = {
  signsInAt: "/login",
  signsOutAt: () => "/logout",
  variables: () => [["COOKIE_SECRET", cookieSecret()]],
};

/** The front page of the app, as fixtures have it for the way back from a sign-out. */
export const frontPage = ({ js, redirectUri, postLogoutRedirectUri }: Parts): string =>
  js.inApp(postLogoutRedirectUri ?? `${new URL(redirectUri).origin}/`);

/**
 * Ends the session at the provider, which then returns to the app.
 * @param hint the ID token, in the app's code; without one the provider asks the user
 * @returns the address, in the app's code
 */
export const endSessionQuery = (parts: Parts, hint: string): readonly string[] => [
  "const query = new URLSearchParams({",
  `  client_id: ${parts.js.clientId},`,
  `  post_logout_redirect_uri: ${frontPage(parts)},`,
  "});",
  `if (${hint}) query.set("id_token_hint", ${hint});`,
];

/** The name that a redirect URI ends in. */
export const nameIn = (uri: string, pattern: RegExp): string => pattern.exec(uri)?.[1] ?? "idp";

/** The authentication method to name for a library that uses Basic by default; null for none. */
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

/** Where the provider ends its session, and then returns to. */
export const signOutParts = ({ endpoints, clientId, redirectUri, postLogoutRedirectUri }: Parts) => ({
  logout: endpoints.logout,
  clientId,
  front: postLogoutRedirectUri ?? `${new URL(redirectUri).origin}/`,
  callback: new URL(redirectUri).pathname,
});
