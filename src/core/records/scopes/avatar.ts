import { hash } from "node:crypto";
import type { User } from "../../../store/store.ts";
import { parseColor, readableOn } from "../../base/brand/colors.ts";
import { withFewMarks } from "../../../text/marks.ts";

/** White letters on each have a contrast of 4.5 to 1 or more (WCAG 2.2, 1.4.3). */
const palette = [
  "#4f46e5",
  "#7c3aed",
  "#9333ea",
  "#be185d",
  "#be123c",
  "#b91c1c",
  "#c2410c",
  "#a16207",
  "#4d7c0f",
  "#15803d",
  "#0f766e",
  "#0e7490",
  "#0369a1",
  "#1d4ed8",
  "#475569",
] as const;

/** The default background of a user's avatar, the same on every run. */
export function avatarColor(username: string): string {
  const drawn = Number.parseInt(hash("sha256", username, "hex").slice(8, 16), 16);
  return palette[drawn % palette.length] ?? palette[0];
}

/** Used if a user's color is not valid. */
const neutral = "#57606a";

function firstLetter(word = ""): string {
  const point = word.codePointAt(0);
  return point === undefined ? "" : String.fromCodePoint(point);
}

/** The first letters of the first and the last word. Their case is kept, because upper-casing would change a Turkish "i" to another letter. */
export function initialsOf(name: string): string {
  const words = withFewMarks(name)
    .replaceAll(/\p{Cs}/gu, "")
    .normalize("NFC")
    .split(/\s+/)
    .filter((word) => word !== "");
  return firstLetter(words[0]) + (words.length > 1 ? firstLetter(words.at(-1)) : "");
}

/** The background of an avatar, and the color of letters on it. */
export function colorsOf(color: string): { readonly background: string; readonly foreground: string } {
  const background = parseColor(color) ?? neutral;
  return { background, foreground: readableOn(background) };
}

/** Where the pictures are that this server makes, below its address. */
export const avatarPath = "/avatars";

/** The picture of a user, which this server makes where the user has none: the initials on the color. @param address of the server */
export function avatarOf({ avatar, displayName }: Pick<User, "avatar" | "displayName">, address: string) {
  const { baseUrl, path, color } = avatar;
  if (baseUrl !== null) return { baseUrl, path, color };
  const initials = encodeURIComponent(initialsOf(displayName));
  return { baseUrl: address, path: `${avatarPath}/${initials}-${colorsOf(color).background.slice(1)}.svg`, color };
}

/**
 * The picture of a path that {@link avatarOf} made; null for any other. The path says all, so that it tells nobody which users exist.
 * @param file the last part of the path, decoded
 */
export function avatarPicture(file: string): string | null {
  const [, initials = "", color = ""] = /^([^\p{C}\p{Z}]{0,4})-([0-9a-f]{6})\.svg$/u.exec(file) ?? [];
  if (color === "" || Array.from(initials).length > 2) return null;
  const { background, foreground } = colorsOf(`#${color}`);
  const letters = initials.replaceAll(/[<>&"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
  return [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40" width="160" height="160">',
    `<rect width="40" height="40" fill="${background}"/>`,
    `<text x="20" y="20" dy="0.35em" text-anchor="middle" font-family="system-ui,sans-serif" font-size="17" fill="${foreground}">${letters}</text></svg>`,
  ].join("");
}
