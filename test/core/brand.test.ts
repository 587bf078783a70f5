import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { brandOf, colorNote } from "../../src/core/base/brand/brand.ts";
import { contrast } from "../../src/core/base/brand/colors.ts";
import { readPicture } from "../../src/core/base/brand/picture.ts";
import { dataUrl, pictures } from "../helpers/pictures.ts";

/** The accent colors that a brand's color becomes, and what counts as a logo. */

const css = readFileSync(new URL("../../templates/style.css", import.meta.url), "utf8");
const ofStylesheet = (name: string): { light: string; dark: string } => {
  const [, light = "", dark = ""] =
    new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`).exec(css) ?? [];
  return { light, dark };
};

const colors = ["#000", "#ffffff", "#ffcc00", "#0b57d0", "#8ab4f8", "#f00", "#00ff00", "#777777", "#0f766e", "#1A2129"];

test.each(colors)(
  "%s becomes a pair that is readable on every background, also below the words of a button",
  (color) => {
    const { accent, strong } = brandOf({ color }).colors ?? {};
    for (const theme of ["light", "dark"] as const) {
      for (const ground of ["page", "card", "raised", "danger-soft", "success-soft"].map(ofStylesheet)) {
        expect(contrast(accent?.[theme] ?? "", ground[theme])).toBeGreaterThanOrEqual(4.5);
      }
      const words = ofStylesheet("on-accent")[theme];
      for (const pair of [accent, strong]) expect(contrast(pair?.[theme] ?? "", words)).toBeGreaterThanOrEqual(4.5);
    }
  },
);

test("a color that is readable stays, and of another one the nearest that is: the operator is told", () => {
  expect(brandOf({ color: "#0F766E" }).colors?.accent.light).toBe("#0f766e");
  expect(brandOf({ color: "#8ab4f8" }).colors?.accent.dark).toBe("#8ab4f8");
  expect(colorNote({ color: "#0F766E" })).toBeNull();
  expect(colorNote({ name: "Acme" })).toBeNull();
  const used = brandOf({ color: "#ffcc00" }).colors?.accent.light ?? "";
  expect(contrast(used, "#fdf0ef")).toBeLessThan(4.7);
  expect(colorNote({ color: "#fc0" })).toBe(
    `brand.color #fc0 has a contrast of 1.3:1 on light pages, and text needs 4.5:1, so they use ${used}`,
  );
});

describe("a logo", () => {
  const svg = pictures.svg.toString();
  test.each([
    ["image/png", pictures.png],
    ["image/jpeg", pictures.jpeg],
    ["image/webp", pictures.webp],
    ["image/svg+xml", pictures.svg],
    [
      "image/svg+xml",
      Buffer.from(`\ufeff<?xml version="1.0"?>\n<!-- a --><!DOCTYPE svg PUBLIC "x" "y">\n<!-- b -->${svg}`),
    ],
  ])("may be %s", (type, bytes) => {
    expect(readPicture(dataUrl(type, bytes))).toEqual({ type, bytes });
  });

  test("may be SVG in percent-encoding", () => {
    expect(readPicture(`data:image/svg+xml;utf8,${encodeURIComponent(svg)}`)).toEqual({
      type: "image/svg+xml",
      bytes: pictures.svg,
    });
  });

  const full = Buffer.concat([pictures.png, Buffer.alloc(100_000 - pictures.png.length)]);
  test("may have 100 kB", () => {
    expect(readPicture(dataUrl("image/png", full))).toMatchObject({ type: "image/png" });
  });

  test.each([
    ["a byte more", dataUrl("image/png", Buffer.concat([full, Buffer.alloc(1)])), "has more than 100 kB"],
    ["a path", "../logo.png", "must be a data URL such as"],
    ["a URL", "https://cdn.example.test/logo.png", "must be a data URL such as"],
    ["another type", dataUrl("image/gif", Buffer.from("GIF89a")), "must be a data URL of one of image/png"],
    ["HTML", dataUrl("text/html", Buffer.from("<svg>")), "must be a data URL of one of image/png"],
    ["another charset", "data:image/svg+xml;charset=utf-7,<svg>", "must be a data URL of one of image/png"],
    ["no content", "data:image/png;base64", "must be a data URL of one of image/png"],
    [
      "HTML that is called SVG",
      dataUrl("image/svg+xml", Buffer.from("<html><svg></svg>")),
      "but its content is not SVG",
    ],
    [
      "SVG with entities",
      dataUrl("image/svg+xml", Buffer.from(`<!DOCTYPE svg [<!ENTITY a "b">]>${svg}`)),
      "content is not SVG",
    ],
    ["SVG that is called PNG", dataUrl("image/png", pictures.svg), "has the type image/png, but its content is not"],
    ["PNG that is called SVG", dataUrl("image/svg+xml", pictures.png), "has the type image/svg+xml, but its content"],
    ["RIFF that is not WebP", dataUrl("image/webp", Buffer.from("RIFF    WAVE")), "content is not WebP"],
    ["half of base64", "data:image/png;base64,iVBORw0", "whose content is not base64"],
    ["broken percents", "data:image/svg+xml,%zz", "whose content is not percent-encoded"],
  ])("cannot be %s", (_what, url, problem) => {
    expect(readPicture(url)).toContain(problem);
  });

  test("is checked in no time, whatever its comments", () => {
    const started = performance.now();
    readPicture(dataUrl("image/svg+xml", Buffer.from("<!-- a --> ".repeat(9000))));
    readPicture(dataUrl("image/svg+xml", Buffer.from("<!--".repeat(24_000))));
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
