import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** WCAG 2.2 1.4.3 and 1.4.11, from the stylesheet itself: axe sees text only, and not what a control is edged with. */

const css = readFileSync(new URL("../../templates/style.css", import.meta.url), "utf8");
const pairs = new Map(
  [...css.matchAll(/--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(([, name = "", light, dark]) => [
    name,
    { light: light ?? "", dark: dark ?? "" },
  ]),
);

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string, theme: "light" | "dark"): number {
  const [low = 0, high = 0] = [one, other]
    .map((name) => luminance(pairs.get(name)?.[theme] ?? "#"))
    .sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const text = "text:page text:card text:raised muted:page muted:card muted:raised accent:page accent:card accent:raised";
const onColor = "on-accent:accent on-accent:accent-strong danger:card danger:danger-soft strip-text:strip text:mark";
const inNotices = "text:danger-soft muted:danger-soft text:success-soft";
const edges =
  "control:page control:card control:raised accent:card danger:card danger:danger-soft success:success-soft";

test.each(["light", "dark"] as const)(
  "%s: text has 4.5 to 1 on what it stands on, a control's edge 3 to 1",
  (theme) => {
    const below = (list: string, least: number): string[] =>
      list.split(" ").filter((pair) => {
        const [one = "", other = ""] = pair.split(":");
        return !(contrast(one, other, theme) >= least);
      });
    expect(below([text, onColor, inNotices].join(" "), 4.5)).toEqual([]);
    expect(below(edges, 3)).toEqual([]);
  },
);
