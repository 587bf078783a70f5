import { badgesOf } from "../../core/users/roles.ts";
import type { User } from "../../store/store.ts";

/** A circle with somebody's initials, as an SVG: colors are presentation attributes, which the content security policy allows. */
interface Avatar {
  readonly background: string;
  readonly foreground: string;
  readonly initials: string;
}

/** Used if a user's color is not valid. */
const neutral = "#57606a";

/** WCAG 2.2, relative luminance of `#rrggbb`: 0 black, 1 white. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const channel = Number.parseInt(color.slice(start, start + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Black or white, whichever is easier to read on the color. The contrast is always 4.5 to 1 or more. */
function readableOn(color: string): string {
  const light = luminance(color);
  return 1.05 / (light + 0.05) >= (light + 0.05) / 0.05 ? "#ffffff" : "#000000";
}

/** `#rgb` or `#rrggbb` as `#rrggbb`; null for anything else. */
function parseColor(color: string): string | null {
  if (/^#[0-9a-f]{6}$/i.test(color)) return color.toLowerCase();
  if (/^#[0-9a-f]{3}$/i.test(color)) return color.toLowerCase().replace(/[0-9a-f]/g, "$&$&");
  return null;
}

/** The first letters of the first and the last word. Their case is kept, because upper-casing would change a Turkish "i" to another letter. */
function initialsOf(name: string): string {
  const words = name
    .normalize("NFC")
    .split(/\s+/)
    .filter((word) => word !== "");
  const ends = words.length > 1 ? [words.at(0), words.at(-1)] : words;
  return ends.map((word) => Array.from(word ?? "").at(0) ?? "").join("");
}

const avatarOf = (name: string, color: string): Avatar => {
  const background = parseColor(color) ?? neutral;
  return { background, foreground: readableOn(background), initials: initialsOf(name) };
};

/** What pages show about a user. */
export interface PersonView extends Pick<User, "username" | "displayName" | "email" | "status"> {
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
  return { username, displayName, email, status, color, avatar: avatarOf(displayName, color), badges: badgesOf(user) };
}
