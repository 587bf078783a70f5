import * as z from "zod";
import { colorForm } from "./colors.ts";
import { readPicture } from "./picture.ts";

/** The setting `brand`. */

/** A name of one line. */
const nameForm = /^(?=.*\S)[^\p{Cc}\p{Zl}\p{Zp}]{1,60}$/u;

export const brandSchema = z
  .strictObject({
    name: z
      .string()
      .regex(nameForm, { error: "must be 1 to 60 characters on one line" })
      .optional()
      .describe("In place of idp, at the top and in the title of each page"),
    color: z
      .string()
      .regex(colorForm, { error: ({ input }) => `"${String(input)}" is not a color such as "#0f766e"` })
      .optional()
      .describe("The color of buttons and links; it is adjusted where it would be hard to read"),
    logo: z
      .string()
      .superRefine((given, issues) => {
        const read = readPicture(given);
        if (typeof read === "string") issues.addIssue({ code: "custom", message: read });
      })
      .optional()
      .describe("A PNG, JPEG, WebP or SVG of at most 100 kB: its path beside the fixture file, or a data URL"),
  })
  .refine((brand) => Object.values(brand).some((value) => value !== undefined), {
    error: "is empty; give it a name, a color or a logo",
    // Beside an unknown key, it is not empty.
    when: ({ issues }) => issues.length === 0,
  })
  .describe("How the pages look: a name, an accent color, and a logo, which is a file beside the fixtures");

export type BrandSetting = Readonly<z.infer<typeof brandSchema>>;
