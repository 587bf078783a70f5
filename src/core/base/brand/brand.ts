/*
 * core/base/brand: the look of the pages, by the setting `brand`. schema.ts says what it may be, colors.ts has contrast (for avatars too), and
 * picture.ts reads the logo.
 */
import { hash } from "node:crypto";
import { contrast, mix, parseColor, textContrast } from "./colors.ts";
import { readPicture, type Picture } from "./picture.ts";
import type { BrandSetting } from "./schema.ts";

/** A color of the light pages, and one of the dark pages. */
interface ColorPair {
  readonly light: string;
  readonly dark: string;
}

export interface Brand {
  /** Null: the pages have the name idp. */
  readonly name: string | null;
  /** The accent, and a stronger one for what the pointer is on. Null: those of the stylesheet. */
  readonly colors: { readonly accent: ColorPair; readonly strong: ColorPair } | null;
  readonly logo: Picture | null;
  /** A digest of all. */
  readonly version: string;
}

/** The backgrounds of the pages (`templates/style.css`) on which text has the least contrast, and where a color moves to get more. */
const grounds = {
  light: { ground: "#fdf0ef", away: "#000000" },
  dark: { ground: "#222b35", away: "#ffffff" },
} as const;

/** The color if it is readable as text, else the nearest one of the same hue that is. */
function readable(color: string, { ground, away }: (typeof grounds)[keyof typeof grounds]): string {
  for (let step = 0; step < 100; step++) {
    const moved = mix(color, away, step / 100);
    if (contrast(moved, ground) >= textContrast) return moved;
  }
  return away;
}

function colorsOf(given: string): Brand["colors"] {
  const color = parseColor(given);
  if (color === null) return null;
  const accent = { light: readable(color, grounds.light), dark: readable(color, grounds.dark) };
  return { accent, strong: { light: mix(accent.light, "#000000", 0.25), dark: mix(accent.dark, "#ffffff", 0.25) } };
}

/** @param setting a checked one */
export function brandOf(setting: BrandSetting): Brand {
  const { name = null, color, logo } = setting;
  const picture = logo === undefined ? null : readPicture(logo);
  return {
    name,
    colors: color === undefined ? null : colorsOf(color),
    logo: typeof picture === "string" ? null : picture,
    version: hash("sha256", JSON.stringify([name, color, logo]), "base64url").slice(0, 16),
  };
}

/** A note about a color that light pages do not use as it is; null: they do. Dark pages always have a lighter one. */
export function colorNote({ color: given = "" }: BrandSetting): string | null {
  const color = parseColor(given);
  const used = colorsOf(given)?.accent.light;
  if (color === null || used === undefined || used === color) return null;
  // Never rounded up to what is needed.
  const ratio = Math.floor(contrast(color, grounds.light.ground) * 10) / 10;
  return `brand.color ${given} has a contrast of ${ratio}:1 on light pages, and text needs ${textContrast}:1, so they use ${used}`;
}
