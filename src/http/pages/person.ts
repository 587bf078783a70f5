import { colorsOf, initialsOf } from "../../core/scopes/avatar.ts";
import { badgesOf } from "../../core/users/roles.ts";
import type { User } from "../../store/store.ts";

/** A circle with somebody's initials, as an SVG: colors are presentation attributes, which the content security policy allows. */
interface Avatar {
  readonly background: string;
  readonly foreground: string;
  readonly initials: string;
}

const avatarOf = (name: string, color: string): Avatar => ({ ...colorsOf(color), initials: initialsOf(name) });

/** What pages show about a user. */
export interface PersonView extends Pick<User, "username" | "displayName" | "status"> {
  /** Empty: none. */
  readonly email: string;
  /** `avatar.color` as the record has it. */
  readonly color: string;
  readonly avatar: Avatar;
  /** The roles, else the note. */
  readonly badges: readonly string[];
}

export function personOf(
  user: Pick<User, "username" | "displayName" | "email" | "status" | "avatar" | "claims" | "note">,
): PersonView {
  const { username, displayName, email, status } = user;
  const { color } = user.avatar;
  return {
    username,
    displayName,
    email: email ?? "",
    status,
    color,
    avatar: avatarOf(displayName, color),
    badges: badgesOf(user),
  };
}
