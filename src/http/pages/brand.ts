import { unbranded, type BrandView } from "./views.ts";
import type { RequestHandler } from "express";
import type { Brand } from "../../core/base/brand/brand.ts";
import { sendText } from "../answer/answer.ts";
import { assetHeaders, iconHeaders } from "../answer/security-headers.ts";
import { HttpError } from "../answer/error-answers.ts";
import type { Web } from "../web.ts";

/** The look of the pages by the setting `brand`. It is not in the HTML, because the pages allow no styles there (Content-Security-Policy). */

/** Below the path of the issuer. */
export const brandPaths = { logo: "/_idp/assets/logo", stylesheet: "/_idp/assets/brand.css" };

export function brandView({ ctx, base }: Web): BrandView {
  const { name, colors, logo, version } = ctx.brand;
  return {
    name: name ?? unbranded.name,
    isNamed: name !== null,
    color: colors === null ? null : colors.accent.light,
    logo: logo === null ? null : `${base}${brandPaths.logo}?v=${version}`,
    stylesheet: colors === null ? null : `${base}${brandPaths.stylesheet}?v=${version}`,
  };
}

/** The colors are `#rrggbb`, whatever the fixtures say. */
const cssOf = ({ accent, strong }: NonNullable<Brand["colors"]>): string =>
  `:root {
  --accent: light-dark(${accent.light}, ${accent.dark});
  --accent-strong: light-dark(${strong.light}, ${strong.dark});
}
`;

const setBrand = "set brand in the settings of a fixture file";

export const brandStylesheet =
  ({ ctx }: Web): RequestHandler =>
  (_req, res) => {
    const { colors } = ctx.brand;
    if (colors === null) throw new HttpError(404, "the fixtures set no brand color", { fix: setBrand });
    sendText(res, 200, assetHeaders, "text/css; charset=utf-8", cssOf(colors));
  };

/** An SVG may have scripts: its headers keep them from running where it is opened by itself. */
export const brandLogo =
  ({ ctx }: Web): RequestHandler =>
  (_req, res) => {
    const { logo } = ctx.brand;
    if (logo === null) throw new HttpError(404, "the fixtures set no brand logo", { fix: setBrand });
    sendText(res, 200, iconHeaders, logo.type, logo.bytes);
  };
