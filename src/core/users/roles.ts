import type { User } from "../../store/store.ts";

/** A claim that is one text or a list of texts. */
function textsOf(claim: unknown): readonly string[] {
  const all: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return all.filter((text): text is string => typeof text === "string" && text !== "");
}

/** The claim `roles`: it tells the users of a list apart. */
export const rolesOf = ({ claims }: Pick<User, "claims">): readonly string[] => textsOf(claims["roles"]);

/** The claim `groups`. */
export const groupsOf = ({ claims }: Pick<User, "claims">): readonly string[] => textsOf(claims["groups"]);

/** What lists show beside a user: the roles, else the note. */
export function badgesOf({ claims, note }: Pick<User, "claims" | "note">): readonly string[] {
  const roles = rolesOf({ claims });
  return roles.length === 0 && typeof note === "string" ? [note] : roles;
}
