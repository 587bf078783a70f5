import { baseOf } from "../../../../core/base/endpoints.ts";
import { cookieSecret, q, type Expressions, type Parts } from "./form.ts";

/** The values of a configuration in JavaScript. */

type Values = Pick<Parts, "issuer" | "clientId" | "secret" | "redirectUri">;

/** Where code finds its variables. */
export interface Variables {
  /** The code before a name: `process.env.`. */
  readonly from: string;
  /** The beginning of each name: `VITE_`. */
  readonly prefix: string;
  /** The code after a name: the `!` of TypeScript, or what its checks of JavaScript ask for, as an environment has a string or nothing. */
  readonly after: "" | "!" | ' ?? ""';
  /** A line that the names come from; absent if they are there. */
  readonly imports?: string;
  /** Whether the code itself has to read `.env.local`. */
  readonly load: boolean;
}

/** As texts. */
export const asTexts = ({ issuer, clientId, secret, redirectUri }: Values): Expressions => ({
  issuer: q(issuer),
  at: q,
  address: (_variable, address) => q(address),
  clientId: q(clientId),
  secret: q(secret ?? ""),
  redirectUri: q(redirectUri),
  origin: q(new URL(redirectUri).origin),
  inApp: q,
  own: (variable) => `process.env.${variable}`,
  cookieSecret: () => q(cookieSecret()),
  imports: [],
  load: [],
});

/** As variables, with the names of `idp env`. */
export function asVariables(
  { issuer, redirectUri }: Values,
  { from, prefix, after, imports, load }: Variables,
): Expressions {
  const appOrigin = new URL(redirectUri).origin;
  const named = (name: string): string => `${from}${prefix}${name}${after}`;
  return {
    issuer: named("OIDC_ISSUER"),
    at: (address) =>
      address.startsWith(`${baseOf(issuer)}/`)
        ? `\`\${${named("OIDC_ISSUER")}}${address.slice(issuer.length)}\``
        : q(address),
    address: (variable) => named(variable),
    clientId: named("OIDC_CLIENT_ID"),
    secret: named("OIDC_CLIENT_SECRET"),
    redirectUri: named("OIDC_REDIRECT_URI"),
    inApp: (address) =>
      address.startsWith(`${appOrigin}/`)
        ? `\`\${new URL(${named("OIDC_REDIRECT_URI")}).origin}${address.slice(appOrigin.length)}\``
        : q(address),
    origin: `new URL(${named("OIDC_REDIRECT_URI")}).origin`,
    own: (variable) => `${from}${variable}${after}`,
    cookieSecret: (variable) => `${from}${variable}${after}`,
    imports: imports === undefined ? [] : [imports],
    // A clone of the repository has no such file: there idp exec sets the variables.
    load: load ? ['try { process.loadEnvFile(".env.local"); } catch { /* idp exec sets the variables */ }'] : [],
  };
}
