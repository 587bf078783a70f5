import { colorsOf, initialsOf } from "../../core/scopes/avatar.ts";
import { badgesOf } from "../../core/users/roles.ts";
import type { User } from "../../store/store.ts";

/** A circle with somebody's initials, as an SVG: colors are presentation attributes, which the content security policy allows. */
const avatarOf = (name: string, color: string) => ({ ...colorsOf(color), initials: initialsOf(name) });

/** What pages show about a user. */
export type PersonView = ReturnType<typeof personOf>;

export function personOf(
  user: Pick<User, "username" | "displayName" | "email" | "status" | "avatar" | "claims" | "note">,
) {
  const { username, displayName, email, status } = user;
  const { color } = user.avatar;
  return {
    username,
    displayName,
    /** Empty: none. */
    email: email ?? "",
    status,
    /** `avatar.color` as the record has it. */
    color,
    avatar: avatarOf(displayName, color),
    /** The roles, else the note. */
    badges: badgesOf(user),
  };
}
