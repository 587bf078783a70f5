/** Colors as `#rrggbb`, and their contrast by WCAG 2.2. */

/** `#rgb` or `#rrggbb`. */
export const colorForm = /^#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$/;

/** The contrast that text needs (WCAG 2.2, 1.4.3, level AA). */
export const textContrast = 4.5;

/** `#rgb` or `#rrggbb` as `#rrggbb`; null for anything else. */
export function parseColor(color: string): string | null {
  if (!colorForm.test(color)) return null;
  const lower = color.toLowerCase();
  return lower.length === 7 ? lower : lower.replace(/[0-9a-f]/g, "$&$&");
}

/** Red, green and blue of `#rrggbb`, from 0 to 255. */
const channelsOf = (color: string): readonly number[] =>
  [1, 3, 5].map((start) => Number.parseInt(color.slice(start, start + 2), 16));

/** WCAG 2.2, relative luminance: 0 black, 1 white. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** WCAG 2.2, contrast ratio: from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** Black or white, whichever is easier to read on the color. The contrast is always 4.5 to 1 or more. */
export const readableOn = (color: string): string =>
  contrast(color, "#ffffff") >= contrast(color, "#000000") ? "#ffffff" : "#000000";

/** @param share of the other color, from 0 to 1 */
export function mix(color: string, other: string, share: number): string {
  const others = channelsOf(other);
  const mixed = channelsOf(color).map((channel, index) => channel + ((others[index] ?? 0) - channel) * share);
  return `#${mixed.map((channel) => Math.round(channel).toString(16).padStart(2, "0")).join("")}`;
}
