import { hash } from "node:crypto";
import type { User } from "../../../store/store.ts";
import { isObject, ownValue } from "../../../text/json.ts";
import type { Context } from "../../context.ts";
import { emailOf, isProtocolClaim, namedClaims, standardClaims } from "../scopes/claims.ts";
import type { AttributeSource } from "./shapes.ts";

/** What an attribute is made of, before it is text. */

/** A user who signed in. @member amr how (RFC 8176) */
export interface SignedInUser {
  readonly user: User;
  readonly amr: readonly string[];
}

type At = Pick<Context, "layout" | "address" | "issuer">;

export function sourceValue(at: At, source: AttributeSource, { user, amr }: SignedInUser): unknown {
  if ("claim" in source) return claimOf(source.claim, user);
  switch (source.value) {
    case "id":
      return user.id;
    case "tenant":
      return tenantOf(at);
    case "identityprovider":
      return `https://sts.windows.net/${tenantOf(at)}/`;
    case "scoped":
      return `${user.username}@${new URL(at.address).hostname}`;
    case "upn": {
      const email = emailOf(user);
      return typeof email === "string" ? email : user.username;
    }
    case "methods":
      return methodsOf(amr);
    case "roles":
      return [...new Set(["roles", "realm_access.roles"].flatMap((name) => claimOf(name, user) ?? []))];
  }
}

/** A claim; a name with dots that no claim has is a path into one. Null, which other claims do not have, is left out and reported. */
function claimOf(name: string, user: User): unknown {
  if (name === "sub") return user.id;
  if (isProtocolClaim(name)) return undefined;
  if (Object.hasOwn(user.claims, name)) return user.claims[name];
  return (
    namedClaims(user, [name])[name] ??
    name
      .split(".")
      .reduce<unknown>((value, step) => (isObject(value) ? ownValue(value, step) : undefined), standardClaims(user))
  );
}

const guidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The tenant of Entra is a GUID. */
function tenantOf({ layout, issuer }: At): string {
  if (guidForm.test(layout.name)) return layout.name;
  const digits = hash("sha256", issuer, "hex");
  return [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map(([from, to]) => digits.slice(from, to))
    .join("-");
}

const passwordMethod = "http://schemas.microsoft.com/ws/2008/06/identity/authenticationmethod/password";
const severalMethods = "http://schemas.microsoft.com/claims/multipleauthn";

/** In the names of Entra, where a passkey counts as several methods; the picker stands for a password. */
const methodsOf = (amr: readonly string[]): readonly string[] => [
  ...(amr.includes("pwd") || amr.includes("user") ? [passwordMethod] : []),
  ...(amr.includes("mfa") || amr.includes("hwk") ? [severalMethods] : []),
];
