import type { User } from "../../store/store.ts";

/** The claim `roles`, one text or a list of texts: it tells the users of a list apart. */
export function rolesOf({ claims }: Pick<User, "claims">): readonly string[] {
  const { roles } = claims;
  const all: readonly unknown[] = Array.isArray(roles) ? roles : [roles];
  return all.filter((role): role is string => typeof role === "string" && role !== "");
}

/** What lists show beside a user: the roles, else the note. */
export function badgesOf({ claims, note }: Pick<User, "claims" | "note">): readonly string[] {
  const roles = rolesOf({ claims });
  return roles.length === 0 && typeof note === "string" ? [note] : roles;
}
