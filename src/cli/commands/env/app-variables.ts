import { type Command, type Flags, InvalidArgumentError } from "../../commander.ts";

/** The variables of an app's environment. This file is read before a command is loaded, so it imports little. */

/** What an app has to know; null for what its client does not have. */
export interface AppValues {
  /** Null where there is no OpenID Connect: with GitHub's endpoints. */
  readonly issuer: string | null;
  readonly client_id: string | null;
  readonly client_secret: string | null;
  readonly redirect_uri: string | null;
  /** The whole address of the discovery document. `idp env` gives it only by a name that was asked for. */
  readonly discovery: string | null;
  /** The addresses that an app with Google, GitHub or Apple built in replaces; null with other endpoints. */
  readonly authorization_url: string | null;
  readonly token_url: string | null;
  readonly userinfo_url: string | null;
}

export const usualNames: Readonly<Record<keyof AppValues, string>> = {
  issuer: "OIDC_ISSUER",
  client_id: "OIDC_CLIENT_ID",
  client_secret: "OIDC_CLIENT_SECRET",
  redirect_uri: "OIDC_REDIRECT_URI",
  discovery: "OIDC_DISCOVERY_URL",
  authorization_url: "AUTHORIZATION_URL",
  token_url: "TOKEN_URL",
  userinfo_url: "USERINFO_URL",
};

const valueNames = Object.keys(usualNames) as (keyof AppValues)[];

/** The names that an app has for some of the values. */
export type OwnNames = Readonly<Partial<Record<keyof AppValues, string>>>;

/** A name that every shell and every reader of `.env` files accepts (POSIX.1 8.1). */
const isVariable = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);

/** Reads `--prefix VITE_`. */
function variablePrefix(given: string): string {
  if (!isVariable(given)) throw new InvalidArgumentError("It must be letters, digits and _, as in VITE_.");
  return given;
}

/** Collects `--name issuer=AUTH_ISSUER`. */
function variableName(given: string, before: OwnNames = {}): OwnNames {
  const at = given.indexOf("=");
  const value = valueNames.find((name) => name === given.slice(0, Math.max(at, 0)).replaceAll("-", "_"));
  if (value === undefined) {
    throw new InvalidArgumentError(`It must be ${valueNames.join(", ")}, then = and a name, as in issuer=AUTH_ISSUER.`);
  }
  const name = given.slice(at + 1);
  if (!isVariable(name)) throw new InvalidArgumentError(`"${name}" is not a variable name: letters, digits and _.`);
  return { ...before, [value]: name };
}

/** The flags that name variables. */
export interface NameFlags {
  readonly prefix?: string;
  readonly name?: OwnNames;
}

/** The variables of an app, by name; null for one that the app does not get. `--name` overrides the prefix. */
export const variablesOf = (
  values: AppValues,
  { prefix = "", name: own = {} }: NameFlags,
): ReadonlyMap<string, string | null> =>
  new Map(
    valueNames
      // Another program may use these names: they are taken only where there is a value.
      .filter((value) => !(value.endsWith("_url") && values[value] === null))
      .map((value) => [own[value] ?? prefix + usualNames[value], values[value]]),
  );

/** Adds the flags that name the app's client and its variables. */
export const withVariables = <A extends unknown[], F extends Flags, G extends Flags>(command: Command<A, F, G>) =>
  command
    .option("--client <client_id>", "the app's client (default: the first that signs users in)")
    .option("--prefix <prefix>", "prefix of each name, as in VITE_OIDC_ISSUER", variablePrefix)
    .option(
      "--name <value=NAME>",
      "another name for issuer, client_id, client_secret, redirect_uri or discovery (the document's address); repeatable",
      variableName,
    );
