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

/** WCAG 2.2, relative luminance of the channel of `#rrggbb` that begins there. */
function channelAt(color: string, start: number): number {
  const channel = Number.parseInt(color.slice(start, start + 2), 16) / 255;
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}

/** WCAG 2.2, relative luminance of `#rrggbb`: 0 black, 1 white. */
const luminance = (color: string): number =>
  0.2126 * channelAt(color, 1) + 0.7152 * channelAt(color, 3) + 0.0722 * channelAt(color, 5);

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

function firstLetter(word = ""): string {
  const point = word.codePointAt(0);
  return point === undefined ? "" : String.fromCodePoint(point);
}

/** The first letters of the first and the last word. Their case is kept, because upper-casing would change a Turkish "i" to another letter. */
function initialsOf(name: string): string {
  const words = name
    .normalize("NFC")
    .split(/\s+/)
    .filter((word) => word !== "");
  return firstLetter(words[0]) + (words.length > 1 ? firstLetter(words.at(-1)) : "");
}

const avatarOf = (name: string, color: string): Avatar => {
  const background = parseColor(color) ?? neutral;
  return { background, foreground: readableOn(background), initials: initialsOf(name) };
};

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
