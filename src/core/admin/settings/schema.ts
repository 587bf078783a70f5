import { factorNames, singleFactor } from "../../records/step-up/proofs.ts";
import * as z from "zod";
import { brandSchema } from "../../base/brand/schema.ts";
import { textOf, wholeSeconds, type DeepReadonly } from "../../records/fields.ts";
import { endpointsSchema } from "../../base/layout/check-endpoints.ts";
import { trustedIssuersSchema } from "../../protocol/trust/schema.ts";
import { workloadsSchema } from "../../protocol/workloads/schema.ts";
import { settingRows, type Form, type SettingName, type Settings } from "./table.ts";

/** The settings of fixtures, checked by the rows of table.ts. */

/** Values are sent in a list with spaces. */
const acrValue = textOf(
  /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/,
  (given) => `"${given}" is not a value of acr: 1 to 200 characters of ASCII without spaces and quotes`,
).refine((given) => given !== singleFactor, { error: `is what every sign-in reaches; choose another name` });

const ownForms = {
  acr: z.record(acrValue, z.array(z.enum(factorNames)).min(1, { error: "has no factors; name at least one" })),
  brand: brandSchema,
  endpoints: endpointsSchema,
  trusted_issuers: trustedIssuersSchema,
} satisfies Partial<Record<SettingName, z.ZodType>>;

function schemaOf(name: string, form: Form): z.ZodType {
  switch (form.kind) {
    case "seconds":
      return wholeSeconds(form.min);
    case "choice":
      return z.enum(form.values);
    case "choices":
      return z.array(z.enum(form.values));
    case "on-off":
      return z.union([z.enum(["on", "off"]), z.boolean()], { error: 'is neither "on" nor "off"' });
    case "switch":
      return z.boolean();
    case "text":
      return textOf(form.pattern, (given) => `"${given}" ${form.rule}`);
    case "texts":
      return z.array(textOf(form.pattern, form.wrong));
    case "count":
      return z.int().min(form.min).max(form.max);
    case "own":
      return ownForms[name as keyof typeof ownForms];
  }
}

/** A help text as a sentence. A value at its beginning stays as it is written. */
function sentence(help: string, form: Form): string {
  const values = "values" in form ? form.values : form.kind === "text" ? form.words : ["on", "off"];
  const isValue = values.includes(/^[\w-]+/.exec(help)?.[0] ?? "");
  const first = help.charAt(0);
  return (
    (isValue ? first : first.toUpperCase()) +
    help.slice(1) +
    (form.kind === "seconds" ? ", in seconds or as a duration" : "")
  );
}

/** How fixtures write a value. */
type Written<V> = V extends number ? V | string : V extends "on" | "off" ? V | boolean : V;
type Shape = { readonly [K in SettingName]: z.ZodOptional<z.ZodType<Written<Settings[K]>>> };

export const settingsSchema = z
  .strictObject(
    Object.fromEntries(
      settingRows.map(([name, { form, help, default: unset }]) => [
        name,
        schemaOf(name, form)
          .optional()
          .meta({ description: sentence(help, form), default: unset }),
      ]),
    ) as unknown as Shape,
  )
  .describe("What flags of `idp start` set too; flags win. Times are seconds");

/** The settings as they are kept with the data. */
export const storedSettingsSchema = settingsSchema.extend({ workloads: workloadsSchema.optional() });

export type FixtureSettings = DeepReadonly<z.input<typeof storedSettingsSchema>>;
