import type { Context } from "../context.ts";
import type { User } from "../../store/store.ts";
import { emailOf, namedClaims } from "../scopes/claims.ts";
import { formatOf, nameIdFormats, type NameIdKind } from "./names.ts";
import type { AttributeSource } from "./shapes.ts";

/** The name of a user for a service provider (SAML Core 8.3), and the claims that attributes are made of. */

export interface NameId {
  readonly format: string;
  readonly value: string;
}

/** The kind of name that a request asks for. @returns null: this server does not have the format */
export function askedNameId(format: string | null, byDefault: NameIdKind): NameIdKind | null {
  if (format === null || format === nameIdFormats.unspecified) return byDefault;
  const known = (["email", "persistent", "transient"] as const).find((kind) => nameIdFormats[kind] === format);
  return known ?? null;
}

/** The name of a user; null: the user has no such claim. */
export function nameIdOf(ctx: Pick<Context, "random">, kind: NameIdKind, user: User): NameId | null {
  const value = valueOf(ctx, kind, user);
  return value === null ? null : { format: formatOf(kind), value };
}

function valueOf({ random }: Pick<Context, "random">, kind: NameIdKind, user: User): string | null {
  switch (kind) {
    case "email":
    case "unspecified": {
      const email = emailOf(user);
      return typeof email === "string" ? email : null;
    }
    case "persistent":
      return user.id;
    case "username":
      return user.username;
    case "transient":
      return `_${random(24)}`;
  }
}

/** What an attribute is made of, before it is text. */
export function sourceValue(ctx: Pick<Context, "layout" | "address">, source: AttributeSource, user: User): unknown {
  if ("claim" in source) return claimOf(source.claim, user);
  switch (source.value) {
    case "id":
      return user.id;
    case "tenant":
      return ctx.layout.name === "" ? "idp" : ctx.layout.name;
    case "scoped":
      return `${user.username}@${new URL(ctx.address).hostname}`;
  }
}

function claimOf(name: string, user: User): unknown {
  if (name === "sub") return user.id;
  const own = Object.hasOwn(user.claims, name) ? user.claims[name] : undefined;
  // Null, which other claims do not have, is left out and reported.
  return own === null ? null : namedClaims(user, [name])[name];
}
